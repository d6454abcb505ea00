import fc from 'fast-check';
import { expect, it } from 'vitest';
import { orderStatus, revisionOrder } from '#shared/contract/reports/revision-order.ts';
import { improveRun, orderRecord } from '#test/support/improvement-facts.ts';
import { frozen, moment } from '#test/support/report-facts.ts';
import { composeOrder } from './revision-order.ts';

const {
  run,
  derived: { orders },
} = improveRun().sourceFacts;

it('an order is what was derived, by the receipt of its evidence, with the state of its record, its receiver’s acknowledgement, and no change before it was made [RP-190, RP-191, RP-201, RP-202, RP-203, RP-204, RP-205, RP-206, RP-219]', () => {
  fc.assert(
    fc.property(fc.constantFrom(...orders), orderRecord(orderStatus.options), (derived, record) => {
      const { observedAt } = moment;
      const body = composeOrder({ run, record: frozen(record), derived: frozen(derived) }, observedAt);
      expect(revisionOrder.parse(body)).toEqual(body);
      const { ack, targetModule, status, supersedesRevisionOrderId, createdAt, updatedAt } = record;
      const { service, ref, sha256 } = derived.evidence;
      expect(body).toEqual({
        ...derived.content,
        improvementRunId: run.improvementRunId,
        evidenceRefs: [
          { service, resourceId: ref, observedAt, version: `sha256:${sha256}`, status: 'current' },
        ],
        status,
        targetReceipt: ack && {
          service: targetModule,
          resourceId: ack.receiptId,
          observedAt: new Date(ack.observedAt).toISOString(),
          version: ack.version,
          status: 'current',
        },
        supersedesRevisionOrderId,
        createdAt: new Date(createdAt).toISOString(),
        updatedAt: new Date(Math.max(createdAt, updatedAt)).toISOString(),
      });
    }),
  );
});
