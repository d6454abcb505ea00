import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canBeOneValue, exactSum, nearestNumber, roundedRatio } from './decimal.ts';

/** A decimal of at most 15 significant digits, which is the shortest text of its nearest number, beside that number. */
const decimal = fc
  .tuple(fc.bigInt({ min: -(10n ** 15n) + 1n, max: 10n ** 15n - 1n }), fc.integer({ min: -200, max: 200 }))
  .map(([units, scale]) => ({ units, scale, number: Number(`${units}e${-scale}`) }));

/** units × 10^-scale in units of 10^-`DEEP`. */
const DEEP = 200;
const deep = ({ units, scale }: { readonly units: bigint; readonly scale: number }): bigint =>
  units * 10n ** BigInt(DEEP - scale);

describe('the sum of numbers', () => {
  it('is that of the decimals their texts name, with nothing lost', () => {
    fc.assert(
      fc.property(fc.array(decimal, { maxLength: 30 }), (decimals) => {
        const sum = exactSum(decimals.map(({ number }) => number));
        expect(sum.scale).toBeGreaterThanOrEqual(0);
        expect(deep(sum)).toBe(decimals.reduce((total, one) => total + deep(one), 0n));
      }),
    );
  });

  it('of one number is that number again', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(nearestNumber(exactSum([value]))).toBe(value === 0 ? 0 : value);
      }),
    );
  });

  it('may lie beyond every number, and is never of what is none', () => {
    expect(nearestNumber(exactSum([Number.MAX_VALUE, Number.MAX_VALUE]))).toBe(Infinity);
    expect(nearestNumber(exactSum([1e308, Number.MIN_VALUE, -1e308]))).toBe(Number.MIN_VALUE);
    for (const value of [NaN, Infinity, -Infinity]) expect(() => exactSum([1, value])).toThrow(RangeError);
  });
});

describe('a ratio', () => {
  const six = { factor: 100n, digits: 6 };

  it('is the multiple of its last digit that is nearest, and of two the greater', () => {
    const positive = fc.tuple(fc.bigInt({ min: 1n, max: 10n ** 15n }), fc.integer({ min: 0, max: 20 }));
    fc.assert(
      fc.property(
        fc.tuple(fc.bigInt({ min: 0n, max: 10n ** 9n }), fc.nat({ max: 20 })),
        positive,
        (top, bottom) => {
          const [[n, nScale], [d, dScale]] = [top, bottom];
          const value = roundedRatio({ units: n, scale: nScale }, { units: d, scale: dScale }, six);
          // 100 n 10^-nScale / (d 10^-dScale), in millionths: between half below and half above what came out.
          const dividend = 2n * 100_000_000n * n * 10n ** BigInt(dScale);
          const divisor = d * 10n ** BigInt(nScale);
          fc.pre(dividend / divisor < 2n ** 52n);
          const units = BigInt(Math.round(value * 1e6));
          expect(value).toBe(Number(units) / 1e6);
          expect((2n * units - 1n) * divisor <= dividend && dividend < (2n * units + 1n) * divisor).toBe(
            true,
          );
        },
      ),
    );
  });

  it.each([
    // Exactly half of the sixth digit goes up, anything less goes down.
    [1, 200_000_000, 0.000001],
    [1, 200_000_001, 0],
    [-1, 200_000_000, -0.000001],
    [1, -3, -33.333333],
  ])('of %d to %d, in percent, is %d', (numerator, denominator, percent) => {
    expect(roundedRatio(exactSum([numerator]), exactSum([denominator]), six)).toBe(percent);
  });

  it('to nothing is a defect', () => {
    expect(() => roundedRatio(exactSum([1]), exactSum([]), six)).toThrow(RangeError);
  });
});

describe('two numbers', () => {
  it('can be one value exactly when the finer one, rounded to the digits of the coarser one, is that', () => {
    const fine = fc.tuple(fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n }), fc.integer({ min: 0, max: 9 }));
    fc.assert(
      fc.property(
        fine,
        fc.nat({ max: 9 }),
        fc.bigInt({ min: -2n, max: 2n }),
        ([units, scale], fewer, off) => {
          const dropped = Math.min(scale, fewer);
          // With a last digit that stands, so that the text names as many digits as are meant.
          const whole = (units / 10n) * 10n + 7n;
          const step = 10n ** BigInt(dropped);
          const rounded = divideHalfUp(whole, step) + off;
          if (scale - dropped > 0 && rounded % 10n === 0n) return;
          const [finer, coarser] = [Number(`${whole}e-${scale}`), Number(`${rounded}e-${scale - dropped}`)];
          expect(canBeOneValue(finer, coarser)).toBe(off === 0n);
          expect(canBeOneValue(coarser, finer)).toBe(off === 0n);
        },
      ),
    );
  });

  it.each([
    [512.25, 512.3, true],
    [512.25, 512.2, true],
    [512.25, 512, true],
    [-512.5, -513, true],
    [-512.5, 512.5, false],
    [1e21, 2e21, false],
    [1e-9, 0, true],
    [0, -0, true],
  ])('%d and %d: %j', (one, other, expected) => {
    expect(canBeOneValue(one, other)).toBe(expected);
    expect(canBeOneValue(other, one)).toBe(expected);
  });
});

/** The whole number nearest to a quotient; of two the one further from zero. */
function divideHalfUp(dividend: bigint, divisor: bigint): bigint {
  const size = dividend < 0n ? -dividend : dividend;
  const rounded = (2n * size + divisor) / (2n * divisor);
  return dividend < 0n ? -rounded : rounded;
}
