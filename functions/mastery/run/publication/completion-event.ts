import { conformanceEvent, ENGINE_ACTOR, entityIri } from '#functions/mastery/evidence/caliper-event.ts';
import type { AdaptiveRunState } from '#functions/mastery/continuation/run-state.ts';
import { formatInstant } from '#shared/kernel/instant.ts';
import { CALIPER_CONTEXT } from '#shared/platform/owners/caliper.ts';
import type { CaliperEvent } from '#shared/platform/owners/caliper.ts';
import type { Findings } from '../diagnosis.ts';
import { attemptIri, completionEventIri, scoreIri } from '../names.ts';

/**
 * The Caliper 1.2 event of a completed run, at the time of its last attempt, which is QTI's, so that a retry sends the same bytes. Only a
 * learner run publishes a score, and only it names a person.
 */
export function completionEvent(state: AdaptiveRunState, findings: Findings): CaliperEvent {
  return state.resultsStudentId === undefined
    ? conformance(state, findings)
    : gradeEvent(state, findings, state.resultsStudentId);
}

/** Automatic grading of a learner's attempt: GradingProfile asks for a software actor. */
function gradeEvent(
  state: AdaptiveRunState,
  { lastOutcome, scale }: Findings,
  studentId: string,
): CaliperEvent {
  const attempt = attemptIri(state);
  return {
    '@context': CALIPER_CONTEXT,
    id: completionEventIri(state),
    type: 'GradeEvent',
    profile: 'GradingProfile',
    actor: ENGINE_ACTOR,
    action: 'Graded',
    object: {
      id: attempt,
      type: 'Attempt',
      assignee: { id: entityIri(state.tenantId, 'student', studentId), type: 'Person' },
      assignable: { id: entityIri(state.tenantId, 'bank', state.pins.testBankId), type: 'Assessment' },
      count: 1,
    },
    generated: {
      id: scoreIri(state),
      type: 'Score',
      attempt,
      scoreGiven: scale.scaleScore,
      scoredBy: ENGINE_ACTOR,
    },
    eventTime: formatInstant(lastOutcome.scoredAtMs),
  };
}

/** Evidence that a synthetic run passed through every owner [MA-013]. */
function conformance(state: AdaptiveRunState, { lastOutcome, outcomes }: Findings): CaliperEvent {
  const { tenantId, selectionPolicyChecksum, scaleCalibrationChecksum } = state;
  const { testBankId, resolvedPoolHash, qtiPoolPackageHash } = state.pins;
  return conformanceEvent(completionEventIri(state), {
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
  });
}
