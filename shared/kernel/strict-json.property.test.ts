import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { err, ok } from './result.ts';
import { parseStrictJson } from './strict-json.ts';

describe('parseStrictJson', () => {
  it('reads every JSON value as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat(3), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(parseStrictJson(text)).toEqual(ok(JSON.parse(text) as unknown));
      }),
    );
  });

  it('refuses a repeated name wherever it stands, also when one of the two is escaped', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }),
        fc.jsonValue({ maxDepth: 3 }),
        fc.jsonValue({ maxDepth: 3 }),
        (name, first, second) => {
          const escaped = Array.from(
            { length: name.length },
            (_, at) => `\\u${name.charCodeAt(at).toString(16).padStart(4, '0')}`,
          ).join('');
          const text = `{"outer":[{${JSON.stringify(name)}:${JSON.stringify(first)},"${escaped}":${JSON.stringify(second)}}]}`;
          expect(parseStrictJson(text)).toEqual(err({ kind: 'duplicate-key', path: ['outer', 0, name] }));
        },
      ),
    );
  });

  it.each([
    ['{"__proto__":1,"__proto__":2}', ['__proto__']],
    ['{"0":1,"1":2,"0":3}', ['0']],
    // What the first of the two held is gone from the value, and what a string says counts for nothing.
    ['{"a":{"b":1,"c":[{"d":2}]},"a":3}', ['a']],
    ['[{"a":"\\":","b":":","a" :"\\\\"}]', [0, 'a']],
  ])('refuses %s, and names the member', (text, path) => {
    expect(parseStrictJson(text)).toEqual(err({ kind: 'duplicate-key', path }));
  });

  it('accepts the same name in different objects', () => {
    expect(parseStrictJson('{"a":{"a":[{"a":1},{"a":2}]}}').ok).toBe(true);
  });

  it.each([
    ['a number beyond the doubles', '{"a":[1,1e999]}', 'not-i-json', ['a', 1]],
    ['a lone surrogate in a value', '["\\ud800"]', 'not-i-json', [0]],
    ['a lone surrogate in a name', '{"\\udc00":1}', 'not-i-json', ['\udc00']],
    ['65 levels', '['.repeat(65) + ']'.repeat(65), 'too-deep', []],
    ['NaN', '[NaN]', 'malformed', []],
    ['a trailing comma', '[1,]', 'malformed', []],
    ['nothing', '', 'malformed', []],
    ['two values', '{}{}', 'malformed', []],
  ])('refuses %s', (_, text, kind, path) => {
    expect(parseStrictJson(text)).toEqual(err({ kind, path }));
  });

  it('refuses every number that is not zero and too small for a double, and takes every other one', () => {
    const digits = fc.stringMatching(/^(?:0|[1-9]\d{0,3})(?:\.\d{1,4})?$/);
    const zeros = fc.integer({ min: 0, max: 330 }).map((count) => `0.${'0'.repeat(count)}7`);
    const exponent = fc.option(
      fc.integer({ min: -340, max: -300 }).chain((power) => fc.constantFrom(`e${power}`, `E${power}`)),
      { nil: '' },
    );
    const small = fc.option(
      fc.integer({ min: -99, max: 0 }).map((power) => `e${power}`),
      { nil: '' },
    );
    const number = fc
      .oneof(fc.tuple(digits, exponent), fc.tuple(zeros, small))
      .map(([mantissa, power]) => mantissa + power);
    const around = fc.constantFrom<[string, string, (string | number)[]]>(
      ['', '', []],
      ['[0,', ']', [1]],
      ['{"a":\n', '\t}', ['a']],
    );
    fc.assert(
      fc.property(number, fc.constantFrom('', '-'), around, (text, sign, [before, after, path]) => {
        const isLost = Number(text) === 0 && /[1-9]/.test(text.replace(/e.*/i, ''));
        const parsed = parseStrictJson(`${before}${sign}${text}${after}`);
        expect(parsed.ok ? parsed.ok : parsed.error).toEqual(isLost ? { kind: 'not-i-json', path } : true);
      }),
      { numRuns: 1000 },
    );
    for (const taken of ['[5e-324,-0,0e-999,0.0e-400]', '{"1e-999":" 1e-999 ","a":":1e-999}"}'])
      expect([taken, parseStrictJson(taken).ok]).toEqual([taken, true]);
    expect(parseStrictJson('2e-324').ok).toBe(false);
  });

  it('accepts 64 levels, a paired surrogate and brackets inside strings', () => {
    expect(parseStrictJson('['.repeat(64) + ']'.repeat(64)).ok).toBe(true);
    expect(parseStrictJson('{"a":"\\ud83d\\ude00 [{,:\\"","b":1}').ok).toBe(true);
    expect(parseStrictJson('{"__proto__":{":":"\\\\"},"constructor":":\\":"}').ok).toBe(true);
  });
});
