import type { DerivedOrder } from '#functions/reports/analysis/orders/derive-orders.ts';
import { isOpen } from '#shared/improvement/records.ts';
import type { OrderRecord } from '#shared/improvement/records.ts';
import type { UpstreamFault } from '#shared/platform/fault.ts';
import * as operations from '#shared/platform/operations.ts';
import type { RevisionOrderRequest } from '#shared/platform/owners/revision-orders.ts';
import { triedAt } from './evidence.ts';
import { mapConcurrent } from './map-concurrent.ts';
import type { Worker } from './worker.ts';

/** An order as it is recorded, with what the evidence asks for. */
export interface OpenedOrder {
  readonly record: OrderRecord;
  readonly derived: DerivedOrder;
}

/** The delivery of orders in one invocation. */
export interface Delivery {
  /** Hands open orders to their receivers and records what these say; false when it had to stop before all were tried. */
  readonly deliver: (orders: readonly OpenedOrder[]) => Promise<boolean>;
  /** Whether a receiver has been found missing: it is not asked again. */
  readonly isMissing: (module: OrderRecord['targetModule']) => boolean;
}

/** Orders under way at once. */
const LANES = 8;

/** Who takes the orders of each module. */
const receivers = {
  bank: operations.orderBankRevision,
  blueprint: operations.orderBlueprintRevision,
} as const;

/**
 * Opens the delivery of one invocation. An order is acknowledged by an answer that echoes its id and by nothing else; every other one is
 * `blocked_upstream`, to be tried again [RP-217, RP-219]. Once a receiver is missing, the rest of its orders are blocked without a call; a
 * receiver that refuses one order is asked for the others. What a later order has superseded is not delivered any more; where that happens
 * while it is under way, its acknowledgement is recorded with it [RP-205].
 */
export function createDelivery({ run, store, platform, now, shouldContinue, tally }: Worker): Delivery {
  const missing = new Set<OrderRecord['targetModule']>();

  async function block({ revisionOrderId, status }: OrderRecord, wasTried: boolean): Promise<void> {
    tally.blocked += 1;
    // Untried, it stays as it was, and comes before those that were tried.
    if (status === 'blocked_upstream' && !wasTried) return;
    const isMoved = await store.moveOrder(run, revisionOrderId, { status: 'blocked_upstream' }, now());
    if (isMoved && status === 'pending') tally.newlyBlocked += 1;
  }

  async function deliver({ record, derived }: OpenedOrder): Promise<void> {
    const { revisionOrderId, targetModule } = record;
    if (missing.has(targetModule)) {
      await block(record, false);
      return;
    }
    // What was read minutes ago may be acknowledged or superseded by now.
    const current = await store.confirmOrder(run, record, now());
    if (current === undefined || !isOpen(current)) return;
    const answer = await platform.call(receivers[targetModule], {
      body: requestOf(derived, record),
      idempotencyKey: revisionOrderId,
    });
    if (!answer.ok || answer.value.value.revisionOrderId !== revisionOrderId) {
      if (!answer.ok && showsMissing(answer.error)) missing.add(targetModule);
      await block(record, true);
      return;
    }
    const { decision, receiptId, version } = answer.value.value;
    const observedAt = now();
    // Where it does not move, another worker has recorded the same acknowledgement.
    await store.moveOrder(
      run,
      revisionOrderId,
      { status: decision, ack: { receiptId, version, observedAt } },
      observedAt,
    );
    tally.delivered += 1;
  }

  return {
    deliver(orders) {
      const open = orders.filter(({ record }) => isOpen(record));
      const inTurn = open.toSorted((a, b) => triedAt(a.record) - triedAt(b.record));
      return mapConcurrent(LANES, inTurn, shouldContinue, deliver);
    },
    isMissing: (module) => missing.has(module),
  };
}

/** Whether a receiver takes no orders at all just now; anything else that it says concerns the one order. */
function showsMissing({ kind, status }: UpstreamFault): boolean {
  return (
    kind === 'unavailable' ||
    kind === 'not-found' ||
    kind === 'wrong-tenant' ||
    status === 401 ||
    status === 403
  );
}

/** The same bytes whoever sends it: all of it is derived from pinned bytes, but what it supersedes, which is recorded. */
function requestOf(
  { content, evidence }: DerivedOrder,
  { supersedesRevisionOrderId }: OrderRecord,
): RevisionOrderRequest {
  return {
    ...content,
    supersedesRevisionOrderId,
    evidence: evidence.map(({ ref, sha256 }) => ({ resourceId: ref, sha256 })),
  };
}
