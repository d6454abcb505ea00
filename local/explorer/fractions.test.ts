import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scoreDifference } from './fractions.ts';

describe('scoreDifference', () => {
  it.each([
    ['3/4 - 3/8', '3/8', true],
    ['3/4 - 3/8', '6/16', true],
    ['3/4 - 3/8', '3/4', false],
    ['4 1/3 - 1 5/3', '1 2/3', true],
    ['3 - 2 1/5', ' 4 / 5 ', true],
    ['3 - 2 1/5', '4⁄5', true],
    ['1 - 2', '−1', true],
    ['1 - 2', '1', false],
    ['3/4 - 3/8', '3/0', false],
    ['3/4 - 3/8', '0.375', false],
    ['3/4 - 3/8', '', false],
    ['Task 1: subtract', '1', undefined],
    ['3/4 - 3/8 - 1/8', '1/4', undefined],
  ])('scores the answer to %s, %s, as %s', (stem, response, correct) => {
    expect(scoreDifference(stem, response)).toBe(correct);
  });

  it('takes the difference of any two fractions in any denominator, and no other value', () => {
    const part = fc.integer({ min: 1, max: 40 });
    fc.assert(
      fc.property(part, part, part, part, part, (a, b, c, d, by) => {
        const numerator = a * d - c * b;
        const sign = numerator < 0 ? '-' : '';
        const stem = `${a}/${b} - ${c}/${d}`;
        expect(scoreDifference(stem, `${sign}${Math.abs(numerator) * by}/${b * d * by}`)).toBe(true);
        expect(scoreDifference(stem, `${sign}${Math.abs(numerator) + 1}/${b * d}`)).toBe(false);
      }),
    );
  });
});
