import { resultsAcknowledged, statusOf } from '#functions/mastery/continuation/run-state.ts';
import type { AdaptiveRunState } from '#functions/mastery/continuation/run-state.ts';
import { reference } from '#functions/mastery/upstream/problems.ts';
import type { AdaptiveRun } from '#shared/contract/mastery/adaptive-run.ts';
import { formatInstant } from '#shared/kernel/instant.ts';
import type { Log } from '#shared/observability/logger.ts';
import type { UpstreamOperation } from '#shared/platform/operation.ts';
import * as operations from '#shared/platform/operations.ts';
import type { Diagnosis } from './diagnosis.ts';
import type { Evidence } from './outcomes.ts';

/** The step that a run waits for, and when it is worth asking again. */
export interface Wait {
  readonly waitingFor: NonNullable<AdaptiveRun['waitingFor']>;
  readonly headers: { readonly 'Retry-After': string };
}

/** When to ask again about a step that people have to take: to verify a point, or to process an attempt once more. */
export const REPAIR_SECONDS = 60;
/** When to ask again about a step that an owner takes by itself: scoring keeps a learner waiting, publishing does not. */
const SCORE_SECONDS = 2;
const PUBLICATION_SECONDS = 10;

/**
 * Returns and logs the step that a run waits for and its caller cannot take; undefined if the next step is the caller's. It derives from the token and the
 * owners' present facts, and is not part of the token or of its tag.
 * @param pending the outstanding item's answer that the run waits for
 */
export function waitOf(
  log: Log,
  state: AdaptiveRunState,
  { scaleReportability }: Pick<Diagnosis, 'scaleReportability'>,
  pending: Evidence['pending'],
): Wait | undefined {
  const awaited = awaitedOf(state, scaleReportability, pending);
  if (awaited === undefined) return undefined;
  const [operation, seconds] = awaited;
  log('RUN_WAITS', { upstreamOperation: operation.id });
  const since = pending?.sinceMs;
  return {
    waitingFor: {
      ...reference(operation.service, operation.id, undefined),
      ...(since === undefined ? {} : { since: formatInstant(since) }),
    },
    headers: { 'Retry-After': String(seconds) },
  };
}

/** Returns the operation whose answer ends the wait, and the seconds to wait. */
function awaitedOf(
  state: AdaptiveRunState,
  scaleReportability: Diagnosis['scaleReportability'],
  pending: Evidence['pending'],
): readonly [UpstreamOperation, number] | undefined {
  const status = statusOf(state);
  if (status === 'completed') return undefined;
  if (status === 'in_progress')
    return pending && [operations.readCandidateRuntime, pending.hasFailed ? REPAIR_SECONDS : SCORE_SECONDS];
  if (scaleReportability === 'anchor_unavailable') return [operations.verifyAnchor, REPAIR_SECONDS];
  if (resultsAcknowledged(state)) return [operations.readEvidenceAck, PUBLICATION_SECONDS];
  const isRecorded = state.acknowledgements.resultRecordId !== undefined;
  return [isRecorded ? operations.writeKcComponents : operations.writeResultRecord, PUBLICATION_SECONDS];
}
