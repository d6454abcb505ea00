import type { AdaptiveRunState } from '#functions/mastery/continuation/run-state.ts';
import { areAnswersUnusual } from '#functions/mastery/engine/index.ts';
import type { CompiledModel, Outcome } from '#functions/mastery/engine/index.ts';
import type { ScaleResult } from '#shared/contract/mastery/adaptive-run.ts';
import type { Log } from '#shared/observability/logger.ts';

/** The limitation of a score whose answers contradict each other. It changes neither the score nor a classification, and never the course of a run. */
export const UNUSUAL_ANSWERS =
  'The answers contradict each other more than the calibration of the test expects. Guessing, haste or help can be the reason, and sometimes it is only chance. Look at the answers before you rely on the result.';

/**
 * Judges the answers of a stopped run (docs/engine.md, "Unusual answers"). Only a learner's run is judged, and only if its token has the mark: what an earlier
 * version began keeps the bytes that it would have published.
 */
export function hasUnusualAnswers(
  { personFit, stopReason }: Pick<AdaptiveRunState, 'personFit' | 'stopReason'>,
  model: CompiledModel,
  outcomes: readonly Outcome[],
): boolean {
  return personFit !== undefined && stopReason !== null && areAnswersUnusual(model, outcomes) === true;
}

/** Logs, once for each result that Results acknowledges, that its answers were unusual. The line names no learner. */
export function logUnusualAnswers(
  log: Log,
  before: AdaptiveRunState,
  { acknowledgements }: AdaptiveRunState,
  scale: ScaleResult | null,
): void {
  const isNew =
    before.acknowledgements.resultRecordId === undefined && acknowledgements.resultRecordId !== undefined;
  if (isNew && scale?.limitations.includes(UNUSUAL_ANSWERS) === true) log('ANSWERS_UNUSUAL');
}
