import { formatInstant } from '#shared/kernel/instant.ts';
import { CALIPER_CONTEXT } from '#shared/platform/owners/caliper.ts';
import type { CaliperEnvelope, CaliperEvent } from '#shared/platform/owners/caliper.ts';

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
