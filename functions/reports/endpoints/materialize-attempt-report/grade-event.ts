import { formatInstant, parseInstant } from '#shared/kernel/instant.ts';
import { CALIPER_CONTEXT } from '#shared/platform/owners/caliper.ts';
import type { CaliperEnvelope, CaliperEvent } from '#shared/platform/owners/caliper.ts';
import type { AttemptEvidence } from '#shared/platform/owners/qti.ts';
import type { SettledComponentsAck } from '#shared/platform/owners/results.ts';
import { entityIri, gradeEventIri, scoreIri } from './names.ts';

const SENSOR = 'urn:mastery-reports:sensor';
const ACTOR = { id: 'urn:mastery-reports:application', type: 'SoftwareApplication' } as const;

type Graded = Pick<AttemptEvidence, 'tenantId' | 'attemptId' | 'candidateSourcedId' | 'qtiTestId'>;

/**
 * The Caliper 1.2 event that Results has settled the score of an attempt: a GradeEvent of the Grading Profile, whose actor is a program. Its
 * score is Results', its time is Results' too, so that a repetition has the same bytes. Which attempt of the learner it was stands in no
 * owner's answer, so it has no `count`.
 */
export function gradeEvent(
  { tenantId, attemptId, candidateSourcedId, qtiTestId }: Graded,
  { resultRecordId, version, score, settledAt }: SettledComponentsAck,
): CaliperEvent {
  const settled = { tenantId, attemptId, resultRecordId, version };
  const attempt = entityIri(tenantId, 'attempt', attemptId);
  return {
    '@context': CALIPER_CONTEXT,
    id: gradeEventIri(settled),
    type: 'GradeEvent',
    profile: 'GradingProfile',
    actor: ACTOR,
    action: 'Graded',
    object: {
      id: attempt,
      type: 'Attempt',
      assignee: { id: entityIri(tenantId, 'student', candidateSourcedId), type: 'Person' },
      assignable: { id: entityIri(tenantId, 'form', qtiTestId), type: 'Assessment' },
    },
    generated: {
      id: scoreIri(settled),
      type: 'Score',
      attempt,
      // An unbounded scale has none.
      ...(score.maximum === null ? {} : { maxScore: score.maximum }),
      scoreGiven: score.value,
      scoredBy: ACTOR,
    },
    eventTime: caliperTime(settledAt),
  };
}

/** Its envelope: sendTime is the event's own time, never the clock of a repetition. */
export function gradeEnvelope(event: CaliperEvent): CaliperEnvelope {
  return { sensor: SENSOR, sendTime: event.eventTime, dataVersion: CALIPER_CONTEXT, data: [event] };
}

/** Caliper knows milliseconds, exactly three digits of them. */
function caliperTime(instant: string): string {
  const milliseconds = parseInstant(instant);
  if (milliseconds === undefined) throw new TypeError('the answer of Results was checked to hold an instant');
  return formatInstant(milliseconds);
}
