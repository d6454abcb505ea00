import { decisionsOf, fitsBundle, sourceBundle } from '#functions/reports/analysis/bundles.ts';
import type { Derived, DerivedOrder } from '#functions/reports/analysis/orders/derive-orders.ts';
import type { RunMetric } from '#shared/contract/reports/improvement-run.ts';
import type { ReceiptStore } from '#shared/improvement/receipts.ts';
import { isOpen, type ImprovementStore, type OrderRecord } from '#shared/improvement/records.ts';
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
 * One step of the work on a run. Every step leaves what is recorded already as it is, so that the worker may end after any of them and another
 * one may take it again.
 */
type Step =
  | { readonly kind: 'evaluate'; readonly left: LeftEvidence }
  | { readonly kind: 'open'; readonly evidence: RunEvidence; readonly derived: DerivedOrder }
  | { readonly kind: 'record'; readonly evidence: RunEvidence; readonly evaluation: Evaluation }
  | { readonly kind: 'deliver'; readonly record: OrderRecord; readonly derived: DerivedOrder };
type StepOf<Kind extends Step['kind']> = Extract<Step, { readonly kind: Kind }>;

/** Steps that may be under way at once. */
type Wave = readonly Step[];

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
  const queue = remaining.map((left): Wave => [{ kind: 'evaluate', left }]);
  for (let wave = queue.shift(); wave !== undefined; wave = queue.shift()) {
    const following: Wave[] = [];
    const faults: EvidenceFault[] = [];
    // What was read and opened is recorded even if no further step may begin.
    const shouldContinue = wave[0]?.kind === 'record' ? () => true : worker.shouldContinue;
    const isWhole = await mapConcurrent(MAX_CONCURRENCY, wave, shouldContinue, async (step) => {
      const taken = await take(worker, step);
      if (taken.ok) following.push(...taken.value);
      else faults.push(taken.error);
    });
    const [fault] = faults;
    if (fault !== undefined) return err(fault);
    if (!isWhole) break;
    queue.unshift(...following);
  }
  return ok(undefined);
}

/** Takes a step and returns the waves that it leads to. */
async function take(worker: Worker, step: Step): Promise<Result<readonly Wave[], EvidenceFault>> {
  switch (step.kind) {
    case 'evaluate':
      return evaluate(worker, step.left);
    case 'open':
      await open(worker, step);
      return ok([]);
    case 'record':
      return ok([await record(worker, step)]);
    case 'deliver':
      await deliver(worker, step);
      return ok([]);
  }
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
  const evaluation = evaluated.value;
  const { derived } = evaluation;
  // Before any order is recorded: no bundle can ever show these decisions.
  if (!fitsBundle(decisionsOf(derived)))
    return err({ kind: 'unusable', service: evidence.kind === 'metric' ? 'analytics' : 'blueprint' });
  if (evidence.kind === 'metric') worker.metrics.set(evidence.metric, derived);
  return ok([
    derived.orders.map((order) => ({ kind: 'open', evidence, derived: order })),
    [{ kind: 'record', evidence, evaluation }],
  ]);
}

/** Records an order that the evidence asks for, where there is no record of it. */
async function open(
  { run, store, now, orders, tally }: Worker,
  { evidence, derived: { content, lineage } }: StepOf<'open'>,
): Promise<void> {
  const { revisionOrderId, targetModule } = content;
  if (orders.has(revisionOrderId)) return;
  const order = { revisionOrderId, evidence: evidence.key, targetModule, lineage };
  orders.set(revisionOrderId, await store.openOrder(run, order, now()));
  tally.opened += 1;
}

/** Writes the bundle of a source and records the evidence as evaluated, where it is not yet. Its open orders follow, the longest untried first. */
async function record(
  { run, store, receipts, policy, now, evaluated, orders, tally }: Worker,
  { evidence: { key }, evaluation: { aligned, derived } }: StepOf<'record'>,
): Promise<Wave> {
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
  const deliveries = derived.orders.flatMap((order): StepOf<'deliver'>[] => {
    const opened = orders.get(order.content.revisionOrderId);
    return opened !== undefined && isOpen(opened)
      ? [{ kind: 'deliver', record: opened, derived: order }]
      : [];
  });
  return deliveries.toSorted((a, b) => triedAt(a.record) - triedAt(b.record));
}

/** Who takes the orders of each module. */
const receivers = {
  bank: operations.orderBankRevision,
  blueprint: operations.orderBlueprintRevision,
} as const;

/**
 * Hands an order to its receiver and records the answer. Only an answer that echoes its id acknowledges an order; every
 * other one is `blocked_upstream`, to be tried again [RP-217, RP-219]. Once a receiver is missing, the rest of its orders are blocked without a
 * call; a receiver that refuses one order is asked for the others. What a later order has superseded is not delivered any more; where that
 * happens while it is under way, its acknowledgement is recorded with it [RP-205].
 */
async function deliver(worker: Worker, { record: opened, derived }: StepOf<'deliver'>): Promise<void> {
  const { run, store, platform, now, missing, tally } = worker;
  const { revisionOrderId, targetModule } = opened;
  if (missing.has(targetModule)) return block(worker, opened, false);
  // What was read minutes ago may be acknowledged or superseded by now.
  const current = await store.confirmOrder(run, opened, now());
  if (current === undefined || !isOpen(current)) return;
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
): Promise<void> {
  tally.blocked += 1;
  // Untried, it stays as it was, and comes before those that were tried.
  if (status === 'blocked_upstream' && !wasTried) return;
  const isMoved = await store.moveOrder(run, revisionOrderId, { status: 'blocked_upstream' }, now());
  if (isMoved && status === 'pending') tally.newlyBlocked += 1;
}

/** Returns the request of an order, the same bytes from every worker: it is derived from pinned bytes, except the recorded order that it supersedes. */
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
