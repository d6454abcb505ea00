/**
 * Marginal maximum likelihood by EM (Bock and Aitkin, 1981, Psychometrika 46, 443-459; de la Torre and Douglas, 2004), accelerated by squared
 * extrapolation (Varadhan and Roland, 2008, Scandinavian J. of Statistics 35, 335-353, scheme S3). The algorithm accepts an extrapolation only if it
 * does not lower the objective, so that the objective never falls from one accepted step to the next. The objective is the log-likelihood, with the
 * penalty of penalty.ts unless that is turned off.
 */
import { expectedCounts, type ExpectedCounts } from './expectation.ts';
import { isotonicTable } from './isotonic.ts';
import { maximize } from './maximization.ts';
import { SLOPE_RANGE, theta, type Design, type Parameters, type Responses } from './model.ts';
import { at, clamp, exp, log, logistic, logit, sqrt } from './numbers.ts';
import { penaltyOf } from './penalty.ts';

export interface EmOptions {
  /** The most E-steps. */
  readonly maximumIterations: number;
  /** The fit has converged once a plain EM step gains less than this, and moves every parameter by less than its square root. */
  readonly tolerance: number;
  readonly progress?: (step: EmStep) => void;
}

/** One accepted step. `change` is the gain in the objective since the previous step. */
export interface EmStep {
  readonly iteration: number;
  /** Log-likelihood and penalty. */
  readonly objective: number;
  readonly logLikelihood: number;
  readonly change: number;
  readonly extrapolated: boolean;
}

export interface EmResult {
  readonly parameters: Parameters;
  readonly counts: ExpectedCounts;
  /** Log-likelihood and penalty; the same without a penalty. */
  readonly objective: number;
  readonly logLikelihood: number;
  /** E-steps made, including those of rejected extrapolations. */
  readonly iterations: number;
  readonly converged: boolean;
  /** The largest change of a parameter in the last plain step: a probability, a location, or a slope relative to its size. */
  readonly largestChange: number;
  /** Accepted steps, in order; their objectives never fall, except by rounding. */
  readonly history: readonly EmStep[];
}

/** Parameters with the result of the E-step. */
interface State {
  readonly parameters: Parameters;
  readonly counts: ExpectedCounts;
  /** Log-likelihood and penalty, which the steps increase. */
  readonly objective: number;
}

/** The longest extrapolation at first, and its growth factor each time it is reached and accepted. */
const FIRST_REACH = 4;
const REACH_GROWTH = 4;

/** Fits the model from the given start. */
export function fit(design: Design, responses: Responses, start: Parameters, options: EmOptions): EmResult {
  const history: EmStep[] = [];
  let iterations = 0;
  const evaluate = (parameters: Parameters): State => {
    iterations += 1;
    const counts = expectedCounts(design, parameters, responses);
    const objective = counts.logLikelihood + penaltyOf(design.penalty, parameters);
    return { parameters, counts, objective };
  };
  const accept = (state: State, extrapolated: boolean): void => {
    const { objective } = state;
    const step = {
      iteration: iterations,
      objective,
      logLikelihood: state.counts.logLikelihood,
      change: objective - (history.at(-1)?.objective ?? objective),
      extrapolated,
    };
    history.push(step);
    options.progress?.(step);
  };
  const end = (state: State, converged: boolean, largestChange: number): EmResult => ({
    ...state,
    logLikelihood: state.counts.logLikelihood,
    iterations,
    converged,
    largestChange,
    history,
  });

  let current = evaluate(start);
  accept(current, false);
  let reach = FIRST_REACH;
  let largestChange = Infinity;
  while (iterations < options.maximumIterations) {
    const first = evaluate(maximize(design, current.counts, current.parameters));
    accept(first, false);
    largestChange = largestDifference(current.parameters, first.parameters);
    const gain = first.objective - current.objective;
    if (gain < options.tolerance && largestChange < sqrt(options.tolerance))
      return end(first, true, largestChange);
    if (iterations >= options.maximumIterations) return end(first, false, largestChange);

    const second = maximize(design, first.counts, first.parameters);
    const { parameters, length } = extrapolate(design, current.parameters, first.parameters, second, reach);
    const ahead = evaluate(parameters);
    if (ahead.objective >= first.objective) {
      current = ahead;
      if (length >= reach) reach *= REACH_GROWTH;
      accept(current, true);
    } else if (iterations < options.maximumIterations) {
      current = evaluate(second);
      reach = Math.max(FIRST_REACH, reach / REACH_GROWTH);
      accept(current, false);
    } else {
      current = first;
    }
  }
  return end(current, false, largestChange);
}

