import { BigNumber } from 'bignumber.js';

/** Exact decimal arithmetic. A quotient has six fractional digits; half of the last one rounds up, away from zero. */
const Decimal = BigNumber.clone({ DECIMAL_PLACES: 6, ROUNDING_MODE: BigNumber.ROUND_HALF_UP });
type Decimal = BigNumber;

/**
 * Returns the exact sum of the decimals that the numbers' shortest texts name: 0.1 is one tenth. The sum of one number is its own decimal, that of
 * none is 0. Throws for a number that is not finite.
 */
export function exactSum(values: readonly number[]): Decimal {
  return values.reduce((sum, value) => sum.plus(decimalOf(value)), new Decimal(0));
}

/**
 * Returns numerator / denominator, rounded half up (away from zero) at the sixth fractional digit, as the nearest number. Throws for denominator 0.
 */
export function roundedRatio(numerator: Decimal, denominator: Decimal): number {
  if (denominator.isZero()) throw new RangeError('a ratio to nothing');
  return numerator.dividedBy(denominator).toNumber();
}

/**
 * Returns whether two numbers can be one value at two precisions: the finer one, rounded to the digits of the coarser one, equals it. A tie may be
 * rounded either way. Digits before the decimal point always count.
 */
export function canBeOneValue(one: number, other: number): boolean {
  const [a, b] = [decimalOf(one), decimalOf(other)];
  const digits = Math.min(...[a, b].map((value) => value.decimalPlaces() ?? 0));
  return a.minus(b).abs().times(2).lte(new Decimal(1).shiftedBy(-digits));
}

/** Returns whether two numbers are strictly further apart than this many times a distance, exactly. */
export function isFurtherApart(one: number, other: number, distance: number, times: number): boolean {
  return decimalOf(one).minus(decimalOf(other)).abs().gt(decimalOf(distance).times(times));
}

function decimalOf(value: number): Decimal {
  if (!Number.isFinite(value)) throw new RangeError('a number is not finite');
  return new Decimal(String(value));
}
