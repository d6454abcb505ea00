import type { KcClassification } from '#shared/contract/mastery/adaptive-run.ts';
import type { KcComponentsRequest, ResultRecordRequest } from '#shared/platform/owners/results.ts';
import type { AdaptiveRunState } from '#functions/mastery/continuation/run-state.ts';
import { isLimited } from '../diagnosis.ts';
import type { Findings } from '../diagnosis.ts';
import { componentId, producerResultId } from '../names.ts';

/** The settled result of a learner run, with the same bytes at every retry. */
export function resultRecord(
  state: AdaptiveRunState,
  studentId: string,
  { scale, outcomes, lastOutcome, stopReason }: Findings,
): ResultRecordRequest {
  const { testSpecId, testBankId, bankOperationId } = state.pins;
  const { scaleId, scaleScore, standardError, limitations } = scale;
  const processingTraceRefs = state.offers.flatMap(({ consumedTraceRef }) => consumedTraceRef ?? []);
  return {
    producerResultId: producerResultId(state),
    studentId,
    testSpecId,
    testBankId,
    bankOperationId,
    selectionPolicyId: state.selectionPolicyId,
    scaleCalibrationId: state.scaleCalibrationId,
    scale: { scaleId, scaleScore, standardError, ...(isLimited(scale) ? { limitations } : {}) },
    stopReason,
    administeredItemCount: outcomes.length,
    deliverySessionIds: state.offers.map((offer) => offer.deliverySessionId),
    ...(processingTraceRefs.length === 0 ? {} : { processingTraceRefs }),
    // Reports show it, and their instants end in Z [RP-051].
    scoredAt: lastOutcome.scoredAt.replace(/\+00:00$/, 'Z'),
    // A token of version 0.1.0 has no cause, and its record the bytes that it had.
    ...(state.stopCause === undefined ? {} : { metadata: { stopCause: state.stopCause } }),
  };
}

/** One component per in-scope knowledge component [MA-034]. */
export function kcComponents(
  state: AdaptiveRunState,
  resultRecordId: string,
  classifications: readonly KcClassification[],
): KcComponentsRequest {
  return {
    resultRecordId,
    components: classifications.map((kc) => ({
      componentId: componentId(state, kc.caseCompetencyGuid),
      caseCompetencyGuid: kc.caseCompetencyGuid,
      classification: kc.classification,
      posteriorProbability: kc.posteriorProbability,
      evidenceItemRefs: kc.evidenceItemRefs,
      selectionPolicyId: state.selectionPolicyId,
      scaleCalibrationId: state.scaleCalibrationId,
    })),
  };
}
