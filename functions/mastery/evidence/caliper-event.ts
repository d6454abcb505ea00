import type { AdaptiveRunState } from '#functions/mastery/continuation/run-state.ts';
import type { Unusable } from '#functions/mastery/upstream/problems.ts';
import { canonicalJson } from '#shared/kernel/canonical-json.ts';
import { deterministicUuid } from '#shared/kernel/deterministic-uuid.ts';
import { formatInstant } from '#shared/kernel/instant.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import { CALIPER_CONTEXT, type CaliperEnvelope, type CaliperEvent } from '#shared/platform/owners/caliper.ts';
import type { Platform } from '#shared/platform/platform.ts';

/** How events name their sensor, their actor (the engine), and entities whose owners give them opaque ids. */
export type EventNames = ReturnType<typeof named>;

const named = (nameOf: (...parts: readonly string[]) => string, beside: (id: string) => object) => ({
  sensor: nameOf('sensor'),
  actor: { id: nameOf('application'), type: 'SoftwareApplication' } as const,
  entity: (tenantId: string, kind: string, id: string, type: string): CaliperEvent['object'] => ({
    ...{ id: nameOf(tenantId, kind, id), type },
    ...beside(id),
  }),
});

/** Deterministic UUIDs, with the owner's id next to that of an entity. */
export const uuidNames = named(
  (...parts) => `urn:uuid:${deterministicUuid('mastery-name', ...parts)}`,
  (identifier) => ({
    otherIdentifiers: [{ type: 'SystemIdentifier', identifierType: 'SystemId', identifier }],
  }),
);

/** Names of runs whose tokens an earlier version sealed: URNs of a namespace that is not registered (RFC 8141). */
const urnNames = named(
  (...parts) => `urn:mastery-engine:${parts.map((part) => encodeURIComponent(part)).join(':')}`,
  () => ({}),
);

/** Returns the names that a run's token was sealed for. Other names would change an event's content under its id, which Caliper rejects. */
export function eventNamesOf({ eventNames }: Pick<AdaptiveRunState, 'eventNames'>): EventNames {
  return eventNames === undefined ? urnNames : uuidNames;
}

/** Returns the envelope of one event. Its sendTime is the event's own time, never the time of a retry. */
export function envelopeOf(event: CaliperEvent, { sensor }: EventNames): CaliperEnvelope {
  return { sensor, sendTime: event.eventTime, dataVersion: CALIPER_CONTEXT, data: [event] };
}

/** The content of a conformance event. */
export interface ConformanceFacts {
  readonly tenantId: string;
  readonly testBankId: string;
  /** Epoch milliseconds of a settled fact. */
  readonly at: number;
  /** Hashes, counts and figures of a test; no personal data. */
  readonly extensions: Readonly<Record<string, string | number | boolean>>;
}

/** Returns the event that proves that synthetic facts have passed through every owner. It contains no personal data [MA-013, MA-037]. */
export function conformanceEvent(
  id: string,
  { tenantId, testBankId, at, extensions }: ConformanceFacts,
  { actor, entity }: EventNames,
): CaliperEvent {
  return {
    '@context': CALIPER_CONTEXT,
    id,
    type: 'Event',
    profile: 'GeneralProfile',
    actor,
    action: 'Completed',
    object: entity(tenantId, 'bank', testBankId, 'Assessment'),
    eventTime: formatInstant(at),
    extensions,
  };
}

/** Why an event is not acknowledged: the call, what it is used for in a run, and what is wrong with its answer. */
export interface EventDoubt {
  readonly operation: typeof operations.emitEvent | typeof operations.readEvidenceAck;
  readonly use: 'write' | 'read-back';
  readonly fault: Unusable;
}

/** Emits an event and reads it back. A repetition emits the same event [MA-199, MA-202]. */
export async function emitAndReadBack(
  platform: Platform,
  event: CaliperEvent,
  names: EventNames,
): Promise<Result<undefined, EventDoubt>> {
  const operation = operations.emitEvent;
  const emitted = await platform.call(operation, { body: envelopeOf(event, names) });
  return emitted.ok ? readBack(platform, event) : err({ operation, use: 'write', fault: emitted.error });
}

/** An event is acknowledged only by reading back that very event [MA-038]. One that was just accepted may not be shown yet. */
export async function readBack(
  platform: Platform,
  event: CaliperEvent,
): Promise<Result<undefined, EventDoubt>> {
  const operation = operations.readEvidenceAck;
  const answer = await platform.call(operation, { query: { eventIri: event.id } });
  const doubt = (fault: Unusable): Result<undefined, EventDoubt> =>
    err({ operation, use: 'read-back', fault });
  if (!answer.ok) {
    const { kind, ...fault } = answer.error;
    return doubt(kind === 'not-found' ? { ...fault, kind: 'pending', transient: true } : answer.error);
  }
  const { value, upstreamRequestId } = answer.value;
  return contains(value.event, event)
    ? ok(undefined)
    : doubt({ kind: 'broken', transient: false, upstreamRequestId });
}

/** Returns whether a stored event contains everything that was sent; an owner may add members of its own. */
function contains(stored: CaliperEvent, sent: CaliperEvent): boolean {
  return Object.entries(sent).every(
    ([name, value]) => stored[name] !== undefined && canonicalJson(stored[name]) === canonicalJson(value),
  );
}
