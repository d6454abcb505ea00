import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canBeOneValue, exactSum, roundedRatio } from './decimal.ts';

describe('the sum of numbers', () => {
  it('of one number is that number again', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(exactSum([value]).toNumber() === value).toBe(true);
      }),
    );
  });

  it('is that of the decimals their texts name, with nothing lost', () => {
    const cents = fc.array(fc.integer({ min: -(2 ** 40), max: 2 ** 40 }));
    fc.assert(
      fc.property(cents, (values) => {
        const sum = values.reduce((total, value) => total + value, 0);
        expect(exactSum(values.map((value) => value / 100)).toNumber()).toBe(sum / 100 + 0);
      }),
    );
    expect(exactSum([1e308, Number.MIN_VALUE, -1e308]).toNumber()).toBe(Number.MIN_VALUE);
    expect(exactSum([]).toNumber()).toBe(0);
  });

  it('may lie beyond every number, and is never of what is none', () => {
    expect(exactSum([Number.MAX_VALUE, Number.MAX_VALUE]).toNumber()).toBe(Infinity);
    for (const value of [NaN, Infinity, -Infinity]) expect(() => exactSum([1, value])).toThrow(RangeError);
  });
});

it.each([
  // Exactly half of the sixth digit goes up, anything less goes down.
  [1, 2_000_000, 0.000001],
  [1, 2_000_001, 0],
  [-1, 2_000_000, -0.000001],
  [1, -3, -0.333333],
  [0.2, 0.3, 0.666667],
])('the ratio of %d to %d is %d', (numerator, denominator, ratio) => {
  expect(roundedRatio(exactSum([numerator]), exactSum([denominator]))).toBe(ratio);
});

it('a ratio to nothing is a defect', () => {
  expect(() => roundedRatio(exactSum([1]), exactSum([]))).toThrow(RangeError);
});

it.each([
  [512.25, 512.3, true],
  [512.25, 512.2, true],
  [512.249, 512.3, false],
  [512.251, 512.2, false],
  [512.25, 512, true],
  [512.25, 513, false],
  [-512.5, -513, true],
  [-512.5, 512.5, false],
  [510, 500, false],
  [1e21, 2e21, false],
  [1e-9, 0, true],
  [0, -0, true],
])('whether %d and %d can be one value: %j', (one, other, expected) => {
  expect(canBeOneValue(one, other)).toBe(expected);
  expect(canBeOneValue(other, one)).toBe(expected);
});
