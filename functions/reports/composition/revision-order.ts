import type * as z from 'zod';
import type { DerivedOrder } from '#functions/reports/analysis/orders/derive-orders.ts';
import type { revisionOrder } from '#shared/contract/reports/revision-order.ts';
import type { OrderRecord, RunRecord } from '#shared/improvement/records.ts';
import { formatInstant } from '#shared/kernel/instant.ts';

/**
 * Composes an order of a run: its content, derived again from the evidence, and its recorded progress.
 * @param facts `record` and `derived` of the same order id
 * @param observedAt when the artifact that it is based on was read
 */
export function composeOrder(
  facts: { readonly run: RunRecord; readonly record: OrderRecord; readonly derived: DerivedOrder },
  observedAt: string,
): z.input<typeof revisionOrder> {
  const { run, record, derived } = facts;
  const { status, targetModule, ack, supersedesRevisionOrderId, createdAt, updatedAt } = record;
  const { service, ref, sha256 } = derived.evidence;
  return {
    ...derived.content,
    improvementRunId: run.improvementRunId,
    evidenceRefs: [{ service, resourceId: ref, observedAt, version: `sha256:${sha256}`, status: 'current' }],
    status,
    // The order keeps it even if a later one supersedes it [RP-204].
    targetReceipt: ack && {
      service: targetModule,
      resourceId: ack.receiptId,
      observedAt: formatInstant(ack.observedAt),
      version: ack.version,
      status: 'current',
    },
    supersedesRevisionOrderId,
    createdAt: formatInstant(createdAt),
    updatedAt: formatInstant(updatedAt),
  };
}
