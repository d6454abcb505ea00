import type { AdaptiveRun } from '#shared/contract/mastery/adaptive-run.ts';
import type { SelectionPolicy } from '#shared/contract/mastery/selection-policy.ts';
import { formatInstant } from '#shared/kernel/instant.ts';
import type { Continuation } from '#functions/mastery/continuation/continuation.ts';
import type { Diagnosis } from './diagnosis.ts';
import { timeBudgetEndOf } from './time-budget.ts';
import { outstandingOffer, statusOf } from '../continuation/run-state.ts';

/** The answer of start, inspect and advance, from the state that its token seals and what the consumed outcomes say. */
export function composeRun(
  continuation: Continuation,
  { timeBudgetSeconds }: Pick<SelectionPolicy, 'timeBudgetSeconds'>,
  diagnosis: Diagnosis,
  receiptId: string,
): AdaptiveRun {
  const { state } = continuation;
  const status = statusOf(state);
  const offer = status === 'in_progress' ? outstandingOffer(state) : undefined;
  const timeBudgetEnd = timeBudgetEndOf(state, timeBudgetSeconds);
  const { resultRecordId, caliperEventIri } = state.acknowledgements;
  return {
    continuationToken: continuation.token,
    continuationExpiresAt: formatInstant(continuation.expiresAt),
    status,
    runMode: state.runMode,
    selectionPolicyId: state.selectionPolicyId,
    scaleCalibrationId: state.scaleCalibrationId,
    executionPins: state.pins,
    offeredItem:
      offer === undefined
        ? null
        : {
            deliverySessionId: offer.deliverySessionId,
            artifactVersionId: offer.artifactVersionId,
            sequence: offer.sequence,
          },
    kcClassifications: [...diagnosis.classifications],
    scaleReportability: diagnosis.scaleReportability,
    scale: diagnosis.scale,
    stopReason: state.stopReason,
    remainingUncertainty: diagnosis.remainingUncertainty,
    ...(timeBudgetEnd === undefined ? {} : { timeBudgetEndsAt: formatInstant(timeBudgetEnd) }),
    ...(status === 'completed' && resultRecordId !== undefined ? { resultRecordRef: resultRecordId } : {}),
    ...(status === 'completed' && caliperEventIri !== undefined ? { caliperEventRef: caliperEventIri } : {}),
    receiptId,
  };
}