/** Returns the largest change of any parameter: probabilities and locations as they are, slopes relative to their size. */
export function largestDifference(a: Parameters, b: Parameters): number {
  let largest = 0;
  a.tables.forEach((table, j) => {
    const other = b.tables[j] ?? table;
    for (let s = 0; s < table.length; s += 1)
      largest = Math.max(largest, Math.abs(at(table, s) - at(other, s)));
  });
  for (let k = 0; k < a.slopes.length; k += 1) {
    const slope = Math.abs(at(a.slopes, k) - at(b.slopes, k)) / Math.max(1, at(a.slopes, k));
    largest = Math.max(largest, slope, Math.abs(at(a.locations, k) - at(b.locations, k)));
  }
  return largest;
}

/** Returns the parameters without bounds, in one vector: logits of the tables, logarithms of the slopes, locations. */
function flatten({ tables, slopes, locations }: Parameters): Float64Array {
  return Float64Array.from([
    ...tables.flatMap((table) => [...table.map(logit)]),
    ...slopes.map(log),
    ...locations,
  ]);
}

/** Converts such a vector back, into the bounds and to monotone tables. */
function unflatten(design: Design, vector: Float64Array): Parameters {
  let start = 0;
  const take = (length: number): Float64Array => vector.slice(start, (start += length));
  const tables = design.items.map(({ size }) => {
    const table = take(size).map((value) => clamp(logistic(value), design.bound, 1 - design.bound));
    return isotonicTable(table, new Float64Array(size).fill(1));
  });
  return {
    tables: design.model === 'gdina' ? tables : tables.map(ofTwoValues),
    slopes: take(design.kcCount).map((value) => clamp(exp(value), SLOPE_RANGE.min, SLOPE_RANGE.max)),
    locations: take(design.kcCount).map((value) => clamp(value, theta.min, theta.max)),
  };
}

/** Restores a DINA table, whose equal values the projection may have changed. */
function ofTwoValues(table: Float64Array): Float64Array {
  const last = table.length - 1;
  return new Float64Array(table.length)
    .fill(Math.min(at(table, 0), at(table, last)), 0, last)
    .fill(at(table, last), last);
}

/** Returns x - 2 a r + a^2 v with r = x1 - x, v = (x2 - x1) - r, a = -|r| / |v|, from -reach to -1 (where it is x2). */
function extrapolate(
  design: Design,
  zero: Parameters,
  one: Parameters,
  two: Parameters,
  reach: number,
): { readonly parameters: Parameters; readonly length: number } {
  const x0 = flatten(zero);
  const x1 = flatten(one);
  const x2 = flatten(two);
  let rr = 0;
  let vv = 0;
  for (let n = 0; n < x0.length; n += 1) {
    const r = at(x1, n) - at(x0, n);
    const v = at(x2, n) - at(x1, n) - r;
    rr += r * r;
    vv += v * v;
  }
  const length = clamp(vv > 0 ? sqrt(rr / vv) : 1, 1, reach);
  const ahead = x0.map((x, n) => {
    const r = at(x1, n) - x;
    const v = at(x2, n) - at(x1, n) - r;
    return x + 2 * length * r + length * length * v;
  });
  return { parameters: unflatten(design, ahead), length };
}
