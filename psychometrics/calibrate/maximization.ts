/** The M-step: item tables in closed form, each KC's curve by Newton's method on the nodes of theta. Neither ever lowers the likelihood. */
import type { ExpectedCounts } from './expectation.ts';
import { isotonicTable } from './isotonic.ts';
import { SLOPE_RANGE, isClamped, masteryCurve, theta } from './model.ts';
import type { Design, ItemDesign, Parameters } from './model.ts';
import { curvePenalty, curvePenaltyTerms } from './penalty.ts';
import { at, clamp, exp, log } from './numbers.ts';

/** Returns the parameters that maximize the expected complete-data log-likelihood within the bounds, at least near the start of the search. */
export function maximize(design: Design, counts: ExpectedCounts, before: Parameters): Parameters {
  const slopes = new Float64Array(design.kcCount);
  const locations = new Float64Array(design.kcCount);
  const nodes = design.points.length;
  for (let k = 0; k < design.kcCount; k += 1) {
    const mastered = counts.mastered.subarray(k * nodes, (k + 1) * nodes);
    const curve = fitCurve(design, counts.atNode, mastered, {
      slope: at(before.slopes, k),
      location: at(before.locations, k),
    });
    slopes[k] = curve.slope;
    locations[k] = curve.location;
  }
  return {
    tables: design.items.map((item, j) =>
      fitTable(
        design,
        item,
        counts.answered[j] ?? new Float64Array(),
        counts.correct[j] ?? new Float64Array(),
      ),
    ),
    slopes,
    locations,
  };
}

/** Returns the monotone table, of the form that the model allows, with the highest binomial likelihood within the bounds. */
export function fitTable(
  design: Design,
  { size }: ItemDesign,
  answered: Float64Array,
  correct: Float64Array,
): Float64Array {
  const rates = (n: Float64Array, r: Float64Array): Float64Array =>
    n.map((count, s) => (count > 0 ? at(r, s) / count : 0));
  const bounded = (p: number): number => clamp(p, design.bound, 1 - design.bound);
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

interface Curve {
  readonly slope: number;
  readonly location: number;
}

const NEWTON_STEPS = 25;
const HALVINGS = 30;

/**
 * Fits a weighted logistic regression of mastery on the nodes: Fisher scoring in log slope and location, within the bounds, halved until the
 * objective does not fall. The engine's clamp and the penalty are part of the objective.
 */
function fitCurve(design: Design, atNode: Float64Array, mastered: Float64Array, from: Curve): Curve {
  const objective = (candidate: Curve): number => {
    const curve = masteryCurve(design, candidate.slope, candidate.location);
    let total = curvePenalty(design.penalty, candidate.slope, candidate.location);
    for (let g = 0; g < curve.length; g += 1) {
      const yes = at(mastered, g);
      total += yes * log(at(curve, g)) + Math.max(0, at(atNode, g) - yes) * log(1 - at(curve, g));
    }
    return total;
  };
  let best = from;
  let highest = objective(best);
  for (let step = 0; step < NEWTON_STEPS; step += 1) {
    const direction = scoringStep(design, atNode, mastered, best);
    let taken: Curve | undefined;
    for (let halving = 0, share = 1; halving < HALVINGS; halving += 1, share /= 2) {
      const candidate = moved(best, direction, share);
      const value = objective(candidate);
      if (value > highest) {
        taken = candidate;
        highest = value;
        break;
      }
    }
    if (taken === undefined) return best;
    const change = Math.abs(taken.slope - best.slope) + Math.abs(taken.location - best.location);
    best = taken;
    if (change < 1e-12) return best;
  }
  return best;
}

/** A step in log slope and location. */
interface Direction {
  readonly logSlope: number;
  readonly location: number;
}

/** The most that a log slope or a location moves in one step. */
const LONGEST_STEP = 1;
/** Keeps the information invertible where the data contain none; it changes the path to the maximum, not the maximum. */
const RIDGE = 1e-6;

/** Returns the Fisher scoring step: inverse information times score, both with the penalty's share. */
function scoringStep(
  design: Design,
  atNode: Float64Array,
  mastered: Float64Array,
  { slope, location }: Curve,
): Direction {
  const curve = masteryCurve(design, slope, location);
  const penalty = curvePenaltyTerms(design.penalty, slope, location);
  let scoreSlope = penalty.scoreLogSlope;
  let scoreLocation = penalty.scoreLocation;
  let i00 = penalty.informationLogSlope + RIDGE;
  let i01 = penalty.informationMixed;
  let i11 = penalty.informationLocation + RIDGE;
  for (let g = 0; g < curve.length; g += 1) {
    const p = at(curve, g);
    if (isClamped(p)) continue;
    const bySlope = slope * (at(design.points, g) - location);
    const residual = at(mastered, g) - at(atNode, g) * p;
    const weight = at(atNode, g) * p * (1 - p);
    scoreSlope += residual * bySlope;
    scoreLocation -= residual * slope;
    i00 += weight * bySlope * bySlope;
    i01 -= weight * bySlope * slope;
    i11 += weight * slope * slope;
  }
  const determinant = i00 * i11 - i01 * i01;
  return {
    logSlope: clamp((i11 * scoreSlope - i01 * scoreLocation) / determinant, -LONGEST_STEP, LONGEST_STEP),
    location: clamp((i00 * scoreLocation - i01 * scoreSlope) / determinant, -LONGEST_STEP, LONGEST_STEP),
  };
}

/** Returns the curve after some share of a step, within the bounds. */
function moved(from: Curve, direction: Direction, share: number): Curve {
  return {
    slope: clamp(from.slope * exp(share * direction.logSlope), SLOPE_RANGE.min, SLOPE_RANGE.max),
    location: clamp(from.location + share * direction.location, theta.min, theta.max),
  };
}
