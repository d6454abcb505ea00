/** An exact decimal number: `units` × 10^-`scale`. */
export interface Decimal {
  readonly units: bigint;
  /** 0 or more. */
  readonly scale: number;
}

/** `-?digits[.digits][e±digits]`: every text that ECMAScript writes for a finite number. */
const FORM = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/;

/**
 * The exact sum of the decimals that the numbers' shortest texts name: 0.1 is one tenth. The sum of one number is its own decimal, that of
 * none is 0. Throws on what is not finite.
 */
export function exactSum(values: readonly number[]): Decimal {
  // Of one scale at a time: many numbers share few scales, and only their sums have to be brought to the same one.
  const sums = new Map<number, bigint>();
  for (const value of values) {
    const { units, scale } = digitsOf(value);
    sums.set(scale, (sums.get(scale) ?? 0n) + units);
  }
  const scale = Math.max(0, ...sums.keys());
  let units = 0n;
  for (const [own, sum] of sums) units += rescaled({ units: sum, scale: own }, scale);
  return { units, scale };
}

/** The number nearest to a decimal; infinite when there is none. */
export function nearestNumber({ units, scale }: Decimal): number {
  return Number(`${units}e-${scale}`);
}

/**
 * `factor` × numerator / denominator, rounded half up (away from zero) at a fractional digit, as the nearest number.
 * Throws on a denominator of zero.
 * @param digits 0 or more
 */
export function roundedRatio(
  numerator: Decimal,
  denominator: Decimal,
  { factor, digits }: { readonly factor: bigint; readonly digits: number },
): number {
  const scale = Math.max(numerator.scale, denominator.scale);
  const dividend = rescaled(numerator, scale) * factor * 10n ** BigInt(digits);
  const divisor = rescaled(denominator, scale);
  const negative = dividend < 0n !== divisor < 0n;
  const [top, bottom] = [magnitude(dividend), magnitude(divisor)];
  const units = (2n * top + bottom) / (2n * bottom);
  return nearestNumber({ units: negative ? -units : units, scale: digits });
}

/**
 * Whether two numbers can be one value that is given at two precisions: the finer one, rounded to the digits of the coarser one, is that. A
 * tie may be rounded either way. Whole digits always count.
 */
export function canBeOneValue(one: number, other: number): boolean {
  const [coarse, fine] = [digitsOf(one), digitsOf(other)].toSorted((a, b) => a.scale - b.scale);
  if (coarse === undefined || fine === undefined) throw new TypeError('there are two numbers');
  const scale = Math.max(0, fine.scale);
  const step = 10n ** BigInt(scale - Math.max(0, coarse.scale));
  return 2n * magnitude(rescaled(coarse, scale) - rescaled(fine, scale)) <= step;
}

/** The digits of a number's shortest text; their scale is negative where the text has a great exponent. */
function digitsOf(value: number): Decimal {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = FORM.exec(String(value)) ?? [];
  if (whole === '') throw new RangeError('exactSum: a number is not finite');
  return { units: BigInt(`${sign}${whole}${fraction}`), scale: fraction.length - Number(exponent) };
}

/** @param to no less than the decimal's own scale */
function rescaled({ units, scale }: Decimal, to: number): bigint {
  return scale === to ? units : units * 10n ** BigInt(to - scale);
}

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value;
}
