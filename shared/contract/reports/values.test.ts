import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { count, proportion, reference } from './primitives.ts';

// Instants, page sizes and values of filters, as requests have them: test/lemmas/requests.ts.

// What white space is: text-forms.test.ts.
const whiteSpace = [' ', '\t', '\u0085', '\u00a0', '\u2028', '\u3000', '\ufeff'];

describe('values of the reports service', () => {
  it('takes as a reference what has 1 to 255 UTF-8 bytes and no white space, whatever it looks like [RP-049, RP-050]', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        const bytes = Buffer.byteLength(text);
        const hasSpace = /[\p{White_Space}\ufeff]/u.test(text);
        const fits = bytes >= 1 && bytes <= 255 && !hasSpace && text.isWellFormed();
        expect(reference.safeParse(text).success).toBe(fits);
      }),
    );
    for (const space of whiteSpace)
      for (const text of [space, `a${space}`, `${space}a`, `a${space}b`])
        expect([text, reference.safeParse(text).success]).toEqual([text, false]);
    // Bytes count, not characters: random texts hardly ever come near the limit.
    for (const [longest, over] of [
      ['a'.repeat(255), 'a'.repeat(256)],
      [`${'é'.repeat(127)}z`, 'é'.repeat(128)],
      [`${'🦉'.repeat(63)}abc`, '🦉'.repeat(64)],
    ] as const)
      expect([reference.safeParse(longest).success, reference.safeParse(over).success]).toEqual([
        true,
        false,
      ]);
    expect(reference.parse('ID-ä/%2F')).toBe('ID-ä/%2F');
  });

  it('takes as a proportion a number from 0 to 1 of at most six fractional digits [RP-052]', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000_000 }), (millionths) => {
        expect(proportion.safeParse(millionths / 1_000_000).success).toBe(true);
      }),
    );
    for (const value of [-0.1, 1.000001, 0.1234567, 1e-7, Number.NaN, Infinity, '0.5'])
      expect(proportion.safeParse(value).success).toBe(false);
  });

  it('takes as a count a whole number from 0 to 2147483647 [RP-053]', () => {
    for (const value of [0, 2_147_483_647]) expect(count.safeParse(value).success).toBe(true);
    for (const value of [-1, 2_147_483_648, 1.5, '3', null])
      expect(count.safeParse(value).success).toBe(false);
  });
});
