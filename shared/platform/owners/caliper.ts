import * as z from 'zod';
import { idempotentWrite, readFor } from '#shared/platform/operation.ts';
import { ownerId } from './primitives.ts';

export const CALIPER_CONTEXT = 'http://purl.imsglobal.org/ctx/caliper/v1p2';

const caliperInstant = z.string().regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);

/** A Caliper 1.2 event; its members beyond the required ones depend on its type and profile. */
export const caliperEvent = z.looseObject({
  '@context': z.literal(CALIPER_CONTEXT),
  id: z.string().regex(/^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
  type: z.string().min(1),
  profile: z.string().min(1).optional(),
  actor: z.looseObject({ id: z.string().min(1), type: z.string().min(1) }),
  action: z.string().min(1),
  object: z.looseObject({ id: z.string().min(1), type: z.string().min(1) }),
  eventTime: caliperInstant,
});
export type CaliperEvent = z.infer<typeof caliperEvent>;

/** A Caliper 1.2 envelope: exactly these four members. */
export const caliperEnvelope = z.strictObject({
  sensor: z.string().min(1),
  sendTime: caliperInstant,
  dataVersion: z.literal(CALIPER_CONTEXT),
  data: z.array(caliperEvent).min(1),
});
export type CaliperEnvelope = z.infer<typeof caliperEnvelope>;

/** The platform's read-back of one stored event, an extension of Caliper [MA-038]. */
const storedEvent = z.looseObject({
  tenantId: ownerId,
  eventIri: z.string().min(1),
  event: caliperEvent,
});

export const emitEvent = idempotentWrite({
  id: 'caliper.emit_completion_or_simulation',
  path: '/caliper/v1p2/events',
  status: 'bound',
  success: [200, 201, 202, 204],
  body: caliperEnvelope,
  answer: z.undefined(),
  uses: ['start', 'write', 'report'],
  echo: {},
  bodyIgnored: true,
  tenantInAnswer: false,
  rule: 'The same event id is the same event. Learner completion only after Results.',
});

export const readEvidenceAck = readFor(
  'start',
  'read-back',
  'report',
)({
  id: 'caliper.read_evidence_ack',
  path: '/caliper/v1p2/events',
  query: ['eventIri'],
  status: 'bound',
  answer: storedEvent,
  echo: { eventIri: 'eventIri' },
  rule: 'The event IRI and the generated refs are those of the emitted event; anything else is no acknowledgement.',
});
