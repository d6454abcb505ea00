import { conformanceEvent, eventNamesOf } from '#functions/mastery/evidence/caliper-event.ts';
import type { AdaptiveRunState } from '#functions/mastery/continuation/run-state.ts';
import type { KcClassification } from '#shared/contract/mastery/adaptive-run.ts';
import { formatInstant } from '#shared/kernel/instant.ts';
import { CALIPER_CONTEXT, type CaliperEvent } from '#shared/platform/owners/caliper.ts';
import type { KcComponentsRequest, ResultRecordRequest } from '#shared/platform/owners/results.ts';
import { isLimited, type Findings } from '../diagnosis.ts';
import { namesOf } from '../names.ts';

// Everything that a completed run writes, with the same bytes at every retry: it contains no time of the retry.

/** Returns the settled result of a learner run. */
export function resultRecord(
  state: AdaptiveRunState,
  studentId: string,
  { scale, outcomes, lastOutcome, stopReason }: Findings,
): ResultRecordRequest {
  const { testSpecId, testBankId, bankOperationId } = state.pins;
  const { scaleId, scaleScore, standardError, limitations } = scale;
  const processingTraceRefs = state.offers.flatMap(({ consumedTraceRef }) => consumedTraceRef ?? []);
  return {
    producerResultId: namesOf(state).producerResultId,
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
    // A token of version 0.1.0 has no cause, and its record must keep its bytes.
    ...(state.stopCause === undefined ? {} : { metadata: { stopCause: state.stopCause } }),
  };
}

/** Returns one component per in-scope knowledge component [MA-034]. */
export function kcComponents(
  state: AdaptiveRunState,
  resultRecordId: string,
  classifications: readonly KcClassification[],
): KcComponentsRequest {
  return {
    resultRecordId,
    components: classifications.map((kc) => ({
      componentId: namesOf(state).componentId(kc.caseCompetencyGuid),
      caseCompetencyGuid: kc.caseCompetencyGuid,
      classification: kc.classification,
      posteriorProbability: kc.posteriorProbability,
      evidenceItemRefs: kc.evidenceItemRefs,
      selectionPolicyId: state.selectionPolicyId,
      scaleCalibrationId: state.scaleCalibrationId,
    })),
  };
}

/** Returns the Caliper 1.2 event of a completed run, at QTI's time of its last attempt. Only a learner run publishes a score and names a person. */
export function completionEvent(state: AdaptiveRunState, findings: Findings): CaliperEvent {
  return state.resultsStudentId === undefined
    ? conformance(state, findings)
    : gradeEvent(state, findings, state.resultsStudentId);
}

/** Returns the automatic grading of a learner's attempt: GradingProfile requires a software actor. */
function gradeEvent(
  state: AdaptiveRunState,
  { lastOutcome, scale }: Findings,
  studentId: string,
): CaliperEvent {
  const { completionEventIri, attemptIri: attempt, scoreIri } = namesOf(state);
  const { actor, entity } = eventNamesOf(state);
  return {
    '@context': CALIPER_CONTEXT,
    id: completionEventIri,
    type: 'GradeEvent',
    profile: 'GradingProfile',
    actor,
    action: 'Graded',
    object: {
      id: attempt,
      type: 'Attempt',
      assignee: entity(state.tenantId, 'student', studentId, 'Person'),
      assignable: entity(state.tenantId, 'bank', state.pins.testBankId, 'Assessment'),
      count: 1,
    },
    generated: {
      id: scoreIri,
      type: 'Score',
      attempt,
      scoreGiven: scale.scaleScore,
      scoredBy: actor,
    },
    eventTime: formatInstant(lastOutcome.scoredAtMs),
  };
}

/** Returns the evidence that a synthetic run passed through every owner [MA-013]. */
function conformance(state: AdaptiveRunState, { lastOutcome, outcomes }: Findings): CaliperEvent {
  const { tenantId, selectionPolicyChecksum, scaleCalibrationChecksum } = state;
  const { testBankId, resolvedPoolHash, qtiPoolPackageHash } = state.pins;
  const facts = {
    tenantId,
    testBankId,
    at: lastOutcome.scoredAtMs,
    extensions: {
      resolvedPoolHash,
      qtiPoolPackageHash,
      selectionPolicyChecksum,
      scaleCalibrationChecksum,
      administeredItemCount: outcomes.length,
    },
  };
  return conformanceEvent(namesOf(state).completionEventIri, facts, eventNamesOf(state));
}
