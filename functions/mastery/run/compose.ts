import type { Continuation } from '#functions/mastery/continuation/continuation.ts';
import type { AdaptiveRun } from '#shared/contract/mastery/adaptive-run.ts';
import type { SelectionPolicy } from '#shared/contract/mastery/selection-policy.ts';
import { formatInstant } from '#shared/kernel/instant.ts';
import type { Diagnosis } from './diagnosis.ts';
import { timeBudgetEndOf } from './time-budget.ts';
import { outstandingOffer, statusOf } from '../continuation/run-state.ts';

/** The answer of start, inspect and advance, from the state that its token seals and what the consumed outcomes say. */
export function composeRun(
  { token, expiresAt, state }: Continuation,
  { timeBudgetSeconds }: Pick<SelectionPolicy, 'timeBudgetSeconds'>,
  diagnosis: Diagnosis,
  receiptId: string,
): AdaptiveRun {
  const { runMode, selectionPolicyId, scaleCalibrationId, stopReason } = state;
  const status = statusOf(state);
  const offer = status === 'in_progress' ? outstandingOffer(state) : undefined;
  const timeBudgetEnd = timeBudgetEndOf(state, timeBudgetSeconds);
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
    ...(status === 'completed' && resultRecordId !== undefined ? { resultRecordRef: resultRecordId } : {}),
    ...(status === 'completed' && caliperEventIri !== undefined ? { caliperEventRef: caliperEventIri } : {}),
    receiptId,
  };
}
