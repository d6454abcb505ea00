import { decisionsOf, fitsBundle, sourceBundle } from '#functions/reports/analysis/bundles.ts';
import type { DerivedOrder } from '#functions/reports/analysis/orders/derive-orders.ts';
import type { RunProgress } from '#shared/improvement/records.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { Delivery, OpenedOrder } from './deliver.ts';
import { evaluateEvidence } from './evidence.ts';
import type { Evaluation, EvidenceFault, RunEvidence } from './evidence.ts';
import { mapConcurrent } from './map-concurrent.ts';
import type { Worker } from './worker.ts';

/** Orders that are recorded at once. */
const LANES = 8;

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
  delivery: Delivery,
): Promise<Result<Taken, EvidenceFault>> {
  const { run, store, receipts, reader, policy, tally } = worker;
  const evaluated = await evaluateEvidence(reader, run, policy, evidence);
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
  return ok({ evaluation, isDone: await delivery.deliver(opened) });
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
