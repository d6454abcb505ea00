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
          expect(parseStrictJson(text)).toEqual(err({ kind: 'duplicate-key', pointer: '/outer/0' }));
        },
      ),
    );
  });

  it.each([
    ['{"__proto__":1,"__proto__":2}', ''],
    ['{"0":1,"1":2,"0":3}', ''],
    // What the first of the two held is gone from the value, and what a string says counts for nothing.
    ['{"a":{"b":1,"c":[{"d":2}]},"a":3}', ''],
    ['[{"a":"\\":","b":":","a":"\\\\"}]', '/0'],
  ])('refuses %s', (text, pointer) => {
    expect(parseStrictJson(text)).toEqual(err({ kind: 'duplicate-key', pointer }));
  });

  it('accepts the same name in different objects', () => {
    expect(parseStrictJson('{"a":{"a":[{"a":1},{"a":2}]}}').ok).toBe(true);
  });

  it.each([
    ['a number beyond the doubles', '[1e999]', 'not-i-json'],
    ['a lone surrogate in a value', '["\\ud800"]', 'not-i-json'],
    ['a lone surrogate in a name', '{"\\udc00":1}', 'not-i-json'],
    ['65 levels', '['.repeat(65) + ']'.repeat(65), 'too-deep'],
    ['NaN', '[NaN]', 'malformed'],
    ['a trailing comma', '[1,]', 'malformed'],
    ['nothing', '', 'malformed'],
    ['two values', '{}{}', 'malformed'],
  ])('refuses %s', (_, text, kind) => {
    expect(parseStrictJson(text)).toMatchObject(err({ kind }));
  });

  it('accepts 64 levels, a paired surrogate and brackets inside strings', () => {
    expect(parseStrictJson('['.repeat(64) + ']'.repeat(64)).ok).toBe(true);
    expect(parseStrictJson('{"a":"\\ud83d\\ude00 [{,:\\"","b":1}').ok).toBe(true);
    expect(parseStrictJson('{"__proto__":{":":"\\\\"},"constructor":":\\":"}').ok).toBe(true);
  });
});
