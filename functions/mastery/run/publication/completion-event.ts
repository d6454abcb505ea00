import { formatInstant } from '#shared/kernel/instant.ts';
import { CALIPER_CONTEXT } from '#shared/platform/owners/caliper.ts';
import type { CaliperEnvelope, CaliperEvent } from '#shared/platform/owners/caliper.ts';
import type { RunState } from '../state.ts';
import { attemptIri, completionEventIri, entityIri, scoreIri } from '../names.ts';

const SENSOR = 'urn:mastery-engine:sensor';
const ACTOR = { id: 'urn:mastery-engine:application', type: 'SoftwareApplication' } as const;

/** What a completion says beside the run's own names. Times come from QTI, so that a retry sends the same bytes. */
export interface Completion {
  readonly state: RunState;
  /** Epoch milliseconds of the last scored attempt. */
  readonly completedAt: number;
  readonly administeredItemCount: number;
  /** Only a learner run publishes a score, and only it names a person. */
  readonly learner: { readonly studentId: string; readonly scaleScore: number } | undefined;
}

/** The Caliper 1.2 event of a completed run. */
export function completionEvent(completion: Completion): CaliperEvent {
  return completion.learner === undefined
    ? conformanceEvent(completion)
    : gradeEvent(completion, completion.learner);
}

/** Its envelope: sendTime is the event's own time, never the clock of a retry. */
export function completionEnvelope(event: CaliperEvent): CaliperEnvelope {
  return { sensor: SENSOR, sendTime: event.eventTime, dataVersion: CALIPER_CONTEXT, data: [event] };
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
    actor: ACTOR,
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
      scoredBy: ACTOR,
    },
    eventTime: formatInstant(completedAt),
  };
}

/** Evidence that a synthetic run passed through every owner: hashes and counts, no person anywhere [MA-013]. */
function conformanceEvent({ state, completedAt, administeredItemCount }: Completion): CaliperEvent {
  return {
    '@context': CALIPER_CONTEXT,
    id: completionEventIri(state),
    type: 'Event',
    profile: 'GeneralProfile',
    actor: ACTOR,
    action: 'Completed',
    object: { id: entityIri(state.tenantId, 'bank', state.pins.testBankId), type: 'Assessment' },
    eventTime: formatInstant(completedAt),
    extensions: {
      resolvedPoolHash: state.pins.resolvedPoolHash,
      qtiPoolPackageHash: state.pins.qtiPoolPackageHash,
      selectionPolicyChecksum: state.selectionPolicyChecksum,
      scaleCalibrationChecksum: state.scaleCalibrationChecksum,
      administeredItemCount,
    },
  };
}
