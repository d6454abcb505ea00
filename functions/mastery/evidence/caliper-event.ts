import { canonicalJson } from '#shared/kernel/canonical-json.ts';
import { formatInstant } from '#shared/kernel/instant.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { UpstreamFault } from '#shared/platform/fault.ts';
import * as operations from '#shared/platform/operations.ts';
import { CALIPER_CONTEXT } from '#shared/platform/owners/caliper.ts';
import type { CaliperEnvelope, CaliperEvent } from '#shared/platform/owners/caliper.ts';
import type { Platform } from '#shared/platform/platform.ts';

const SENSOR = 'urn:mastery-engine:sensor';

/** The engine itself: the actor of every event that it emits, whomever the event is about. */
export const ENGINE_ACTOR = { id: 'urn:mastery-engine:application', type: 'SoftwareApplication' } as const;

/** An IRI for a thing that Caliper must name and that its owner names by an opaque id. */
export function entityIri(tenantId: string, kind: string, id: string): string {
  return `urn:mastery-engine:${encodeURIComponent(tenantId)}:${kind}:${encodeURIComponent(id)}`;
}

/** The envelope of one event: sendTime is the event's own time, never the clock of a retry. */
export function envelopeOf(event: CaliperEvent): CaliperEnvelope {
  return { sensor: SENSOR, sendTime: event.eventTime, dataVersion: CALIPER_CONTEXT, data: [event] };
}

/** What a conformance event says. */
export interface ConformanceFacts {
  readonly tenantId: string;
  readonly testBankId: string;
  /** Epoch milliseconds of a settled fact. */
  readonly at: number;
  /** Hashes, counts and figures of a test; nothing of a person. */
  readonly extensions: Readonly<Record<string, string | number | boolean>>;
}

/** Evidence that synthetic facts have passed through every owner: no person anywhere [MA-013, MA-037]. */
export function conformanceEvent(
  id: string,
  { tenantId, testBankId, at, extensions }: ConformanceFacts,
): CaliperEvent {
  return {
    '@context': CALIPER_CONTEXT,
    id,
    type: 'Event',
    profile: 'GeneralProfile',
    actor: ENGINE_ACTOR,
    action: 'Completed',
    object: { id: entityIri(tenantId, 'bank', testBankId), type: 'Assessment' },
    eventTime: formatInstant(at),
    extensions,
  };
}

/**
 * Why an event is not acknowledged. `fault`: a call failed. `not-shown`: Caliper does not show the event, which it may have accepted a
 * moment ago. `another`: it shows something else under the event's id.
 */
export type EventDoubt =
  | { readonly kind: 'fault'; readonly fault: UpstreamFault }
  | { readonly kind: 'not-shown'; readonly fault: UpstreamFault }
  | { readonly kind: 'another'; readonly upstreamRequestId: string | undefined };

/** Emits an event, which is the same event however often it is emitted, and reads it back [MA-199, MA-202]. */
export async function emitAndReadBack(
  platform: Platform,
  event: CaliperEvent,
): Promise<Result<undefined, EventDoubt>> {
  const emitted = await platform.call(operations.emitEvent, { body: envelopeOf(event) });
  return emitted.ok ? readBack(platform, event) : err({ kind: 'fault', fault: emitted.error });
}

/** An event is acknowledged only by reading back that very event [MA-038]. */
export async function readBack(
  platform: Platform,
  event: CaliperEvent,
): Promise<Result<undefined, EventDoubt>> {
  const answer = await platform.call(operations.readEvidenceAck, { query: { eventIri: event.id } });
  if (!answer.ok) {
    const fault = answer.error;
    return err({ kind: fault.kind === 'not-found' ? 'not-shown' : 'fault', fault });
  }
  const { value, upstreamRequestId } = answer.value;
  return value.eventIri === event.id && says(value.event, event)
    ? ok(undefined)
    : err({ kind: 'another', upstreamRequestId });
}

/** Whether a stored event says everything that was sent; an owner may add members of its own. */
function says(stored: CaliperEvent, sent: CaliperEvent): boolean {
  return Object.entries(sent).every(
    ([name, value]) => stored[name] !== undefined && canonicalJson(stored[name]) === canonicalJson(value),
  );
}
