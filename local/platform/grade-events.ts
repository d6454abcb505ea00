import { parseInstant } from '#shared/kernel/instant.ts';
import type { CaliperEvent } from '#shared/platform/owners/caliper.ts';
import type { TenantState } from './tenant-state.ts';

/**
 * Returns the GradeEvent that has published a result: of this attempt, or of this learner, with this score, at this time. It contains attempt and
 * learner with their ids and their IRIs, or as IRIs that end with these.
 */
export function findGradeEvent(
  tenant: TenantState,
  of: { readonly attemptId: string } | { readonly studentId: string },
  { scoreGiven, at }: { readonly scoreGiven: number; readonly at: string },
): CaliperEvent | undefined {
  const [place, id] =
    'attemptId' in of ? (['attempt', of.attemptId] as const) : (['student', of.studentId] as const);
  const ending = `:${place}:${encodeURIComponent(id)}`;
  const time = parseInstant(at);
  for (const [, event] of tenant.events.entries()) {
    if (event.type !== 'GradeEvent' || parseInstant(event.eventTime) !== time) continue;
    const subject = place === 'attempt' ? event.object : event.object['assignee'];
    const [iri, others] = [member(subject, 'id'), member(subject, 'otherIdentifiers')];
    const isTheirs =
      (typeof iri === 'string' && iri.endsWith(ending)) ||
      (Array.isArray(others) && others.some((other) => member(other, 'identifier') === id));
    if (isTheirs && member(event['generated'], 'scoreGiven') === scoreGiven) return event;
  }
  return undefined;
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}
