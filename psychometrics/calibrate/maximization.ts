/** The M-step: item tables in closed form, the KCs' curves by Fisher scoring with theta integrated out. Neither ever lowers the likelihood. */
import { extraRange, extrasOf, hasNoCurve, priorScores, type PriorParameters } from './dependence.ts';
import type { ExpectedCounts } from './expectation.ts';
import { isotonicTable } from './isotonic.ts';
import { SLOPE_RANGE, latentPrior, theta } from './model.ts';
import type { Design, ItemDesign, Parameters } from './model.ts';
import { addTo, at, clamp, dot, exp, invert, log, product, sum, type SquareMatrix } from './numbers.ts';
import { curvePenaltyTerms, penaltyOf, slopePenaltyTerms } from './penalty.ts';

/** Returns the parameters that maximize the expected complete-data log-likelihood within the bounds, at least near the start of the search. */
export function maximize(design: Design, counts: ExpectedCounts, before: Parameters): Parameters {
  return {
    tables: design.items.map((item, j) =>
      fitTable(
        design,
        item,
        counts.answered[j] ?? new Float64Array(),
        counts.correct[j] ?? new Float64Array(),
      ),
    ),
    ...fitCurves(design, counts.everybody, before),
  };
}

/** Returns the table, monotone and of the form that the model allows, with the highest binomial likelihood within the bounds. */
export function fitTable(
  design: Design,
  { size }: ItemDesign,
  answered: Float64Array,
  correct: Float64Array,
): Float64Array {
  const rates = (n: Float64Array, r: Float64Array): Float64Array =>
    n.map((count, s) => (count > 0 ? at(r, s) / count : 0));
  const bounded = (p: number): number => clamp(p, design.bound, 1 - design.bound);
  if (!design.monotone) return rates(answered, correct).map(bounded);
  if (design.model === 'gdina') return isotonicTable(rates(answered, correct), answered).map(bounded);
  // DINA has two values, for learners who have mastered all and for the others: the lattice is a chain of two.
  const n = new Float64Array(2);
  const r = new Float64Array(2);
  for (let s = 0; s < size; s += 1) {
    const all = Number(s === size - 1);
    n[all] = at(n, all) + at(answered, s);
    r[all] = at(r, all) + at(correct, s);
  }
  const [guess = 0, success = 0] = isotonicTable(rates(n, r), n).map(bounded);
  return new Float64Array(size).fill(guess, 0, size - 1).fill(success, size - 1);
}

const SCORING_STEPS = 10;
/** Each trial that does not rise is damped more: from Fisher scoring towards a short step along the score (Levenberg and Marquardt). */
const TRIALS = 12;
const LEAST_DAMPING = 0.1;
const DAMPING_GROWTH = 8;
/** A scoring step that promises less than this gain ends the search. */
const LEAST_GAIN = 1e-12;
/** The most that a log slope or a location moves in one step. */
const LONGEST_STEP = 1;

/**
 * Fits the prior to the expected numbers of learners with each pattern, theta integrated out: Fisher scoring in log slopes and locations of the KCs'
 * curves and in the parameters of dependence, within the bounds, damped until the objective rises. The engine's clamp and the penalty are part of the
 * objective.
 */
export function fitCurves(
  design: Design,
  everybody: Float64Array,
  { slopes, locations, extras }: PriorParameters,
  steps = SCORING_STEPS,
): PriorParameters {
  const objective = (candidate: PriorParameters): number => {
    const { patterns } = latentPrior(design, candidate);
    let total = penaltyOf(design, candidate);
    // No learner has a pattern that cannot occur.
    for (let a = 0; a < patterns.length; a += 1)
      if (at(everybody, a) > 0) total += at(everybody, a) * log(at(patterns, a));
    return total;
  };
  let best: PriorParameters = { slopes, locations, extras };
  let highest = objective(best);
  let damping = 0;
  for (let step = 0; step < steps; step += 1) {
    const { score, information } = curveTerms(design, best, everybody);
    const isFree = score.map((value, n) => Number(!pushesOutward(design, best, n, value)));
    let taken: PriorParameters | undefined;
    for (let trial = 0; trial < TRIALS && taken === undefined; trial += 1) {
      const direction = product(invertOn(information, isFree, damping), score);
      if (dot(direction, score) < LEAST_GAIN) return best;
      const candidate = movedCurves(
        design,
        best,
        direction.map((value) => clamp(value, -LONGEST_STEP, LONGEST_STEP)),
      );
      const value = objective(candidate);
      if (value > highest) {
        taken = candidate;
        highest = value;
        damping = damping > LEAST_DAMPING ? damping / DAMPING_GROWTH : 0;
      } else {
        damping = Math.max(LEAST_DAMPING, DAMPING_GROWTH * damping);
      }
    }
    if (taken === undefined) return best;
    best = taken;
  }
  return best;
}

