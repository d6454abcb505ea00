import { formatInstant } from '#shared/kernel/instant.ts';
import { CALIPER_CONTEXT } from '#shared/platform/owners/caliper.ts';
import type { CaliperEvent } from '#shared/platform/owners/caliper.ts';
import { conformanceEvent, ENGINE_ACTOR, entityIri } from '#functions/mastery/evidence/caliper-event.ts';
import type { AdaptiveRunState } from '#functions/mastery/continuation/run-state.ts';
import { attemptIri, completionEventIri, scoreIri } from '../names.ts';

/** What a completion says beside the run's own names. Times come from QTI, so that a retry sends the same bytes. */
export interface Completion {
  readonly state: AdaptiveRunState;
  /** Epoch milliseconds of the last scored attempt. */
  readonly completedAt: number;
  readonly administeredItemCount: number;
  /** Only a learner run publishes a score, and only it names a person. */
  readonly learner: { readonly studentId: string; readonly scaleScore: number } | undefined;
}

/** The Caliper 1.2 event of a completed run. */
export function completionEvent(completion: Completion): CaliperEvent {
  return completion.learner === undefined
    ? conformance(completion)
    : gradeEvent(completion, completion.learner);
}

/** Automatic grading of a learner's attempt: GradingProfile asks for a software actor. */
function gradeEvent(
  { state, completedAt }: Completion,
  learner: NonNullable<Completion['learner']>,
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
      assignee: { id: entityIri(state.tenantId, 'student', learner.studentId), type: 'Person' },
      assignable: { id: entityIri(state.tenantId, 'bank', state.pins.testBankId), type: 'Assessment' },
      count: 1,
    },
    generated: {
      id: scoreIri(state),
      type: 'Score',
      attempt,
      scoreGiven: learner.scaleScore,
      scoredBy: ENGINE_ACTOR,
    },
    eventTime: formatInstant(completedAt),
  };
}

/** Evidence that a synthetic run passed through every owner [MA-013]. */
function conformance({ state, completedAt, administeredItemCount }: Completion): CaliperEvent {
  const { pins } = state;
  return conformanceEvent(completionEventIri(state), {
    tenantId: state.tenantId,
    testBankId: pins.testBankId,
    at: completedAt,
    extensions: {
      resolvedPoolHash: pins.resolvedPoolHash,
      qtiPoolPackageHash: pins.qtiPoolPackageHash,
      selectionPolicyChecksum: state.selectionPolicyChecksum,
      scaleCalibrationChecksum: state.scaleCalibrationChecksum,
      administeredItemCount,
    },
  });
}
