import type { KcClassification, ScaleResult } from '#shared/contract/mastery/adaptive-run.ts';
import type { StopReason } from '#shared/contract/stop-reason.ts';
import type { Diagnosis } from '../diagnosis.ts';
import type { ScoredOutcome } from '../outcomes.ts';
import type { AdaptiveRunState } from '#functions/mastery/continuation/run-state.ts';

/** What a stopped run has to say to Results and Caliper. */
export interface Findings {
  readonly stopReason: StopReason;
  readonly scale: ScaleResult;
  readonly classifications: readonly KcClassification[];
  readonly outcomes: readonly ScoredOutcome[];
  readonly lastOutcome: ScoredOutcome;
}

/** The findings of a stopped run; undefined while there is nothing to publish: it goes on, or its anchor is not verified [MA-081]. */
export function findingsOf(
  { stopReason }: AdaptiveRunState,
  { scale, classifications }: Diagnosis,
  outcomes: readonly ScoredOutcome[],
): Findings | undefined {
  const lastOutcome = outcomes.at(-1);
  if (stopReason === null || scale === null || lastOutcome === undefined) return undefined;
  return { stopReason, scale, classifications, outcomes, lastOutcome };
}
