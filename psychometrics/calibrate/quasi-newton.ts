/**
 * Quasi-Newton steps for EM (Jamshidian and Jennrich, 1997, J. Royal Statistical Society B 59, 569-587, method QN2; with limited memory: Nocedal and
 * Wright, 2006, Numerical optimization, algorithm 7.4). The inverse information is at first that of the complete data; recent steps correct it to that
 * of the observed data.
 */
import type { ExpectedCounts } from './expectation.ts';
import { priorPlace, type Face } from './faces.ts';
import { isotonicTable } from './isotonic.ts';
import { movedCurves } from './maximization.ts';
import type { Design, Parameters } from './model.ts';
import { addTo, at, clamp, dot, invert, log, logistic, logit, product, sqrt, sum } from './numbers.ts';

/** A step of all parameters, and how much the score fell on it: logits of all probabilities, logarithms of the slopes, locations. */
export interface Secant {
  readonly step: Float64Array;
  readonly fall: Float64Array;
}

/** Multiplies a score on a face by an inverse information matrix. */
export type Metric = (score: Float64Array) => Float64Array;

interface Point {
  readonly parameters: Parameters;
  readonly counts: ExpectedCounts;
  readonly face: Face;
}

/** Returns the secant between two points. */
export function secantOf(from: Point, to: Point): Secant {
  const start = fullScore(from);
  const end = fullScore(to);
  const zero = unbounded(from.parameters);
  return {
    step: unbounded(to.parameters).map((value, n) => value - at(zero, n)),
    fall: start.map((value, n) => value - at(end, n)),
  };
}

function unbounded({ tables, slopes, locations, extras }: Parameters): Float64Array {
  return Float64Array.from([
    ...tables.flatMap((table) => [...table.map(logit)]),
    ...slopes.map(log),
    ...locations,
    ...(extras ?? []),
  ]);
}

/** Returns the score as if every pattern were free. */
function fullScore({ parameters, counts, face }: Point): Float64Array {
  return Float64Array.from([
    ...parameters.tables.flatMap((table, j) => {
      const answered = counts.answered[j] ?? table;
      const correct = counts.correct[j] ?? table;
      return Array.from(table, (p, s) => at(correct, s) - p * at(answered, s));
    }),
    ...face.curves.score,
  ]);
}

/** Returns for each free parameter its places in a secant. */
function placesOf({ items, kcCount }: Design, { free }: Face): readonly (readonly number[])[] {
  const starts: number[] = [];
  let length = 0;
  for (const { size } of items) {
    starts.push(length);
    length += size;
  }
  return free.map((one) => {
    if (one.kind === 'table') return one.patterns.map((s) => (starts[one.item] ?? 0) + s);
    return [length + priorPlace(kcCount, one)];
  });
}

/** The most that a logit, a log slope or a location moves in one step. */
const LONGEST_STEP = 2;
/** Below this cosine between step and fall of the score, a secant is left out. */
const LEAST_COSINE = 1e-10;

/** Returns the step from a point to the maximum of the quadratic model that metric and secants (latest last) make up on its face. */
export function quasiNewtonStep(
  design: Design,
  face: Face,
  metric: Metric,
  secants: readonly Secant[],
): Float64Array {
  const places = placesOf(design, face);
  const used = secants.flatMap((secant) => {
    const step = Float64Array.from(places, (own) => sum(own.map((n) => at(secant.step, n))) / own.length);
    const fall = Float64Array.from(places, (own) => sum(own.map((n) => at(secant.fall, n))));
    const curvature = dot(step, fall);
    return curvature > LEAST_COSINE * sqrt(dot(step, step) * dot(fall, fall))
      ? [{ step, fall, curvature }]
      : [];
  });
  const rest = Float64Array.from(face.score);
  const shares = used.toReversed().map(({ step, fall, curvature }) => {
    const share = dot(step, rest) / curvature;
    for (let n = 0; n < rest.length; n += 1) addTo(rest, n, -share * at(fall, n));
    return share;
  });
  const result = metric(rest);
  used.forEach(({ step, fall, curvature }, m) => {
    const share = (shares[used.length - 1 - m] ?? 0) - dot(fall, result) / curvature;
    for (let n = 0; n < result.length; n += 1) addTo(result, n, share * at(step, n));
  });
  return result.map((value) => clamp(value, -LONGEST_STEP, LONGEST_STEP));
}

/** Keeps the information invertible where the data contain none; it changes the path to the maximum, not the maximum. */
const RIDGE = 0.01;

/** Returns the metric of the complete data: each probability on its own, the curves together. */
export function completeMetric({ kcCount }: Design, { free, information, curves }: Face): Metric {
  const { size, values } = curves.information;
  const columns = Int32Array.from(free, (one) => (one.kind === 'table' ? -1 : priorPlace(kcCount, one)));
  const isFree = (column: number): boolean => columns.includes(column);
  const { inverse } = invert({
    size,
    values: values.map((value, n) => {
      const [row, column] = [Math.floor(n / size), n % size];
      return isFree(row) && isFree(column) ? value + (row === column ? RIDGE : 0) : 0;
    }),
  });
  return (score) => {
    const ofCurves = new Float64Array(size);
    columns.forEach((column, n) => {
      if (column >= 0) ofCurves[column] = at(score, n);
    });
    const moved = product(inverse, ofCurves);
    return score.map((value, n) => {
      const column = columns[n] ?? -1;
      return column >= 0 ? at(moved, column) : value / (at(information, n) + RIDGE);
    });
  };
}

/** The weight of a pattern that no learner is expected to have. */
const LEAST_WEIGHT = 1e-12;

/** Returns the parameters after a step on the face of a point, projected into the bounds and onto monotone tables. */
export function moved(design: Design, { parameters, counts, face }: Point, step: Float64Array): Parameters {
  const tables = parameters.tables.map((table) => Float64Array.from(table));
  const ofCurves = new Float64Array(face.curves.score.length);
  face.free.forEach((one, n) => {
    const by = at(step, n);
    if (one.kind === 'table') {
      const table = tables[one.item] ?? new Float64Array();
      const before = at(table, one.patterns[0] ?? 0);
      const after = clamp(logistic(logit(before) + by), design.bound, 1 - design.bound);
      for (const pattern of one.patterns) table[pattern] = after;
    } else {
      ofCurves[priorPlace(design.kcCount, one)] = by;
    }
  });
  return {
    tables: tables.map((table, j) => {
      if (!design.monotone) return table;
      const weights = (counts.answered[j] ?? table).map((n) => n + LEAST_WEIGHT);
      return design.model === 'gdina' ? isotonicTable(table, weights) : pooled(table, weights);
    }),
    ...movedCurves(design, parameters, ofCurves),
  };
}

/** Returns a DINA table, or one value for all patterns if it falls. */
function pooled(table: Float64Array, weights: Float64Array): Float64Array {
  const last = table.length - 1;
  return at(table, 0) <= at(table, last) ? table : table.fill(dot(table, weights) / sum(weights));
}
