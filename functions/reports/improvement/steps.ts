import { decisionsOf, fitsBundle, sourceBundle } from '#functions/reports/analysis/bundles.ts';
import type { Derived, DerivedOrder } from '#functions/reports/analysis/orders/derive-orders.ts';
import type { RunMetric } from '#shared/contract/reports/improvement-run.ts';
import type { ReceiptStore } from '#shared/improvement/receipts.ts';
import { isUndelivered, type ImprovementStore, type OrderRecord } from '#shared/improvement/records.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { Platform } from '#shared/platform/platform.ts';
import * as operations from '#shared/platform/operations.ts';
import type { RevisionOrderRequest } from '#shared/platform/owners/revision-orders.ts';
import { verdicts } from '#shared/platform/verdicts.ts';
import { evaluateEvidence, triedAt } from './evidence.ts';
import type { Evaluation, EvidenceFault, EvidenceGrounds, LeftEvidence, RunEvidence } from './evidence.ts';
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
  /** Keys of the evidence that is recorded as evaluated. */
  readonly evaluated: ReadonlySet<string>;
  /** The records of the run's orders, as this worker has read or made them. */
  readonly orders: Map<string, OrderRecord>;
  /** What this worker has derived of the metrics. */
  readonly metrics: Map<RunMetric, Derived>;
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

/**
 * Takes one step of the work on a run, and returns the waves that it leads to, if any. Every step leaves the existing records as they are, so that the
 * worker may end after any step and another worker may take it again.
 */
type Step = () => Promise<Result<readonly Wave[], EvidenceFault> | undefined>;

/** Steps that may be under way at once. */
interface Wave {
  readonly steps: readonly Step[];
  /** Whether they record what was read and opened, even if no further step may begin. */
  readonly isRecording?: boolean;
}

/** How many steps of a wave are under way at once. */
const MAX_CONCURRENCY = 8;

/**
 * Evaluates what is left of a run and delivers its orders: a queue of waves, each followed by those that its steps lead to, until none is left,
 * a fault ends the run, or the worker may not continue. What is recorded then shows how far it came.
 */
export async function takeSteps(
  worker: Worker,
  remaining: readonly LeftEvidence[],
): Promise<Result<undefined, EvidenceFault>> {
  const queue = remaining.map((left): Wave => ({ steps: [() => evaluate(worker, left)] }));
  for (let wave = queue.shift(); wave !== undefined; wave = queue.shift()) {
    const following: Wave[] = [];
    const faults: EvidenceFault[] = [];
    const shouldContinue = wave.isRecording === true ? () => true : worker.shouldContinue;
    const isWhole = await mapConcurrent(MAX_CONCURRENCY, wave.steps, shouldContinue, async (step) => {
      const taken = await step();
      if (taken?.ok === true) following.push(...taken.value);
      if (taken?.ok === false) faults.push(taken.error);
    });
    const [fault] = faults;
    if (fault !== undefined) return err(fault);
    if (!isWhole) break;
    queue.unshift(...following);
  }
  return ok(undefined);
}

/** Reads an evidence as it was pinned. Its orders are opened before it is recorded, and delivered after that. */
async function evaluate(
  worker: Worker,
  { evidence, blocked }: LeftEvidence,
): Promise<Result<readonly Wave[], EvidenceFault>> {
  // Its orders would be read and derived again for nothing: they are blocked already.
  if (blocked !== undefined && [...blocked].every((module) => worker.missing.has(module))) return ok([]);
  const evaluated = await evaluateEvidence(worker, evidence);
  if (!evaluated.ok) return evaluated;
  const { derived } = evaluated.value;
  // Before any order is recorded: no bundle can ever show these decisions.
  if (!fitsBundle(decisionsOf(derived)))
    return err({ kind: 'unusable', service: evidence.kind === 'metric' ? 'analytics' : 'blueprint' });
  if (evidence.kind === 'metric') worker.metrics.set(evidence.metric, derived);
  return ok([
    { steps: derived.orders.map((order) => () => open(worker, evidence, order)) },
    { steps: [async () => ok([await record(worker, evidence, evaluated.value)])], isRecording: true },
  ]);
}

