import { describe, expect, it } from 'vitest';
import { reportsProblem } from '#shared/contract/reports/problem.ts';
import { masteryProblem } from '#shared/problems/document.ts';
import { problemRows } from '#shared/problems/registry.ts';
import type { ProblemRow } from '#shared/problems/registry.ts';
import { problemExample } from '#shared/openapi/problem-examples.ts';
import { problemPages, renderProblemTypes } from './problems.ts';

const pages = new Map([...problemPages()].map(([name, { title, body }]) => [name, `${title}\n${body}`]));
const rows: readonly ProblemRow[] = problemRows;
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

describe('problemPages', () => {
  it('has a page for every registered code, and no page of a code that is not registered', () => {
    const codes = [...new Set(rows.map(({ code }) => code))];
    expect([...pages.keys()].toSorted()).toEqual([...codes, 'deprecation'].toSorted());
  });

  it.each(rows.map((row): [string, ProblemRow] => [`${row.service} ${row.status} ${row.code}`, row]))(
    'says of %s its status, title, meaning, cause and remedy',
    (_name, row) => {
      const page = (pages.get(row.code) ?? '').replaceAll(/<\/?code>/g, '');
      for (const text of [row.title, row.meaning, row.cause, row.remedy]) {
        expect(page).toContain(escaped(text.replaceAll('`', '')));
      }
      expect(page).toContain(`<dd>${row.status}</dd>`);
      expect(page).toContain(`HTTP/1.1 ${row.status}\n`);
    },
  );

  it('shows one example an envelope where both services share a page', () => {
    expect(pages.get('internal-error')?.match(/HTTP\/1\.1 500/g)).toHaveLength(2);
    expect(pages.get('internal-error')?.match(/What happened/g)).toHaveLength(1);
    expect(pages.get('stream-conflict')?.match(/What happened/g)).toHaveLength(2);
  });

  it('has a line per row in the table of types', () => {
    const table = renderProblemTypes();
    for (const { code, status } of rows) expect(table).toContain(`| \`${code}\` | ${status} | `);
    expect(table.split('\n')).toHaveLength(rows.length + 2);
  });
});

describe('problemExample', () => {
  it.each(rows.map((row): [string, ProblemRow] => [`${row.service} ${row.status} ${row.code}`, row]))(
    'fits the envelope of %s',
    (_name, row) => {
      const schema = row.service === 'mastery' ? masteryProblem : reportsProblem;
      expect(schema.safeParse(problemExample(row)).error).toBeUndefined();
    },
  );
});
