import * as z from 'zod';
import { sourceService } from './problem.ts';
import { instant, reference, text } from './primitives.ts';

/** Freshness of one source. Every required source of a success is `current` [RP-087]. */
const sourceStatus = z.enum(['current', 'stale', 'unavailable', 'unknown']);

/** The receipt of one consulted upstream resource [RP-006, RP-085, RP-086]. */
export const sourceRef = z.strictObject({
  service: sourceService,
  resourceId: reference,
  observedAt: instant,
  version: text.nullable(),
  status: sourceStatus,
});
export type SourceRef = z.infer<typeof sourceRef>;

/** Returns what identifies a receipt: the owner, the resource and its version. */
export function receiptKey({
  service,
  resourceId,
  version,
}: SourceRef): readonly [string, string, string | null] {
  return [service, resourceId, version];
}

/**
 * Returns receipts without repetitions, in the order of the first ones. If two differ in status, the one that is not current stays: the later
 * statement.
 */
export function mergeReceipts(receipts: Iterable<SourceRef>): SourceRef[] {
  const merged = new Map<string, SourceRef>();
  for (const receipt of receipts) {
    const key = JSON.stringify(receiptKey(receipt));
    const held = merged.get(key);
    if (held === undefined || (held.status === 'current' && receipt.status !== 'current'))
      merged.set(key, receipt);
  }
  return [...merged.values()];
}

/** Receipts: one per resource read and version of it [RP-084]. */
export const receipts = z
  .array(sourceRef)
  .min(1)
  .refine((all) => mergeReceipts(all).length === all.length, 'no receipt repeats');
export const sources = receipts.max(32);
