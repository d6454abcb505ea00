import { canonicalJson } from '#shared/kernel/canonical-json.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { UpstreamFault } from '#shared/platform/fault.ts';
import * as operations from '#shared/platform/operations.ts';
import type { CaliperEvent } from '#shared/platform/owners/caliper.ts';
import type { Platform } from '#shared/platform/platform.ts';
import { envelopeOf } from './caliper-event.ts';

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
