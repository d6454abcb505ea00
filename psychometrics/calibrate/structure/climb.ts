/**
 * EM with squared extrapolation (Varadhan and Roland, 2008, Scandinavian J. of Statistics 35, 335-353, scheme S3), for any model whose parameters are
 * a vector without bounds. The calibration itself climbs by the quasi-Newton steps of em.ts.
 */
import { at, clamp, dot, sqrt } from '../numbers.ts';

/** A likelihood to climb. `Counts` are the expected counts that its E-step returns. */
export interface Likelihood<Counts extends { readonly logLikelihood: number }> {
  readonly expect: (vector: Float64Array) => Counts;
  /** Returns the M-step: a vector whose likelihood is not below. */
  readonly maximize: (counts: Counts, vector: Float64Array) => Float64Array;
  /** Puts an extrapolated vector back into the bounds. */
  readonly project: (vector: Float64Array) => Float64Array;
}

/** Where a climb ended. */
export interface Summit<Counts> {
  readonly vector: Float64Array;
  readonly counts: Counts;
  /** Log-likelihoods of the accepted steps; they never fall. */
  readonly history: readonly number[];
  /** Whether the climb ended because the gains did, not the E-steps. */
  readonly converged: boolean;
}

/** The gains below which a climb ends: of a plain step, and of a whole cycle with its extrapolation. The log-likelihood is then within .01. */
const STEP_GAIN = 1e-4;
const CYCLE_GAIN = 2e-3;
const FIRST_REACH = 4;

/** Climbs from a start with at most `mostSteps` E-steps, or one cycle more. */
export function climb<Counts extends { readonly logLikelihood: number }>(
  { expect, maximize, project }: Likelihood<Counts>,
  start: Float64Array,
  mostSteps: number,
): Summit<Counts> {
  let vector = start;
  let counts = expect(start);
  const history = [counts.logLikelihood];
  let reach = FIRST_REACH;
  for (let steps = 1; steps < mostSteps; steps += 2) {
    const before = counts.logLikelihood;
    const first = maximize(counts, vector);
    const afterFirst = expect(first);
    history.push(afterFirst.logLikelihood);
    if (afterFirst.logLikelihood - before < STEP_GAIN)
      return { vector: first, counts: afterFirst, history, converged: true };
    const second = maximize(afterFirst, first);
    const { ahead, length } = extrapolated(vector, first, second, reach);
    vector = project(ahead);
    counts = expect(vector);
    if (counts.logLikelihood >= afterFirst.logLikelihood) {
      if (length >= reach) reach *= FIRST_REACH;
    } else {
      reach = Math.max(FIRST_REACH, reach / FIRST_REACH);
      vector = second;
      counts = expect(second);
      steps += 1;
    }
    history.push(counts.logLikelihood);
    if (counts.logLikelihood - before < CYCLE_GAIN) return { vector, counts, history, converged: true };
  }
  return { vector, counts, history, converged: false };
}

/** Returns the extrapolation of two steps, of 1 (the second step itself) to `reach` times their length. */
function extrapolated(
  x0: Float64Array,
  x1: Float64Array,
  x2: Float64Array,
  reach: number,
): { readonly ahead: Float64Array; readonly length: number } {
  const r = x0.map((x, n) => at(x1, n) - x);
  const v = r.map((step, n) => at(x2, n) - at(x1, n) - step);
  const length = clamp(dot(v, v) > 0 ? sqrt(dot(r, r) / dot(v, v)) : 1, 1, reach);
  return {
    length,
    ahead: x0.map((x, n) => x + 2 * length * at(r, n) + length * length * at(v, n)),
  };
}
