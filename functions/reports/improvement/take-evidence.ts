import { decisionsOf, fitsBundle, sourceBundle } from '#functions/reports/analysis/bundles.ts';
import type { DerivedOrder } from '#functions/reports/analysis/orders/derive-orders.ts';
import type { ReceiptStore } from '#shared/improvement/receipts.ts';
import { isOpen } from '#shared/improvement/records.ts';
import type { ImprovementStore, OrderRecord, RunProgress } from '#shared/improvement/records.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { UpstreamFault } from '#shared/platform/fault.ts';
import type { Platform } from '#shared/platform/platform.ts';
import * as operations from '#shared/platform/operations.ts';
import type { RevisionOrderRequest } from '#shared/platform/owners/revision-orders.ts';
import { evaluateEvidence, triedAt } from './evidence.ts';
import type { Evaluation, EvidenceFault, EvidenceGrounds, RunEvidence } from './evidence.ts';
import { mapConcurrent } from './map-concurrent.ts';

/** The inputs with which one invocation works on one run. */
export interface Worker extends EvidenceGrounds {
  readonly store: ImprovementStore;
  readonly receipts: ReceiptStore;
  readonly platform: Platform;
  /** Epoch milliseconds, never before the run was created: no record of a run is older than the run. */
  readonly now: () => number;
  /** Returns whether another step may begin: there is time for it, and the release gates of the worker are still open. */
  readonly shouldContinue: () => Promise<boolean>;
  /** Receivers that this worker has found missing: it does not ask them again. */
  readonly missing: Set<OrderRecord['targetModule']>;
  /** What this worker has recorded so far. */
  readonly tally: Tally;
}

/** Counts of what a worker has recorded, which show whether it made progress. */
export interface Tally {
  evaluated: number;
  opened: number;
  delivered: number;
  /** Orders whose receiver was missing, counted at each try. */
  blocked: number;
  /** The blocked orders that had not been blocked before. */
  newlyBlocked: number;
}

/** A recorded order, with the content that the evidence asks for. */
interface OpenedOrder {
  readonly record: OrderRecord;
  readonly derived: DerivedOrder;
}

/** How many orders are recorded, or sent to their receivers, at the same time. */
const LANES = 8;

/** The receiver of the orders of each module. */
const receivers = {
  bank: operations.orderBankRevision,
  blueprint: operations.orderBlueprintRevision,
} as const;

/**
 * Sends open orders to their receivers and records the responses. Only a response that echoes an order's id acknowledges the order; every other order
 * is `blocked_upstream`, to be tried again [RP-217, RP-219]. Once a receiver is missing, the rest of its orders are blocked without a call; a
 * receiver that refuses one order still gets the others. An order that a later one has superseded is not delivered any more; if that happens during
 * its delivery, its acknowledgement is recorded with it [RP-205]. Returns false if it had to stop before all were tried.
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
  // An order that was read minutes ago may have been acknowledged or superseded since.
  const current = await store.confirmOrder(run, record, now());
  if (current === undefined || !isOpen(current)) return;
  const answer = await platform.call(receivers[targetModule], {
    body: requestOf(derived, record),
    idempotencyKey: revisionOrderId,
  });
  if (!answer.ok || answer.value.value.revisionOrderId !== revisionOrderId) {
    if (!answer.ok && showsMissing(answer.error)) missing.add(targetModule);
    await block(worker, record, true);
    return;
  }
  const { decision, receiptId, version } = answer.value.value;
  const observedAt = now();
  // If it does not move, another worker has recorded the same acknowledgement.
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
  // An untried order stays unchanged, and comes before those that were tried.
  if (status === 'blocked_upstream' && !wasTried) return;
  const isMoved = await store.moveOrder(run, revisionOrderId, { status: 'blocked_upstream' }, now());
  if (isMoved && status === 'pending') tally.newlyBlocked += 1;
}

/** Returns whether a receiver takes no orders at all at the moment; any other response concerns only the one order. */
function showsMissing({ kind, status }: UpstreamFault): boolean {
  return (
    kind === 'unavailable' ||
    kind === 'not-found' ||
    kind === 'wrong-tenant' ||
    status === 401 ||
    status === 403
  );
}

/** Returns the request of an order: the same bytes from every worker, since all derives from pinned bytes and from the recorded `supersedes`. */
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

/** The progress of one piece of evidence; `isDone` is false if the worker had to stop before all of its orders were recorded and tried. */
export interface Taken {
  readonly evaluation: Evaluation;
  readonly isDone: boolean;
}

/**
 * Processes one piece of evidence as far as possible: reads it as it was pinned, records every order that it asks for, writes a source's bundle,
 * records the evidence as evaluated, delivers what is open. No step changes what is already recorded, so the function may end after any step and be
 * repeated.
 * @param progress the run's progress as the worker found it
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
  // Checked before any order is recorded: no bundle can ever show these decisions.
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

/** Returns the records of an evidence's orders and creates missing ones; returns undefined if it had to stop before all were created. */
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
