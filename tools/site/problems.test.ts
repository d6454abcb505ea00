import { describe, expect, it } from 'vitest';
import { problemRows as rows, type ProblemRow } from '#shared/problems/registry.ts';
import { problemPages } from './problems.ts';

const pages = new Map([...problemPages()].map(([name, { title, body }]) => [name, `${title}\n${body}`]));
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
});
