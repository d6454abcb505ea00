import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evaluateDifference } from './fractions.ts';

describe('evaluateDifference', () => {
  it.each([
    ['3/4 - 3/8', '3/8', 'right'],
    ['3/4 - 3/8', '6/16', 'right'],
    ['3/4 - 3/8', '0.375', 'right'],
    ['3/4 - 3/8', '.375', 'right'],
    ['3/4 - 3/8', '⅜', 'right'],
    ['3/4 - 3/8', '3/4', 'wrong'],
    ['3/4 - 3/8', '-3/8', 'wrong'],
    ['3/4 - 1/4', '½', 'right'],
    ['3/4 - 1/4', '+0.50', 'right'],
    ['4 1/3 - 1 5/3', '1 2/3', 'right'],
    ['4 1/3 - 1 5/3', '1⅔', 'right'],
    ['4 1/3 - 1 5/3', '5/3', 'right'],
    ['4 1/3 - 1 5/3', '1.667', 'wrong'],
    ['3 - 2 1/5', ' 4 / 5 ', 'right'],
    ['3 - 2 1/5', '4⁄5', 'right'],
    ['1 - 2', '−1', 'right'],
    ['1 - 2', '- 1', 'right'],
    ['1 - 2', '1', 'wrong'],
    ['Task 1: subtract', '1', undefined],
    ['3/4 - 3/8 - 1/8', '1/4', undefined],
  ])('evaluates the answer to %s, %s, as %s', (stem, response, evaluated) => {
    expect(evaluateDifference(stem, response)).toBe(evaluated);
  });

  it.each([
    ['abc', /read as a number\. Write a whole number, .* 0\.5\.$/],
    ['', /Write a whole number/],
    ['3/', /Write a whole number/],
    ['1:2', /Write a whole number/],
    ['1 2', /Write a whole number/],
    ['1/2/3', /Write a whole number/],
    ['1e3', /Write a whole number/],
    ['3²', /Write a whole number/],
    ['3/0', /denominator 0\. Write/],
    ['1 1/00', /denominator 0\. Write/],
    ['1,5', /^Did you mean 1\.5\?$/],
    ['−,5', /^Did you mean -\.5\?$/],
  ])('evaluates %j as neither right nor wrong, and says how to write an answer', (response, hint) => {
    expect(evaluateDifference('3/4 - 3/8', response)).toEqual({
      unreadable: expect.stringMatching(hint) as string,
    });
  });

  it('takes the difference of any two fractions in any denominator, and no other value', () => {
    const part = fc.integer({ min: 1, max: 40 });
    fc.assert(
      fc.property(part, part, part, part, part, (a, b, c, d, by) => {
        const numerator = a * d - c * b;
        const sign = numerator < 0 ? '-' : '';
        const stem = `${a}/${b} - ${c}/${d}`;
        const answer = `${sign}${Math.abs(numerator) * by}/${b * d * by}`;
        expect(evaluateDifference(stem, answer)).toBe('right');
        expect(evaluateDifference(stem, `${sign}${Math.abs(numerator) + 1}/${b * d}`)).toBe('wrong');
      }),
    );
  });

  it('evaluates whatever a person can type without an exception', () => {
    const typed = fc.string({
      maxLength: 100,
      unit: fc.constantFrom(...Array.from('0123456789/.,- +½⅜⁄−x')),
    });
    fc.assert(
      fc.property(typed, (response) => {
        expect(evaluateDifference('3/4 - 3/8', response)).toBeDefined();
      }),
    );
  });
});
