import { canonicalJson } from '#shared/kernel/canonical-json.ts';
import { CALIPER_CONTEXT, type CaliperEnvelope, type CaliperEvent } from '#shared/platform/owners/caliper.ts';
import * as operations from '#shared/platform/operations.ts';
import { refuse, serve } from '../route.ts';
import type { OwnerAnswer, OwnerRefusal, OwnerRequest, OwnerRoute } from '../route.ts';

/** Caliper: the event store of the tenant. */
export const caliperRoutes: readonly OwnerRoute[] = [
  serve(operations.emitEvent, { identities: [], handle: store, precheck: unsupportedVersion }),
  serve(operations.readEvidenceAck, {
    identities: ['/eventIri', '/event/id'],
    versioned: true,
    handle: ({ tenant, query }) => {
      const eventIri = query['eventIri'] ?? '';
      const event = tenant.events.get(eventIri);
      if (event === undefined) return refuse(404, 'no such event');
      return { status: 200, body: { tenantId: tenant.tenantId, eventIri, event } };
    },
    // A replica that has not seen the event yet.
    stale: () => refuse(404, 'no such event'),
  }),
];

/** Caliper 1.2 answers an envelope of another data version with 422, everything else that is malformed with 400. */
function unsupportedVersion(body: unknown): OwnerRefusal | undefined {
  if (typeof body !== 'object' || body === null || !('dataVersion' in body)) return undefined;
  return typeof body.dataVersion === 'string' && body.dataVersion !== CALIPER_CONTEXT
    ? refuse(422, 'dataVersion is not supported')
    : undefined;
}

/** Stores all events of the envelope or none. */
function store({ tenant, body }: OwnerRequest<CaliperEnvelope>): OwnerAnswer<undefined> | OwnerRefusal {
  const arriving = new Map<string, CaliperEvent>();
  for (const event of body.data) {
    const defect = eventDefect(event);
    if (defect !== undefined) return refuse(400, defect);
    const earlier = arriving.get(event.id) ?? tenant.events.get(event.id);
    if (earlier !== undefined && canonicalJson(earlier) !== canonicalJson(event)) {
      return refuse(409, 'the event id was used for another event');
    }
    arriving.set(event.id, event);
  }
  for (const [id, event] of arriving) tenant.events.set(id, event);
  return { status: 200, body: undefined };
}

/** The Grading Profile of Caliper 1.2: a GradeEvent grades an Attempt; automatic grading has a software actor. */
function eventDefect(event: CaliperEvent): string | undefined {
  if (event.type !== 'GradeEvent') return undefined;
  if (event.action !== 'Graded') return 'the action of a GradeEvent is Graded';
  if (event.object.type !== 'Attempt') return 'the object of a GradeEvent is an Attempt';
  if (!['SoftwareApplication', 'Person', 'Agent'].includes(event.actor.type)) {
    return 'the actor of a GradeEvent is a person or a software application';
  }
  const generated = event['generated'];
  const isScore =
    generated === undefined ||
    (typeof generated === 'object' &&
      generated !== null &&
      'type' in generated &&
      generated.type === 'Score');
  return isScore ? undefined : 'what a GradeEvent generates is a Score';
}
