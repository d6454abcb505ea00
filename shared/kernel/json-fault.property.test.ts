import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonFault } from './strict-json.ts';

const parses = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

describe('jsonFault', () => {
  const documents = fc
    .tuple(fc.jsonValue({ maxDepth: 4 }), fc.nat(2))
    .map(([value, indent]) => JSON.stringify(value, null, indent));

  it('finds none exactly in what the built-in parser reads', () => {
    const broken = fc
      .tuple(
        documents,
        fc.nat(),
        fc.nat(3),
        fc.constantFrom('', '"', '\\', '}', ']', ',', '{', '-', '1', '.', 'e', 'N', '\n', '\u0000', ':'),
      )
      .map(([text, where, length, put]) => {
        const at = where % (text.length + 1);
        return text.slice(0, at) + put + text.slice(at + length);
      });
    fc.assert(
      fc.property(fc.oneof(documents, broken, fc.string()), (text) => {
        expect(jsonFault(text) === undefined).toBe(parses(text));
      }),
      { numRuns: 2000 },
    );
  });

  it('finds the end of a text that is cut, never an earlier place', () => {
    fc.assert(
      fc.property(documents, fc.nat(), (text, where) => {
        const cut = text.slice(0, where % text.length);
        expect(jsonFault(cut)).toBe(parses(cut) ? undefined : cut.length);
      }),
    );
  });

  it.each<[string, number]>([
    ['{"a": NaN}', 6],
    ['[1,]', 3],
    ['{"a":1,}', 7],
    ['{,}', 1],
    ['[01]', 2],
    ['[1.e3]', 3],
    ['[-]', 2],
    ['[trux]', 4],
    ['["\\x"]', 3],
    ['["\\u12g4"]', 6],
    ['["a\nb"]', 3],
    ['{} {}', 3],
    ['\u{feff}{}', 0],
    ["{'a':1}", 1],
    ['// no\n{}', 0],
    ['', 0],
    ['{"a" 1}', 5],
    ['[}', 1],
  ])('finds the place in %j', (text, at) => {
    expect(jsonFault(text)).toBe(at);
  });

  it('is not exhausted by depth or length', () => {
    const million = 1_000_000;
    expect(jsonFault('['.repeat(million))).toBe(million);
    expect(jsonFault(`[${'9'.repeat(million)},"${'x'.repeat(million)}"]x`)).toBe(2 * million + 5);
  });
});
