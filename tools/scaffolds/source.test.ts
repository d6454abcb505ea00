import { describe, expect, it } from 'vitest';
import { addCase, addImport, append, insert, namesAt, replace, textAt } from './source.ts';

const source = `import { a, c } from './letters.ts';
import type { T } from './types.ts';

/** A table. */
export const table = {
  one: { list: ['b', 'd'], size: 1 }, // The first.
  two: make({ size: 2 }).refine(() => true),
} as const;
const inner = { deep: [1] };
export const outer = { inner };
interface Shape {
  readonly a: string;
}
type Choice = 'a' | 'b';
export function listed(): readonly string[] {
  return ['x'];
}
function choose(kind: Choice): number {
  switch (kind) {
    case 'a':
      return 1;
  }
}
`;

const done = (result: { readonly ok: boolean; readonly value?: string; readonly error?: string }): string =>
  result.ok ? (result.value ?? '') : `error: ${result.error ?? ''}`;

describe('insert', () => {
  it.each([
    ['an object', ['table'], 'three: 3', /size: 2 \}\)\.refine\(\(\) => true\),\nthree: 3,\n\} as const/],
    ['an object behind a call', ['table', 'two'], 'name: 1', /make\(\{ size: 2,\nname: 1,\n\}\)\.refine/],
    ['a list', ['table', 'one', 'list'], "'e'", /\['b', 'd',\n'e',\n\], size: 1/],
    ['what a shorthand names', ['outer', 'inner', 'deep'], '2', /deep: \[1,\n2,\n\]/],
    ['what a function returns', ['listed'], "'y'", /return \['x',\n'y',\n\]/],
    ['an interface', ['Shape'], 'readonly b: string', /a: string;\nreadonly b: string;\n\}/],
    ['a union', ['Choice'], `/** C. */ 'c'`, /'a' \| 'b'\n\/\*\* C\. \*\/ \| 'c';/],
  ] as const)('adds to %s', (_, place, code, expected) => {
    expect(done(insert(source, place, code))).toMatch(expected);
  });

  it('adds in the order of the names, behind the comment of the line before', () => {
    expect(done(insert(source, ['table', 'one', 'list'], "'c'", 'sorted'))).toContain(`['b',\n'c', 'd']`);
    expect(done(insert(source, ['table'], 'three: 3', 'sorted'))).toContain(
      '// The first.\nthree: 3,\n  two',
    );
  });

  it('refuses a name that is there and a place that is not', () => {
    expect(done(insert(source, ['table'], 'two: 3'))).toBe('error: already has two');
    expect(done(insert(source, ['table', 'four'], 'a: 3'))).toBe('error: has no place table.four to add to');
  });
});

it('reads, replaces and lists members', () => {
  expect(textAt(source, ['table', 'one', 'size'])).toBe('1');
  expect(textAt(source, ['table', 'one', 'name'])).toBeUndefined();
  expect(done(replace(source, ['table', 'one', 'list'], '[]'))).toContain('one: { list: [], size: 1 }');
  expect(done(replace(source, ['table', 'one', 'name'], '[]'))).toBe('error: has no table.one.name');
  expect(namesAt(source, ['table'])).toEqual(['one', 'two']);
  expect(namesAt(source, ['make()'])).toEqual(['size']);
});

it('appends a statement at the end, or before a declaration with its comment', () => {
  expect(done(append(source, 'const z = 1;'))).toMatch(/\nconst z = 1;\n$/);
  expect(done(append(source, 'const z = 1;', 'table'))).toContain(
    `'./types.ts';\nconst z = 1;\n\n\n/** A table. */`,
  );
  expect(done(append(source, 'const z = 1;', 'nothing'))).toBe('error: declares no nothing');
});

it('adds a case to a switch', () => {
  expect(done(addCase(source, 'kind', "case 'b': return 2;"))).toContain(
    `return 1;\n  case 'b': return 2;\n}`,
  );
  expect(done(addCase(source, 'other', ''))).toBe('error: has no switch (other)');
});

it('imports a name once, in the order of names and of modules', () => {
  expect(addImport(source, 'b', './letters.ts')).toContain(`{ a, b, c } from './letters.ts'`);
  expect(addImport(source, 'd', './letters.ts')).toContain(`{ a, c, d } from './letters.ts'`);
  expect(addImport(source, 'a', './letters.ts')).toBe(source);
  expect(addImport(source, 'u', './types.ts')).toContain(
    `import type { T } from './types.ts';\nimport { u } from './types.ts';`,
  );
  expect(addImport(source, 'x', '#shared/x.ts')).toMatch(
    /^import \{ x \} from '#shared\/x\.ts';\nimport \{ a/,
  );
  expect(addImport(`import { z } from 'zod';\n`, 'x', '#shared/x.ts')).toMatch(/'zod';\nimport \{ x \}/);
  expect(addImport(source, '* as z', './more.ts')).toContain(
    `import * as z from './more.ts';\nimport type { T }`,
  );
});
