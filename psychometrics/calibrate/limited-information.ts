/**
 * M2 (Maydeu-Olivares and Joe, 2006, Psychometrika 71, 713-732): the fit of all univariate and bivariate margins, with its RMSEA2
 * (Maydeu-Olivares and Joe, 2014, Multivariate Behavioral Research 49, 305-328); for cognitive diagnosis models: Liu, Tian and Xin (2016,
 * J. of Educational and Behavioral Statistics 41, 3-26).
 */
import { type ChiSquare, expectationsOf } from './item-fit.ts';
import { answersOf, latentPrior, type Design, type Parameters, type Responses } from './model.ts';
import {
  addTo,
  at,
  chiSquareUpper,
  dot,
  integerAt,
  invert,
  noncentralityAt,
  quadraticForm,
  sqrt,
} from './numbers.ts';
import { priorScores } from './dependence.ts';
import { priorPlace } from './faces.ts';
import type { StandardErrors } from './standard-errors.ts';

export interface LimitedInformationFit extends ChiSquare {
  readonly rmsea: number;
  /** A 90 % interval of the RMSEA2. */
  readonly rmseaLow: number;
  readonly rmseaHigh: number;
}

/** The most items: the margins' covariance has a row per item and pair. */
const MAXIMUM_ITEMS = 40;
/** Tails of a 90 % interval. */
const LOWER_TAIL = 0.95;
const UPPER_TAIL = 0.05;

/** Returns M2 at fitted parameters, or the reason why it cannot be computed. */
export function limitedInformationFit(
  design: Design,
  parameters: Parameters,
  responses: Responses,
  errors: StandardErrors,
): LimitedInformationFit | string {
  const items = design.items.length;
  if (items > MAXIMUM_ITEMS) return `No M2: it is computed for at most ${MAXIMUM_ITEMS} items.`;
  if (responses.answers.includes(-1)) return 'No M2: it requires complete answers.';
  const margins = marginsOf(items);
  const { success, patterns } = expectationsOf(design, parameters);
  const products = margins.map((margin) =>
    patterns.map((_, a) => margin.reduce((product, j) => product * at(success[j] ?? patterns, a), 1)),
  );
  const expected = Float64Array.from(products, (product) => dot(product, patterns));
  const residual = observedMargins(responses, margins).map((value, n) => value - at(expected, n));
  const size = margins.length;
  const weight = invert({ size, values: covariance(margins, success, patterns, expected) });
  if (weight.rank < size) return 'No M2: the covariance of the margins is singular.';
  const jacobian = derivatives(design, parameters, errors, margins, success);
  const weighted = jacobian.map((column) => product(weight.inverse.values, column, size));
  const count = jacobian.length;
  const inner = new Float64Array(count * count);
  const projected = new Float64Array(count);
  for (let n = 0; n < count; n += 1) {
    projected[n] = dot(weighted[n] ?? residual, residual);
    for (let m = 0; m < count; m += 1)
      inner[n * count + m] = dot(jacobian[n] ?? residual, weighted[m] ?? residual);
  }
  const bend = invert({ size: count, values: inner });
  const df = size - bend.rank;
  if (df < 1) return `M2 has no degrees of freedom: ${size} margins for ${bend.rank} parameters.`;
  const n = responses.learners;
  const explained = quadraticForm(bend.inverse, projected);
  const statistic = Math.max(0, n * (quadraticForm(weight.inverse, residual) - explained));
  const rmsea = (noncentrality: number): number =>
    sqrt(Math.max(0, noncentrality) / (df * Math.max(1, n - 1)));
  return {
    statistic,
    df,
    p: chiSquareUpper(statistic, df),
    rmsea: rmsea(statistic - df),
    rmseaLow: rmsea(noncentralityAt(statistic, df, LOWER_TAIL)),
    rmseaHigh: rmsea(noncentralityAt(statistic, df, UPPER_TAIL)),
  };
}

/** Returns every item, then every pair. */
function marginsOf(items: number): (readonly number[])[] {
  const singles = Array.from({ length: items }, (_, j) => [j]);
  return [...singles, ...singles.flatMap(([j = 0]) => Array.from({ length: j }, (_, i) => [i, j]))];
}

function observedMargins(responses: Responses, margins: readonly (readonly number[])[]): Float64Array {
  const observed = new Float64Array(margins.length);
  for (let row = 0; row < responses.counts.length; row += 1) {
    const answers = answersOf(responses, row);
    margins.forEach((margin, n) => {
      if (margin.every((j) => integerAt(answers, j) === 1)) addTo(observed, n, at(responses.counts, row));
    });
  }
  return observed.map((count) => count / responses.learners);
}

/** Returns n times the covariance of the observed margins: E(product of both) - product of the expectations. */
function covariance(
  margins: readonly (readonly number[])[],
  success: readonly Float64Array[],
  patterns: Float64Array,
  expected: Float64Array,
): Float64Array {
  const size = margins.length;
  const values = new Float64Array(size * size);
  margins.forEach((one, n) => {
    for (let m = 0; m <= n; m += 1) {
      const tables = [...new Set([...one, ...(margins[m] ?? [])])].map((j) => success[j] ?? patterns);
      let joint = 0;
      for (let a = 0; a < patterns.length; a += 1) {
        let term = at(patterns, a);
        for (const table of tables) term *= at(table, a);
        joint += term;
      }
      const value = joint - at(expected, n) * at(expected, m);
      values[n * size + m] = value;
      values[m * size + n] = value;
    }
  });
  return values;
}

/** Returns, for each free parameter, the derivatives of all expected margins. */
function derivatives(
  design: Design,
  parameters: Parameters,
  { parameters: free }: StandardErrors,
  margins: readonly (readonly number[])[],
  success: readonly Float64Array[],
): Float64Array[] {
  const prior = latentPrior(design, parameters);
  const scores = priorScores(design, parameters, prior);
  return free.map((parameter) => {
    if (parameter.kind === 'table') {
      const own = design.items[parameter.item]?.own ?? new Uint16Array();
      const weight = prior.patterns.map((p, a) => (parameter.patterns.includes(integerAt(own, a)) ? p : 0));
      return Float64Array.from(margins, (margin) => {
        if (!margin.includes(parameter.item)) return 0;
        const [other] = margin.filter((j) => j !== parameter.item);
        const table = other === undefined ? undefined : success[other];
        return table === undefined ? weight.reduce((total, p) => total + p, 0) : dot(weight, table);
      });
    }
    const change = prior.patterns.map(
      (p, a) => p * at(scores[priorPlace(design.kcCount, parameter)] ?? prior.patterns, a),
    );
    return Float64Array.from(margins, (margin) => {
      let total = 0;
      for (let a = 0; a < change.length; a += 1) {
        let term = at(change, a);
        for (const j of margin) term *= at(success[j] ?? change, a);
        total += term;
      }
      return total;
    });
  });
}

function product(matrix: Float64Array, vector: Float64Array, size: number): Float64Array {
  return Float64Array.from({ length: size }, (_, i) => {
    let total = 0;
    for (let j = 0; j < size; j += 1) total += at(matrix, i * size + j) * at(vector, j);
    return total;
  });
}