/**
 * Returns whether parameter n of the prior (log slopes, locations, then the extras) is on a bound, and its score points out of it; or whether it is part
 * of a curve that no KC has.
 */
export function pushesOutward(
  { dependence, kcCount }: Design,
  { slopes, locations, extras }: PriorParameters,
  n: number,
  score: number,
): boolean {
  const extra = n < 2 * kcCount ? undefined : extrasOf(dependence)[n - 2 * kcCount];
  if (extra === undefined && hasNoCurve(dependence, n % kcCount)) return true;
  const isSlope = n < kcCount;
  const value =
    extra === undefined
      ? isSlope
        ? at(slopes, n)
        : at(locations, n - kcCount)
      : at(extras ?? locations, n - 2 * kcCount);
  const { min, max } = extra === undefined ? (isSlope ? SLOPE_RANGE : theta) : extraRange(extra);
  return (value <= min && score < 0) || (value >= max && score > 0);
}

/** Score and expected information of the prior in log slopes, locations (2K) and extras, the penalty's share included. */
export interface CurveTerms {
  readonly score: Float64Array;
  readonly information: SquareMatrix;
}

/** Returns the terms for these expected numbers of learners by pattern. */
export function curveTerms(design: Design, curves: PriorParameters, everybody: Float64Array): CurveTerms {
  const { kcCount, patterns } = design;
  const prior = latentPrior(design, curves);
  const byPattern = priorScores(design, curves, prior).map((values, n) =>
    n < kcCount ? values.map((value) => value * at(curves.slopes, n)) : values,
  );
  const size = byPattern.length;
  const learners = sum(everybody);
  const score = Float64Array.from(byPattern, (values) => dot(values, everybody));
  const values = new Float64Array(size * size);
  for (let n = 0; n < size; n += 1) {
    for (let m = 0; m <= n; m += 1) {
      let total = 0;
      for (let a = 0; a < patterns; a += 1)
        total += at(prior.patterns, a) * at(byPattern[n] ?? score, a) * at(byPattern[m] ?? score, a);
      values[n * size + m] = learners * total;
      values[m * size + n] = learners * total;
    }
  }
  for (let kc = 0; kc < kcCount; kc += 1) {
    if (hasNoCurve(design.dependence, kc)) continue;
    const terms = curvePenaltyTerms(design.penalty, at(curves.slopes, kc), at(curves.locations, kc));
    const l = kcCount + kc;
    addTo(score, kc, terms.scoreLogSlope);
    addTo(score, l, terms.scoreLocation);
    addTo(values, kc * size + kc, terms.informationLogSlope);
    addTo(values, l * size + l, terms.informationLocation);
    addTo(values, kc * size + l, terms.informationMixed);
    addTo(values, l * size + kc, terms.informationMixed);
  }
  extrasOf(design.dependence).forEach(({ kind }, n) => {
    if (kind !== 'slope') return;
    const place = 2 * kcCount + n;
    const terms = slopePenaltyTerms(design.penalty, exp(at(curves.extras ?? score, n)));
    addTo(score, place, terms.score);
    addTo(values, place * size + place, terms.information);
  });
  return { score, information: { size, values } };
}

/** Returns the inverse on the rows that are free, with the diagonal raised by a share; all others are 0. */
function invertOn({ size, values }: SquareMatrix, isFree: Float64Array, damping: number): SquareMatrix {
  const masked = values.map((value, n) => {
    const [row, column] = [Math.floor(n / size), n % size];
    return value * at(isFree, row) * at(isFree, column) * (row === column ? 1 + damping : 1);
  });
  return invert({ size, values: masked }).inverse;
}

/** Returns the prior's parameters after a step in log slopes, locations and extras, within the bounds. */
export function movedCurves(
  { dependence, kcCount }: Design,
  { slopes, locations, extras }: PriorParameters,
  step: Float64Array,
): PriorParameters {
  const kinds = extrasOf(dependence);
  return {
    slopes: slopes.map((slope, k) => clamp(slope * exp(at(step, k)), SLOPE_RANGE.min, SLOPE_RANGE.max)),
    locations: locations.map((location, k) =>
      clamp(location + at(step, slopes.length + k), theta.min, theta.max),
    ),
    extras: extras?.map((value, n) => {
      const { min, max } = extraRange(kinds[n] as (typeof kinds)[number]);
      return clamp(value + at(step, 2 * kcCount + n), min, max);
    }),
  };
}
