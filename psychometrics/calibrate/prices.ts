import { climb } from './em.ts';
import type { Design, Parameters, Responses } from './model.ts';
import { penaltyOf } from './penalty.ts';

/** What the restrictions of a fit cost: by how much a short continuation without one raises the log-likelihood, at least. */
export interface Prices {
  /** Log-likelihood gained without priors of the curves; undefined for a fit without. */
  readonly penalty: number | undefined;
  /** Log-likelihood and penalty gained if tables may fall when a KC is added; undefined for DINA. */
  readonly monotonicity: number | undefined;
}

/** A continuation climbs to the nearest maximum, or until its steps run out. */
const CONTINUATION = { maximumIterations: 100, tolerance: 0.01 } as const;

/** Returns the prices at fitted parameters with their log-likelihood. */
export function pricesOf(
  design: Design,
  parameters: Parameters,
  responses: Responses,
  logLikelihood: number,
): Prices {
  const gain = (changed: Design): number => {
    const before = logLikelihood + penaltyOf(changed, parameters);
    return Math.max(0, climb(changed, responses, parameters, CONTINUATION).objective - before);
  };
  return {
    penalty: design.penalty === 'none' ? undefined : gain({ ...design, penalty: 'none' }),
    monotonicity: design.model === 'dina' ? undefined : gain({ ...design, monotone: false }),
  };
}
