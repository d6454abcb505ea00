import type { Continuation } from '#functions/mastery/continuation/continuation.ts';
import type { AdaptiveRun } from '#shared/contract/mastery/adaptive-run.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { strongEntityTag } from '#shared/kernel/entity-tag.ts';
import { formatInstant } from '#shared/kernel/instant.ts';
import type { Log } from '#shared/observability/logger.ts';
import type { RunBasis } from './basis.ts';
import type { Diagnosis } from './diagnosis.ts';
import { factsOf, type NamedRuntime } from './outcomes.ts';
import { recordReceipt, type OpenedRun } from './receipt.ts';
import { timeBudgetEndOf } from './time-budget.ts';
import type { Wait } from './waiting.ts';
import { outstandingOffer, statusOf, type AdaptiveRunState } from '../continuation/run-state.ts';

/** Composes the response of start, inspect and advance from the token's state and the diagnosis of the consumed outcomes; logs its receipt. */
export function composeAdaptiveRun(
  log: Log,
  opened: OpenedRun,
  basis: RunBasis,
  { token, expiresAt, state }: Continuation,
  diagnosis: Diagnosis,
  wait?: Wait,
): AdaptiveRun {
  const { runMode, selectionPolicyId, scaleCalibrationId, stopReason } = state;
  const status = statusOf(state);
  const offer = status === 'in_progress' ? outstandingOffer(state) : undefined;
  const timeBudgetEnd = timeBudgetEndOf(state, basis.policy.timeBudgetSeconds);
  const { resultRecordId, caliperEventIri } = state.acknowledgements;
  return {
    continuationToken: token,
    continuationExpiresAt: formatInstant(expiresAt),
    status,
    runMode,
    selectionPolicyId,
    scaleCalibrationId,
    executionPins: state.pins,
    offeredItem: offer ?? null,
    ...diagnosis,
    stopReason,
    ...(timeBudgetEnd === undefined ? {} : { timeBudgetEndsAt: formatInstant(timeBudgetEnd) }),
    ...(wait && { waitingFor: wait.waitingFor }),
    ...(status === 'completed' && resultRecordId !== undefined ? { resultRecordRef: resultRecordId } : {}),
    ...(status === 'completed' && caliperEventIri !== undefined ? { caliperEventRef: caliperEventIri } : {}),
    receiptId: recordReceipt(log, 'RUN_RECEIPT', opened, basis, state),
  };
}

/**
 * Returns the run's strong validator [MA-048], over the pins and the progress of the continuation, and every attempt that QTI has now for the sessions
 * that it names. A newly scored attempt changes it; a session that the continuation does not name never does.
 */
export function runEntityTag(state: AdaptiveRunState, { sessions }: Pick<NamedRuntime, 'sessions'>): string {
  return strongEntityTag(
    hashCanonical({
      tenantId: state.tenantId,
      runSeed: state.runSeed,
      runMode: state.runMode,
      selectionPolicyId: state.selectionPolicyId,
      scaleCalibrationId: state.scaleCalibrationId,
      pins: state.pins,
      consumed: state.consumed,
      stopReason: state.stopReason,
      acknowledgements: state.acknowledgements,
      sessions: sessions.map(factsOf),
    }),
  );
}
