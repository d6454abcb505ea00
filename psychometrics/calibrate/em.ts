/**
 * Marginal maximum likelihood by EM (Bock and Aitkin, 1981, Psychometrika 46, 443-459; de la Torre and Douglas, 2004), with quasi-Newton steps
 * (quasi-newton.ts) between its own. A quasi-Newton step counts only if it raises the objective; otherwise an EM step follows, which never lowers it.
 * The objective is the log-likelihood, with the penalty of penalty.ts unless that is turned off.
 *
 * The fit has converged by the score vector, projected where a bound or monotonicity holds a parameter (faces.ts): its length in the metric of the
 * inverse observed information, which is the distance to the maximum in standard errors.
 */
import { expectedCounts, type ExpectedCounts } from './expectation.ts';
import { faceAt, type Face } from './faces.ts';
import { maximize } from './maximization.ts';
import type { Design, Parameters, Responses } from './model.ts';
import { at, clamp, dot, invert, product, sqrt } from './numbers.ts';
import { penaltyOf } from './penalty.ts';
import {
  completeMetric,
  moved,
  quasiNewtonStep,
  secantOf,
  type Metric,
  type Secant,
} from './quasi-newton.ts';
import { informationOn } from './standard-errors.ts';

export interface EmOptions {
  /** The most E-steps. */
  readonly maximumIterations: number;
  /** The fit has converged once neither a parameter nor a linear combination of them is this many standard errors away from the maximum. */
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
  /** Whether it is a quasi-Newton step, not one of EM. */
  readonly extrapolated: boolean;
}

export interface EmResult {
  readonly parameters: Parameters;
  readonly counts: ExpectedCounts;
  /** Log-likelihood and penalty; the same without a penalty. */
  readonly objective: number;
  readonly logLikelihood: number;
  /** E-steps made, including those of rejected quasi-Newton steps. */
  readonly iterations: number;
  readonly converged: boolean;
  /** The length of the projected score: at most this many standard errors to the maximum of the quadratic model, and half its square of objective. */
  readonly scoreLength: number;
  /** Accepted steps, in order; their objectives never fall, except by rounding. */
  readonly history: readonly EmStep[];
}

/** Parameters with the result of the E-step. */
interface State {
  readonly parameters: Parameters;
  readonly counts: ExpectedCounts;
  readonly face: Face;
  /** Log-likelihood and penalty, which the steps increase. */
  readonly objective: number;
}

/** EM steps before the first quasi-Newton step. */
const FIRST_STEPS = 3;
/** The most secants that are kept. */
const MEMORY = 20;
/** The observed information is computed when the score's length by the complete data's information, which is a lower limit, is below this. */
const NEAR = 0.03;

/** After failures, a step is tried up to this many times, each a quarter of the one before. */
const MOST_HALVINGS = 8;

/** A gain below this share of the objective is rounding. */
const REST = 1e-14;

/** Fits the model from the given start. */
export function fit(design: Design, responses: Responses, start: Parameters, options: EmOptions): EmResult {
  const climbed = climb(design, responses, start, options);
  const { parameters, counts } = climbed;
  const face = faceAt(design, parameters, counts);
  return { ...climbed, scoreLength: scoreLength(face, observedMetric(design, parameters, face, responses)) };
}

/** Does the same without the length of the score. */
export function climb(
  design: Design,
  responses: Responses,
  start: Parameters,
  options: EmOptions,
): Omit<EmResult, 'scoreLength'> {
  const history: EmStep[] = [];
  let iterations = 0;
  const evaluate = (parameters: Parameters): State => {
    iterations += 1;
    const counts = expectedCounts(design, parameters, responses);
    const objective = counts.logLikelihood + penaltyOf(design, parameters);
    return { parameters, counts, objective, face: faceAt(design, parameters, counts) };
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
  const end = (
    { parameters, counts, objective }: State,
    converged: boolean,
  ): Omit<EmResult, 'scoreLength'> => ({
    parameters,
    counts,
    objective,
    logLikelihood: counts.logLikelihood,
    iterations,
    converged,
    history,
  });

  let current = evaluate(start);
  accept(current, false);
  let secants: readonly Secant[] = [];
  let observed: { readonly face: Face; readonly metric: Metric } | undefined;
  let failures = 0;
  let near = Math.max(NEAR, options.tolerance);
  for (;;) {
    const complete = completeMetric(design, current.face);
    const length = scoreLength(current.face, complete);
    // At a kink, or where rounding hides what is left to gain, no step rises any more.
    const isAtRest = failures > 0 && (history.at(-1)?.change ?? 0) < REST * Math.abs(current.objective);
    if (length < near || isAtRest) {
      observed = {
        face: current.face,
        metric: observedMetric(design, current.parameters, current.face, responses),
      };
      const exact = scoreLength(current.face, observed.metric);
      if (exact < options.tolerance) return end(current, true);
      if (isAtRest && failures === MOST_HALVINGS) return end(current, false);
      near = length * clamp(options.tolerance / exact, 0.1, 0.5);
    }
    if (iterations >= options.maximumIterations) return end(current, false);
    const metric = observed !== undefined && isSame(observed.face, current.face) ? observed.metric : complete;
    let ahead: State | undefined;
    if (iterations > FIRST_STEPS) {
      const step = quasiNewtonStep(design, current.face, metric, secants);
      for (let trial = 0, share = 1; trial <= failures && ahead === undefined; trial += 1, share /= 4) {
        const candidate = evaluate(
          moved(
            design,
            current,
            step.map((value) => share * value),
          ),
        );
        if (candidate.objective > current.objective) ahead = candidate;
        else if (iterations >= options.maximumIterations) return end(current, false);
      }
      failures = ahead === undefined ? Math.min(MOST_HALVINGS, failures + 1) : 0;
      if (ahead === undefined) {
        secants = [];
        observed = undefined;
      }
    }
    const extrapolated = ahead !== undefined;
    const next = ahead ?? evaluate(maximize(design, current.counts, current.parameters));
    secants = [...secants.slice(1 - MEMORY), secantOf(current, next)];
    current = next;
    accept(current, extrapolated);
  }
}

/** Returns the length of the score on a face. */
function scoreLength({ score }: Face, metric: Metric): number {
  return sqrt(Math.max(0, dot(score, metric(score))));
}

/** Returns the metric of the observed information in its cross-product form. */
function observedMetric(design: Design, parameters: Parameters, face: Face, responses: Responses): Metric {
  const { inverse } = invert(informationOn(design, parameters, face.free, responses));
  const scale = Float64Array.from(face.free, (one) => {
    if (one.kind === 'slope') return at(parameters.slopes, one.kc);
    if (one.kind !== 'table') return 1;
    const p = at(parameters.tables[one.item] ?? new Float64Array(), one.patterns[0] ?? 0);
    return p * (1 - p);
  });
  return (score) =>
    product(
      inverse,
      score.map((value, n) => value / at(scale, n)),
    ).map((value, n) => value / at(scale, n));
}

/** Returns whether the same parameters are free on two faces. */
function isSame(a: Face, b: Face): boolean {
  return JSON.stringify(a.free) === JSON.stringify(b.free);
}
