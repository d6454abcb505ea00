import { exp, log, sqrt } from '#functions/mastery/engine/index.ts';

/*
 * exp, log and sqrt are the frozen kernel's own: ECMAScript leaves the built-in ones to the implementation, and a calibration of the same
 * data must have the same bytes on every runtime.
 */
export { exp, log, logistic, sqrt } from '#functions/mastery/engine/index.ts';

/** Reads an element that is known to exist: the compiled code stays as fast as a plain load. */
export function at(array: Float64Array, index: number): number {
  return array[index] as number;
}

/** Reads like `at`, for small integers. */
export function integerAt(array: Int8Array | Int32Array | Uint16Array, index: number): number {
  return array[index] as number;
}

/** Adds to an element that is known to exist. */
export function addTo(array: Float64Array, index: number, value: number): void {
  array[index] = (array[index] as number) + value;
}

/** Returns the sum of all elements. */
export function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

/** Returns the sum of the products of two vectors of one length. */
export function dot(a: Float64Array, b: Float64Array): number {
  let total = 0;
  for (let n = 0; n < a.length; n += 1) total += at(a, n) * at(b, n);
  return total;
}

/** Returns log(p / (1 - p)). */
export function logit(p: number): number {
  return log(p / (1 - p));
}

export function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}

/** Coefficients of Stirling's series for log gamma: B_2n / (2n (2n - 1)) (Abramowitz and Stegun, 1964, 6.1.41). */
const STIRLING = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156];
const HALF_LOG_TWO_PI = 0.9189385332046727;

/** Returns the log of the gamma function, x > 0: Stirling's series from 10 on, where the first omitted term is below 1e-15. */
function logGamma(x: number): number {
  let shift = 0;
  let z = x;
  while (z < 10) {
    shift += log(z);
    z += 1;
  }
  const inverse = 1 / z;
  let series = 0;
  let power = inverse;
  for (const coefficient of STIRLING) {
    series += coefficient * power;
    power *= inverse * inverse;
  }
  return (z - 0.5) * log(z) - z + HALF_LOG_TWO_PI + series - shift;
}

const SERIES_END = 1e-16;
const SERIES_STEPS = 10_000;
/** Replaces a zero denominator in the continued fraction. */
const TINY = 1e-300;

/**
 * Returns the upper regularized incomplete gamma function Q(a, x): a series below a + 1, Legendre's continued fraction by Lentz's method above (Press
 * et al., 2007, Numerical recipes, 6.2).
 */
function upperGamma(a: number, x: number): number {
  if (x <= 0) return 1;
  const scale = exp(a * log(x) - x - logGamma(a));
  if (x < a + 1) {
    let term = 1 / a;
    let total = term;
    for (let n = 1; n < SERIES_STEPS && term > total * SERIES_END; n += 1) {
      term *= x / (a + n);
      total += term;
    }
    return clamp(1 - total * scale, 0, 1);
  }
  let b = x + 1 - a;
  let c = 1 / TINY;
  let d = 1 / b;
  let fraction = d;
  for (let n = 1; n < SERIES_STEPS; n += 1) {
    const coefficient = -n * (n - a);
    b += 2;
    d = 1 / nonzero(coefficient * d + b);
    c = nonzero(b + coefficient / c);
    const factor = d * c;
    fraction *= factor;
    if (Math.abs(factor - 1) < SERIES_END) break;
  }
  return clamp(fraction * scale, 0, 1);
}

function nonzero(value: number): number {
  return Math.abs(value) < TINY ? TINY : value;
}

/** Returns P(X > x) of a chi-square variable with `df` degrees of freedom. */
export function chiSquareUpper(x: number, df: number): number {
  return upperGamma(df / 2, x / 2);
}

/** Returns P(|Z| > |z|) of a standard normal variable. */
export function normalTwoSided(z: number): number {
  return upperGamma(0.5, (z * z) / 2);
}

const BISECTIONS = 200;

/** Returns the z for which P(|Z| > z) is p, 0 < p < 1. */
export function normalQuantileTwoSided(p: number): number {
  return bisect(0, 40, (z) => normalTwoSided(z) > p);
}

/** Returns P(X <= x) of a noncentral chi-square variable: a Poisson mixture, summed outwards from its heaviest term. */
function noncentralChiSquareLower(x: number, df: number, noncentrality: number): number {
  const half = noncentrality / 2;
  const middle = Math.floor(half);
  const term = (n: number): number =>
    (half === 0 ? (n === 0 ? 1 : 0) : exp(n * log(half) - half - logGamma(n + 1))) *
    (1 - chiSquareUpper(x, df + 2 * n));
  const weightFloor = 1e-14;
  let total = 0;
  for (let n = middle; n >= 0; n -= 1) {
    const value = term(n);
    total += value;
    if (value < weightFloor) break;
  }
  for (let n = middle + 1; n < middle + SERIES_STEPS; n += 1) {
    const value = term(n);
    total += value;
    if (value < weightFloor) break;
  }
  return total;
}

/** Returns the noncentrality at which P(X <= x) is `p`; 0 if even the central distribution is below. */
export function noncentralityAt(x: number, df: number, p: number): number {
  if (noncentralChiSquareLower(x, df, 0) <= p) return 0;
  let high = Math.max(1, x);
  while (noncentralChiSquareLower(x, df, high) > p && high < 1e6) high *= 2;
  return bisect(0, high, (noncentrality) => noncentralChiSquareLower(x, df, noncentrality) > p);
}

