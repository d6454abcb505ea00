/** The known and the recovered value of a quantity. */
export interface Recovered {
  readonly known: number;
  readonly recovered: number;
}

/** A claim with a probability, and whether it was true. */
export interface Forecast {
  readonly probability: number;
  readonly happened: boolean;
}

/** Claims of about the same probability. */
export interface CalibrationBin {
  readonly from: number;
  readonly to: number;
  readonly count: number;
  /** Mean of the claimed probabilities; NaN without any. */
  readonly claimed: number;
  /** Share of claims that were true; NaN without any. */
  readonly observed: number;
}

/** Returns the mean; NaN for no values. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Returns the share of the values for which it holds; NaN for no values. */
export function share<T>(values: readonly T[], holds: (value: T) => boolean): number {
  return values.filter(holds).length / values.length;
}

/** The upper 2.5 % of the normal distribution. */
const Z = 1.959964;

/** Returns the 95 % interval of a probability from a number of successes (Wilson, 1927, J. of the American Statistical Association 22, 209-212). */
export function wilson(successes: number, total: number): { readonly low: number; readonly high: number } {
  const rate = successes / total;
  const share = (Z * Z) / total;
  const half = Z * Math.sqrt((rate * (1 - rate)) / total + share / (4 * total));
  const low = (rate + share / 2 - half) / (1 + share);
  const high = (rate + share / 2 + half) / (1 + share);
  return { low: Math.max(0, low), high: Math.min(1, high) };
}

/** Returns the mean of recovered minus known: the common error of all estimates. */
export function bias(pairs: readonly Recovered[]): number {
  return mean(pairs.map(({ known, recovered }) => recovered - known));
}

/** Returns the root of the mean squared error. */
export function rootMeanSquareError(pairs: readonly Recovered[]): number {
  return Math.sqrt(mean(pairs.map(({ known, recovered }) => (recovered - known) ** 2)));
}

/** Returns how far the mean of the errors is off only by chance, one standard error; NaN for fewer than two. */
export function standardErrorOfBias(pairs: readonly Recovered[]): number {
  const center = bias(pairs);
  const squares = pairs.map(({ known, recovered }) => (recovered - known - center) ** 2);
  return Math.sqrt(squares.reduce((sum, value) => sum + value, 0) / (pairs.length - 1) / pairs.length);
}

/** Returns the product-moment correlation; NaN if either side does not vary. */
export function correlation(pairs: readonly Recovered[]): number {
  const [x, y] = [mean(pairs.map(({ known }) => known)), mean(pairs.map(({ recovered }) => recovered))];
  let [xy, xx, yy] = [0, 0, 0];
  for (const { known, recovered } of pairs) {
    xy += (known - x) * (recovered - y);
    xx += (known - x) ** 2;
    yy += (recovered - y) ** 2;
  }
  return xy / Math.sqrt(xx * yy);
}

/** Groups values by interval: value v falls into the first group with a higher upper bound, or into the last one. */
export function groupBy<T>(
  values: readonly T[],
  upperBounds: readonly number[],
  valueOf: (value: T) => number,
): readonly (readonly T[])[] {
  const groups: T[][] = Array.from({ length: upperBounds.length + 1 }, () => []);
  for (const value of values) {
    const at = upperBounds.findIndex((bound) => valueOf(value) < bound);
    groups[at < 0 ? upperBounds.length : at]?.push(value);
  }
  return groups;
}

/** Returns the calibration of probabilities, in bins of equal width from 0 to 1. */
export function calibrationOf(forecasts: readonly Forecast[], bins: number): readonly CalibrationBin[] {
  const bounds = Array.from({ length: bins - 1 }, (_, b) => (b + 1) / bins);
  return groupBy(forecasts, bounds, ({ probability }) => probability).map((group, b) => ({
    from: b / bins,
    to: (b + 1) / bins,
    count: group.length,
    claimed: mean(group.map(({ probability }) => probability)),
    observed: share(group, ({ happened }) => happened),
  }));
}

/** Returns the mean distance of claimed and observed, weighted by the number of claims (expected calibration error). */
export function calibrationError(bins: readonly CalibrationBin[]): number {
  const filled = bins.filter(({ count }) => count > 0);
  const total = filled.reduce((sum, { count }) => sum + count, 0);
  return filled.reduce(
    (sum, { count, claimed, observed }) => sum + (count / total) * Math.abs(claimed - observed),
    0,
  );
}
