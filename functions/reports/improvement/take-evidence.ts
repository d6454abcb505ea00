import { decisionsOf, fitsBundle, sourceBundle } from '#functions/reports/analysis/bundles.ts';
import type { DerivedOrder } from '#functions/reports/analysis/orders/derive-orders.ts';
import type { ReceiptStore } from '#shared/improvement/receipts.ts';
import { isOpen } from '#shared/improvement/records.ts';
import type { ImprovementStore, OrderRecord, RunProgress } from '#shared/improvement/records.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { Platform } from '#shared/platform/platform.ts';
import * as operations from '#shared/platform/operations.ts';
import type { RevisionOrderRequest } from '#shared/platform/owners/revision-orders.ts';
import { verdicts } from '#shared/platform/verdicts.ts';
import { evaluateEvidence, triedAt } from './evidence.ts';
import type { Evaluation, EvidenceFault, EvidenceGrounds, RunEvidence } from './evidence.ts';
import { mapConcurrent } from './map-concurrent.ts';

/** What one invocation works on one run with. */
export interface Worker extends EvidenceGrounds {
  readonly store: ImprovementStore;
  readonly receipts: ReceiptStore;
  readonly platform: Platform;
  /** Epoch milliseconds, never before the run was created: what is recorded of a run is not older than the run. */
  readonly now: () => number;
  /** Whether another step may begin: there is time for it, and what the worker waits for is released still. */
  readonly shouldContinue: () => Promise<boolean>;
  /** Receivers that this worker has found missing: they are not asked again. */
  readonly missing: Set<OrderRecord['targetModule']>;
  /** What this worker has recorded so far. */
  readonly tally: Tally;
}

/** How many of each a worker has recorded: what it has done, and whether it has got on. */
export interface Tally {
  evaluated: number;
  opened: number;
  delivered: number;
  /** Orders whose receiver was missing, counted each time. */
  blocked: number;
  /** Those of them that had not been blocked before. */
  newlyBlocked: number;
}

/** An order as it is recorded, with what the evidence asks for. */
interface OpenedOrder {
  readonly record: OrderRecord;
  readonly derived: DerivedOrder;
}

/** Orders that are recorded, or under way to their receivers, at once. */
const LANES = 8;

/** Who takes the orders of each module. */
const receivers = {
  bank: operations.orderBankRevision,
  blueprint: operations.orderBlueprintRevision,
} as const;

/**
 * Hands open orders to their receivers and records what these say. An order is acknowledged by an answer that echoes its id and by nothing
 * else; every other one is `blocked_upstream`, to be tried again [RP-217, RP-219]. Once a receiver is missing, the rest of its orders are
 * blocked without a call; a receiver that refuses one order is asked for the others. What a later order has superseded is not delivered any
 * more; where that happens while it is under way, its acknowledgement is recorded with it [RP-205]. False when it had to stop before all were
 * tried.
 */
function deliverOrders(worker: Worker, orders: readonly OpenedOrder[]): Promise<boolean> {
  const open = orders.filter(({ record }) => isOpen(record));
  const inTurn = open.toSorted((a, b) => triedAt(a.record) - triedAt(b.record));
  return mapConcurrent(LANES, inTurn, worker.shouldContinue, (order) => deliver(worker, order));
}