/** Returns the value at which a property that holds at `low` ceases to hold. */
function bisect(low: number, high: number, holds: (value: number) => boolean): number {
  let below = low;
  let above = high;
  for (let step = 0; step < BISECTIONS && above - below > 1e-12 * Math.max(1, above); step += 1) {
    const middle = (below + above) / 2;
    if (holds(middle)) below = middle;
    else above = middle;
  }
  return (below + above) / 2;
}

/** A symmetric matrix by rows, of `size` x `size`. */
export interface SquareMatrix {
  readonly size: number;
  readonly values: Float64Array;
}

/** The inverse of a positive semidefinite matrix on the rows that carry information of their own. */
export interface PartialInverse {
  /** The inverse on the kept rows; all others are 0. */
  readonly inverse: SquareMatrix;
  /** 1 where a row is kept. */
  readonly kept: Int8Array;
  readonly rank: number;
}

/** A pivot below this share of its diagonal element, after equilibration, counts as zero. */
const PIVOT_FLOOR = 1e-10;

/**
 * Inverts a positive semidefinite matrix by Cholesky's decomposition with diagonal pivoting of the equilibrated matrix (Higham, 2002, section 10.3).
 * It leaves out rows that depend on earlier ones, so that a singular matrix has an inverse on the rest.
 */
export function invert({ size, values }: SquareMatrix): PartialInverse {
  const scale = Float64Array.from({ length: size }, (_, i) => {
    const diagonal = at(values, i * size + i);
    return diagonal > 0 ? 1 / sqrt(diagonal) : 0;
  });
  const work = Float64Array.from(
    values,
    (value, n) => value * at(scale, Math.floor(n / size)) * at(scale, n % size),
  );
  const order = Array.from({ length: size }, (_, i) => i);
  const lower = new Float64Array(size * size);
  let rank = 0;
  // work keeps the Schur complement in the original numbering; lower has a column for each pivot.
  for (; rank < size; rank += 1) {
    let best = rank;
    for (let n = rank + 1; n < size; n += 1) {
      if (diagonalOf(work, size, order[n]) > diagonalOf(work, size, order[best])) best = n;
    }
    [order[rank], order[best]] = [order[best] ?? 0, order[rank] ?? 0];
    const pivot = order[rank] ?? 0;
    const value = at(work, pivot * size + pivot);
    if (!(value > PIVOT_FLOOR)) break;
    const root = sqrt(value);
    for (let n = rank; n < size; n += 1) {
      const row = order[n] ?? 0;
      lower[row * size + rank] = at(work, row * size + pivot) / root;
    }
    for (let n = rank + 1; n < size; n += 1) {
      const row = order[n] ?? 0;
      const factor = at(lower, row * size + rank);
      if (factor === 0) continue;
      for (let m = rank + 1; m < size; m += 1) {
        const column = order[m] ?? 0;
        addTo(work, row * size + column, -factor * at(lower, column * size + rank));
      }
    }
  }
  return {
    inverse: invertKept(lower, scale, order.slice(0, rank), size),
    kept: keptOf(order, rank, size),
    rank,
  };
}

function diagonalOf(work: Float64Array, size: number, row = 0): number {
  return at(work, row * size + row);
}

function keptOf(order: readonly number[], rank: number, size: number): Int8Array {
  const kept = new Int8Array(size);
  for (const row of order.slice(0, rank)) kept[row] = 1;
  return kept;
}

/** Returns S L^-T L^-1 S on the kept rows. */
function invertKept(
  lower: Float64Array,
  scale: Float64Array,
  rows: readonly number[],
  size: number,
): SquareMatrix {
  const rank = rows.length;
  const triangle = new Float64Array(rank * rank);
  for (let column = 0; column < rank; column += 1) {
    for (let n = column; n < rank; n += 1) {
      const row = rows[n] ?? 0;
      let value = n === column ? 1 : 0;
      for (let m = column; m < n; m += 1)
        value -= at(lower, row * size + m) * at(triangle, m * rank + column);
      triangle[n * rank + column] = value / at(lower, row * size + n);
    }
  }
  const inverse = new Float64Array(size * size);
  for (let i = 0; i < rank; i += 1) {
    for (let j = 0; j <= i; j += 1) {
      let value = 0;
      for (let n = i; n < rank; n += 1) value += at(triangle, n * rank + i) * at(triangle, n * rank + j);
      const row = rows[i] ?? 0;
      const column = rows[j] ?? 0;
      value *= at(scale, row) * at(scale, column);
      inverse[row * size + column] = value;
      inverse[column * size + row] = value;
    }
  }
  return { size, values: inverse };
}

/** Returns A x. */
export function product({ size, values }: SquareMatrix, x: Float64Array): Float64Array {
  return x.map((_, i) => dot(values.subarray(i * size, (i + 1) * size), x));
}

/** Returns x' A x. */
export function quadraticForm(matrix: SquareMatrix, x: Float64Array): number {
  return dot(product(matrix, x), x);
}

/** Returns a source of uniform numbers in [0, 1) from a seed: mulberry32, the same on every runtime. For starting values, never for secrets. */
export function uniformFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
