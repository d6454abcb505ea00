import { isDeepStrictEqual } from 'node:util';
import { incomplete } from '#functions/reports/facts/incomplete.ts';
import { sourceProblem, unusable } from '#functions/reports/sources/problems.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { formatInstant, parseInstant } from '#shared/kernel/instant.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import { CALIPER_CONTEXT, type CaliperEvent } from '#shared/platform/owners/caliper.ts';
import type { AttemptEvidence } from '#shared/platform/owners/qti.ts';
import type { SettledComponentsAck, SettledComponentsRequest } from '#shared/platform/owners/results.ts';
import type { Platform } from '#shared/platform/platform.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { componentId, componentsKey, entityIri, gradeEventIri, scoreIri } from './names.ts';

const SENSOR = 'urn:mastery-reports:sensor';
const ACTOR = { id: 'urn:mastery-reports:application', type: 'SoftwareApplication' } as const;

/** The components sent to Results, with the same bytes under the same key at every repetition. */
export interface ComponentSet {
  readonly idempotencyKey: string;
  readonly body: SettledComponentsRequest;
}

/**
 * Returns the scored outcomes of an attempt as the components by which Results settles it. They have QTI's own ids and times; nothing is scored,
 * weighed or mapped here [RP-027]. Outcomes that are missing, or that no pair of ids distinguishes, are QTI's gap: 503.
 */
export function componentsOf(evidence: AttemptEvidence): Result<ComponentSet, Problem> {
  const { tenantId, attemptId, outcomes } = evidence;
  if (outcomes.length === 0) return err(incomplete('qti', 'QTI has no scored outcome of the attempt.'));
  const components = outcomes.map(({ qtiItemId, qtiOutcomeId, scoredAt }) => ({
    componentId: componentId(tenantId, attemptId, { qtiItemId, qtiOutcomeId }),
    qtiItemId,
    qtiOutcomeId,
    scoredAt,
  }));
  if (new Set(components.map((component) => component.componentId)).size !== components.length)
    return err(incomplete('qti', 'QTI names a scored outcome of the attempt twice.'));
  const body: SettledComponentsRequest = {
    attemptId,
    evidenceVersion: evidence.version,
    contentTestSpecId: evidence.contentTestSpecId,
    contentTestSpecVersion: evidence.contentTestSpecVersion,
    components: components.toSorted((a, b) => (a.componentId < b.componentId ? -1 : 1)),
  };
  return ok({ idempotencyKey: componentsKey(tenantId, attemptId, hashCanonical(body)), body });
}

/**
 * Sends the components to Results, then the event to Caliper, the second only once the first is acknowledged [RP-288]. Both owners recognise a
 * repetition, so a write that stopped half way is simply repeated. An owner that refuses, or does not acknowledge everything, is a 503 naming it.
 */
export async function writeThrough(
  platform: Platform,
  evidence: AttemptEvidence,
  components: ComponentSet,
): Promise<Result<SettledComponentsAck, Problem>> {
  const { attemptId } = evidence;
  const operation = operations.writeSettledComponents;
  const settled = await platform.call(operation, { path: { attemptId }, ...components });
  if (!settled.ok) return err(sourceProblem(settled.error, 'derived'));
  const acknowledged = settled.value.value;
  if (!isAcknowledged(components, evidence, acknowledged)) return err(unusable(operation));
  const event = gradeEvent(evidence, acknowledged);
  const emitted = await platform.call(operations.emitEvent, {
    // The event's own time, never the clock of a repetition.
    body: { sensor: SENSOR, sendTime: event.eventTime, dataVersion: CALIPER_CONTEXT, data: [event] },
  });
  return emitted.ok ? ok(acknowledged) : err(sourceProblem(emitted.error, 'derived'));
}

/** Returns whether Results acknowledges the whole set: the attempt, every component, their count, and the record that QTI's lookup names, if any. */
function isAcknowledged(
  { body }: ComponentSet,
  { resultRecordId }: Pick<AttemptEvidence, 'resultRecordId'>,
  acknowledged: SettledComponentsAck,
): boolean {
  const named = acknowledged.componentIds.toSorted();
  const sent = body.components.map((component) => component.componentId).toSorted();
  return (
    acknowledged.resultRecordId === (resultRecordId ?? acknowledged.resultRecordId) &&
    acknowledged.count === sent.length &&
    isDeepStrictEqual(named, sent)
  );
}

/**
 * Returns the Caliper 1.2 event that Results has settled the score of an attempt: a GradeEvent of the Grading Profile, whose actor is a program.
 * Score and time are Results', so that a repetition has the same bytes. No owner states which attempt of the learner it was, so it has no `count`.
 */
function gradeEvent(
  { tenantId, attemptId, candidateSourcedId, qtiTestId }: AttemptEvidence,
  { resultRecordId, version, score, settledAt }: SettledComponentsAck,
): CaliperEvent {
  const settled = { tenantId, attemptId, resultRecordId, version };
  const attempt = entityIri(tenantId, 'attempt', attemptId);
  const milliseconds = parseInstant(settledAt);
  if (milliseconds === undefined) throw new TypeError('the answer of Results was checked to hold an instant');
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
    // With exactly three digits of milliseconds, as Caliper takes it.
    eventTime: formatInstant(milliseconds),
  };
}