async function deliver(worker: Worker, { record, derived }: OpenedOrder): Promise<void> {
  const { run, store, platform, now, missing, tally } = worker;
  const { revisionOrderId, targetModule } = record;
  if (missing.has(targetModule)) {
    await block(worker, record, false);
    return;
  }
  // What was read minutes ago may be acknowledged or superseded by now.
  const current = await store.confirmOrder(run, record, now());
  if (current === undefined || !isOpen(current)) return;
  const answer = await platform.call(receivers[targetModule], {
    body: requestOf(derived, record),
    idempotencyKey: revisionOrderId,
  });
  if (!answer.ok) {
    // Anything else than a missing receiver concerns the one order.
    if (verdicts.order[answer.error.kind] === 'missing') missing.add(targetModule);
    await block(worker, record, true);
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

async function block(
  { run, store, now, tally }: Worker,
  { revisionOrderId, status }: OrderRecord,
  wasTried: boolean,
): Promise<void> {
  tally.blocked += 1;
  // Untried, it stays as it was, and comes before those that were tried.
  if (status === 'blocked_upstream' && !wasTried) return;
  const isMoved = await store.moveOrder(run, revisionOrderId, { status: 'blocked_upstream' }, now());
  if (isMoved && status === 'pending') tally.newlyBlocked += 1;
}

/** The same bytes whoever sends it: all of it is derived from pinned bytes, but what it supersedes, which is recorded. */
function requestOf(
  { content, evidence }: DerivedOrder,
  { supersedesRevisionOrderId }: OrderRecord,
): RevisionOrderRequest {
  return {
    ...content,
    supersedesRevisionOrderId,
    evidence: [{ resourceId: evidence.ref, sha256: evidence.sha256 }],
  };
}

/** How far an evidence has come; `isDone` is false when it had to stop before all of its orders were recorded and tried. */
export interface Taken {
  readonly evaluation: Evaluation;
  readonly isDone: boolean;
}

/**
 * Takes one evidence as far as it goes: reads it as it was pinned, records every order that it asks for, writes a source's bundle, records
 * the evidence as evaluated, delivers what is open. Each step leaves what is recorded already as it is, so that it may end after any of
 * them and be done again.
 * @param progress as the worker has found it
 */
export async function takeEvidence(
  worker: Worker,
  progress: Pick<RunProgress, 'evidence' | 'orders'>,
  evidence: RunEvidence,
): Promise<Result<Taken, EvidenceFault>> {
  const { run, store, receipts, policy, tally } = worker;
  const evaluated = await evaluateEvidence(worker, evidence);
  if (!evaluated.ok) return evaluated;
  const evaluation = evaluated.value;
  // Before any order is recorded: no bundle can ever show these decisions.
  if (!fitsBundle(decisionsOf(evaluation.derived)))
    return err({ kind: 'unusable', service: evidence.kind === 'metric' ? 'analytics' : 'blueprint' });
  const opened = await openOrders(worker, progress, evidence, evaluation.derived.orders);
  if (opened === undefined) return ok({ evaluation, isDone: false });
  if (!progress.evidence.some(({ key }) => key === evidence.key)) {
    const { aligned } = evaluation;
    // A metric has no bundle.
    const bundle = aligned && sourceBundle({ run, policy, ...aligned });
    if (bundle !== undefined) await receipts.put(run.tenantId, bundle);
    await store.putEvidence(run, {
      key: evidence.key,
      evaluatedAt: worker.now(),
      ...(bundle && { receipt: { sha256: bundle.sha256, mediaType: bundle.mediaType } }),
      ...(aligned && { comparisonOmitted: aligned.comparisonOmitted }),
    });
    tally.evaluated += 1;
  }
  return ok({ evaluation, isDone: await deliverOrders(worker, opened) });
}

/** The records of an evidence's orders, made where there is none; undefined when it had to stop before all were made. */
async function openOrders(
  { run, store, now, shouldContinue, tally }: Worker,
  { orders }: Pick<RunProgress, 'orders'>,
  { key }: RunEvidence,
  derivedOrders: readonly DerivedOrder[],
): Promise<readonly OpenedOrder[] | undefined> {
  const known = new Map(orders.map((record) => [record.revisionOrderId, record]));
  const opened = new Map<string, OpenedOrder>();
  const isWhole = await mapConcurrent(LANES, derivedOrders, shouldContinue, async (derived) => {
    const { revisionOrderId, targetModule } = derived.content;
    let record = known.get(revisionOrderId);
    if (record === undefined) {
      const { lineage } = derived;
      record = await store.openOrder(run, { revisionOrderId, evidence: key, targetModule, lineage }, now());
      tally.opened += 1;
    }
    opened.set(revisionOrderId, { record, derived });
  });
  return isWhole ? [...opened.values()] : undefined;
}
