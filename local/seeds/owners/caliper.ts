import { once } from '#local/platform/store.ts';
import { formatInstant } from '#shared/kernel/instant.ts';
import { CALIPER_CONTEXT, type CaliperEvent } from '#shared/platform/owners/caliper.ts';
import type { SeedAttempt } from '../attempts.ts';
import type { Entities, Tenant } from '../tenant.ts';

/** Returns what Caliper holds: the events that have published records. */
export function caliperEntities(
  { tenantId }: Tenant,
  attempts: readonly SeedAttempt[],
): Entities<never, 'events'> {
  const events = attempts.flatMap((attempt) => {
    const { eventIri: id } = attempt;
    return id === null ? [] : [[id, once(() => completionEvent(tenantId, attempt, id))] as const];
  });
  return { generated: { events: new Map(events) } };
}

/** Returns the grading of the attempt by a program. */
function completionEvent(tenantId: string, attempt: SeedAttempt, id: string): CaliperEvent {
  const { attemptId, entry, candidateSourcedId } = attempt;
  const iri = (kind: string, value: string): string =>
    `urn:platform:${tenantId}:${kind}:${encodeURIComponent(value)}`;
  const actor = { id: 'urn:platform:results', type: 'SoftwareApplication' };
  return {
    '@context': CALIPER_CONTEXT,
    id,
    type: 'GradeEvent',
    profile: 'GradingProfile',
    actor,
    action: 'Graded',
    object: {
      id: iri('attempt', attemptId),
      type: 'Attempt',
      assignee: { id: iri('student', candidateSourcedId), type: 'Person' },
      count: 1,
    },
    generated: {
      id: iri('score', attemptId),
      type: 'Score',
      attempt: iri('attempt', attemptId),
      scoreGiven: entry.record?.score.value,
      scoredBy: actor,
    },
    eventTime: formatInstant(Date.parse(attempt.modifiedAt)),
  };
}
