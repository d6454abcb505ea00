import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { lineMembers } from './line-formatter.ts';
import { logCodes } from './log-codes.ts';

const document = readFileSync(new URL('../../docs/log-codes.md', import.meta.url), 'utf8');

describe('docs/log-codes.md', () => {
  it('says what stands on every line, in its order', () => {
    const listed = document.split('\n').filter((line) => line.startsWith('- `'));
    expect(listed.flatMap((line) => /^- `(\w+)`: /.exec(line)?.[1] ?? [])).toEqual([...lineMembers]);
  });
});

describe('the log codes', () => {
  it('are those that functions write: none is unused, none unregistered', () => {
    const root = new URL('../../', import.meta.url);
    const written = globSync('{shared,functions}/**/*.ts', { cwd: root })
      .filter((file) => !file.endsWith('.test.ts') && !file.endsWith('observability/log-codes.ts'))
      .flatMap((file) => [
        ...readFileSync(new URL(file, root), 'utf8').matchAll(
          /\b(?:log(?:\?\.)?\(\s*|(?:record|log)Receipt\([\w.]+, )'([^']+)'/g,
        ),
      ])
      .map(([, code]) => code);
    expect([...new Set(written)].sort()).toEqual(Object.keys(logCodes).sort());
  });

  it('name no field that stands on every line', () => {
    for (const [code, row] of Object.entries(logCodes))
      expect(
        Object.keys(row.fields).filter((name) => new Set<string>(lineMembers).has(name)),
        code,
      ).toEqual([]);
  });
});
