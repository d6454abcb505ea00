/**
 * Weakly informative priors on the KCs' curves, so that the fit is the mode of a posterior (Mislevy, 1986, Psychometrika 51, 177-195). Without them
 * the likelihood often has its supremum where a KC's curve is a step or a flat line: answers on a KC that is measured only together with others
 * contain little information about its own curve. The item probabilities have no prior, and with more learners the priors weigh less.
 */
import { extrasOf, hasNoCurve, type PriorParameters } from './dependence.ts';
import type { Design, Penalty } from './model.ts';
import { at, exp } from './numbers.ts';

/** Slope: normal around 1.7, which in the logistic metric is a normal ogive of slope 1 (Birnbaum's constant). */
export const SLOPE_PRIOR = { mean: 1.7, sd: 0.75 } as const;
/** Intercept, -slope * location: normal, wide. It keeps the curve on the grid for a KC that all learners or none have mastered. */
export const INTERCEPT_PRIOR = { mean: 0, sd: 7 } as const;

/** Returns the log prior density of one curve, up to a constant; at most 0. */
function curvePenalty(penalty: Penalty, slope: number, location: number): number {
  if (penalty === 'none') return 0;
  const a = (slope - SLOPE_PRIOR.mean) / SLOPE_PRIOR.sd;
  const b = (slope * location) / INTERCEPT_PRIOR.sd;
  return -0.5 * (a * a + b * b);
}

/** The penalty's share of score and (Gauss-Newton) information in log slope and location. */
export interface PenaltyTerms {
  readonly scoreLogSlope: number;
  readonly scoreLocation: number;
  readonly informationLogSlope: number;
  readonly informationMixed: number;
  readonly informationLocation: number;
}

export function curvePenaltyTerms(penalty: Penalty, slope: number, location: number): PenaltyTerms {
  const on = penalty === 'none' ? 0 : 1;
  const a = (slope - SLOPE_PRIOR.mean) / SLOPE_PRIOR.sd;
  const aBySlope = slope / SLOPE_PRIOR.sd;
  const b = (slope * location) / INTERCEPT_PRIOR.sd;
  const bByLocation = slope / INTERCEPT_PRIOR.sd;
  return {
    scoreLogSlope: -on * (a * aBySlope + b * b),
    scoreLocation: -on * b * bByLocation,
    informationLogSlope: on * (aBySlope * aBySlope + b * b),
    informationMixed: on * b * bByLocation,
    informationLocation: on * bByLocation * bByLocation,
  };
}

/** Returns score and information of the prior of a slope without a location, in its logarithm. */
export function slopePenaltyTerms(
  penalty: Penalty,
  slope: number,
): { readonly score: number; readonly information: number } {
  const { scoreLogSlope, informationLogSlope } = curvePenaltyTerms(penalty, slope, 0);
  return { score: scoreLogSlope, information: informationLogSlope };
}

/** Returns the penalty of all curves, and of the slopes of saturated sets. */
export function penaltyOf(
  { penalty, dependence }: Pick<Design, 'penalty' | 'dependence'>,
  { slopes, locations, extras }: PriorParameters,
): number {
  let total = 0;
  for (let k = 0; k < slopes.length; k += 1)
    if (!hasNoCurve(dependence, k)) total += curvePenalty(penalty, at(slopes, k), at(locations, k));
  extrasOf(dependence).forEach(({ kind }, n) => {
    if (kind === 'slope') total += curvePenalty(penalty, exp(at(extras ?? locations, n)), 0);
  });
  return total;
}