/** Records an order that the evidence asks for, where there is no record of it. */
async function open(
  { run, store, now, orders, tally }: Worker,
  evidence: RunEvidence,
  { content, lineage }: DerivedOrder,
): Promise<undefined> {
  const { revisionOrderId, targetModule } = content;
  if (orders.has(revisionOrderId)) return;
  const order = { revisionOrderId, evidence: evidence.key, targetModule, lineage };
  orders.set(revisionOrderId, await store.openOrder(run, order, now()));
  tally.opened += 1;
}

/** Writes the bundle of a source and records the evidence as evaluated, where it is not yet. Its open orders follow, the longest untried first. */
async function record(worker: Worker, { key }: RunEvidence, { aligned, derived }: Evaluation): Promise<Wave> {
  const { run, store, receipts, policy, now, evaluated, orders, tally } = worker;
  if (!evaluated.has(key)) {
    // A metric has no bundle.
    const bundle = aligned && sourceBundle({ run, policy, ...aligned });
    if (bundle !== undefined) await receipts.put(run.tenantId, bundle);
    await store.putEvidence(run, {
      key,
      evaluatedAt: now(),
      ...(bundle && { receipt: { sha256: bundle.sha256, mediaType: bundle.mediaType } }),
      ...(aligned && { comparisonOmitted: aligned.comparisonOmitted }),
    });
    tally.evaluated += 1;
  }
  const deliveries = derived.orders.flatMap((order) => {
    const opened = orders.get(order.content.revisionOrderId);
    return opened !== undefined && isUndelivered(opened) ? [{ opened, order }] : [];
  });
  return {
    steps: deliveries
      .toSorted((a, b) => triedAt(a.opened) - triedAt(b.opened))
      .map(
        ({ opened, order }) =>
          () =>
            deliver(worker, opened, order),
      ),
  };
}

/** Who takes the orders of each module. */
const receivers = {
  bank: operations.orderBankRevision,
  blueprint: operations.orderBlueprintRevision,
} as const;

/**
 * Delivers an order to its receiver and records the response. Only a response that echoes its id acknowledges an order; any other leaves it
 * `blocked_upstream`, to be tried again [RP-217, RP-219]. Once a receiver is missing, the rest of its orders are blocked without a call; one that refuses an
 * order still gets the others. An order that a later one has superseded is not delivered; if that happens during the delivery, its acknowledgement is
 * recorded too [RP-205].
 */
async function deliver(worker: Worker, opened: OrderRecord, derived: DerivedOrder): Promise<undefined> {
  const { run, store, platform, now, missing, tally } = worker;
  const { revisionOrderId, targetModule } = opened;
  if (missing.has(targetModule)) return block(worker, opened, false);
  // What was read minutes ago may be acknowledged or superseded by now.
  const current = await store.confirmOrder(run, opened, now());
  if (current === undefined || !isUndelivered(current)) return;
  const answer = await platform.call(receivers[targetModule], {
    body: requestOf(derived, opened),
    idempotencyKey: revisionOrderId,
  });
  if (!answer.ok) {
    // Anything else than a missing receiver concerns the one order.
    if (verdicts.order[answer.error.kind] === 'missing') missing.add(targetModule);
    return block(worker, opened, true);
  }
  const { decision, receiptId, version } = answer.value.value;
  const observedAt = now();
  const acknowledged = { status: decision, ack: { receiptId, version, observedAt } };
  // Where it does not move, another worker has recorded the same acknowledgement.
  await store.moveOrder(run, revisionOrderId, acknowledged, observedAt);
  tally.delivered += 1;
}

async function block(
  { run, store, now, tally }: Worker,
  { revisionOrderId, status }: OrderRecord,
  wasTried: boolean,
): Promise<undefined> {
  tally.blocked += 1;
  // Untried, it stays as it was, and comes before those that were tried.
  if (status === 'blocked_upstream' && !wasTried) return;
  const isMoved = await store.moveOrder(run, revisionOrderId, { status: 'blocked_upstream' }, now());
  if (isMoved && status === 'pending') tally.newlyBlocked += 1;
}

/** Returns the same bytes in every worker: they derive from pinned bytes, except for the superseded order, which is recorded. */
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
