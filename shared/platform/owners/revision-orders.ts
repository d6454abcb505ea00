import * as z from 'zod';
import { orderContent } from '#shared/contract/reports/order-content.ts';
import { reference } from '#shared/contract/reports/primitives.ts';
import { idempotentWrite } from '#shared/platform/operation.ts';
import { instant, ownerId, sha256, version } from './primitives.ts';

/** Bank and Blueprint: a revision order as they receive it. The same id always has the same bytes. */
export const revisionOrderRequest = orderContent.extend({
  supersedesRevisionOrderId: z.string().nullable(),
  /** The immutable artifacts that the order is based on. */
  evidence: z
    .array(z.strictObject({ resourceId: reference, sha256 }))
    .min(1)
    .max(32),
});
export type RevisionOrderRequest = z.infer<typeof revisionOrderRequest>;

/** Bank and Blueprint: their recorded answer. `replayed`: received before. `rejected`: received and refused permanently. */
export const revisionOrderAck = z.object({
  tenantId: ownerId,
  revisionOrderId: ownerId,
  receiptId: reference,
  version,
  decision: z.enum(['accepted', 'replayed', 'rejected']),
  receivedAt: instant,
});
export type RevisionOrderAck = z.infer<typeof revisionOrderAck>;

export const orderBankRevision = idempotentWrite({
  id: 'bank.receive_revision_order',
  path: '/core/bank/v1/revision-orders',
  body: revisionOrderRequest,
  answer: revisionOrderAck,
  uses: ['order'],
  echo: { revisionOrderId: 'revisionOrderId' },
  rule: 'Acknowledged only when the answer echoes the order’s id, which is also the `Idempotency-Key`: 201 first, 200 for its repetition, with the first receipt. The same id with other content is refused with 409.',
});

export const orderBlueprintRevision = idempotentWrite({
  id: 'blueprint.receive_revision_order',
  path: '/core/blueprint/v1/revision-orders',
  body: revisionOrderRequest,
  answer: revisionOrderAck,
  uses: ['order'],
  echo: { revisionOrderId: 'revisionOrderId' },
  rule: 'As the Bank’s.',
});
