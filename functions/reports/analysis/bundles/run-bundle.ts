import type { Derived } from '#functions/reports/analysis/orders/derive-orders.ts';
import { omissionsOf } from '#functions/reports/analysis/omissions.ts';
import type { AnalysisPolicy } from '#shared/contract/reports/analysis-policy.ts';
import type { RunMetric } from '#shared/contract/reports/improvement-run.ts';
import type { RunReceipt } from '#shared/contract/reports/receipt-bundle.ts';
import type { Bundle } from '#shared/improvement/receipts.ts';
import type { EvidenceKey, EvidenceRecord, OrderRecord, RunProgress } from '#shared/improvement/records.ts';
import { formatInstant } from '#shared/kernel/instant.ts';
import { artifactOf, decisionsOf, headerOf, pinsOf } from './receipt-parts.ts';
import { fitsBundle, sealBundle } from './seal-bundle.ts';

/** A run of which everything is evaluated and every order has reached its receiver. */
export interface RunFacts {
  readonly progress: RunProgress;
  /** The one that the run is pinned to. */
  readonly policy: AnalysisPolicy;
  /** The decisions on each metric that is available. */
  readonly metrics: ReadonlyMap<RunMetric, Derived>;
}

/**
 * The receipt of a complete run: what it stands on, what it has decided, which orders it has given and what their receivers said
 * [RP-153, RP-215, RP-216]. Its only times are those of the run's records. Undefined where it would be larger than a bundle may be. Throws on
 * a run that is not complete [RP-217].
 */
export function runBundle({ progress, policy, metrics }: RunFacts): Bundle | undefined {
  const { run, evidence, orders } = progress;
  const records = new Map(evidence.map((record) => [record.key, record]));
  const content: Omit<RunReceipt, 'digest'> = {
    object: 'run_receipt',
    ...headerOf(run, policy),
    createdAt: formatInstant(run.createdAt),
    sourceSet: artifactOf('blueprint', run.pins.sourceSet),
    metrics: run.pins.metrics.map(({ metric, status, reasonCode, artifact, judged }) => ({
      metric,
      status,
      reasonCode,
      artifact: artifact === null ? null : artifactOf('analytics', artifact),
      ...(judged === undefined ? {} : { judged }),
      evaluatedAt:
        status === 'available' ? formatInstant(evaluated(records, `metric:${metric}`).evaluatedAt) : null,
      ...decisionsOf(status === 'available' ? decided(metrics, metric) : NOTHING_DECIDED),
    })),
    sources: run.pins.sources.map((source) => {
      const { evaluatedAt, comparisonOmitted, receipt } = evaluated(records, `source:${source.sourceKey}`);
      if (receipt === undefined) throw new TypeError('runBundle: a source has no bundle');
      return {
        sourceKey: source.sourceKey,
        ...pinsOf(source),
        comparisonOmitted: comparisonOmitted ?? false,
        evaluatedAt: formatInstant(evaluatedAt),
        receipt: { mediaType: receipt.mediaType, sha256: receipt.sha256 },
      };
    }),
    orders: orders.map(lifecycleOf),
    omissions: [...omissionsOf(progress)],
  };
  return fitsBundle(content) ? sealBundle<RunReceipt>(content) : undefined;
}

const NOTHING_DECIDED: Derived = { orders: [], withheld: [] };

function evaluated(records: ReadonlyMap<EvidenceKey, EvidenceRecord>, key: EvidenceKey): EvidenceRecord {
  const record = records.get(key);
  if (record === undefined) throw new TypeError('runBundle: an evidence is not evaluated');
  return record;
}

function decided(metrics: ReadonlyMap<RunMetric, Derived>, metric: RunMetric): Derived {
  const derived = metrics.get(metric);
  if (derived === undefined) throw new TypeError('runBundle: a metric has no decisions');
  return derived;
}

function lifecycleOf(order: OrderRecord): RunReceipt['orders'][number] {
  const { revisionOrderId, evidence, targetModule, status, supersedesRevisionOrderId, ack } = order;
  if (status === 'pending' || status === 'blocked_upstream')
    throw new TypeError('runBundle: an order is not delivered');
  return {
    revisionOrderId,
    evidence,
    targetModule,
    status,
    supersedesRevisionOrderId,
    receipt:
      ack === null
        ? null
        : {
            service: targetModule,
            resourceId: ack.receiptId,
            version: ack.version,
            observedAt: formatInstant(ack.observedAt),
          },
    createdAt: formatInstant(order.createdAt),
    updatedAt: formatInstant(order.updatedAt),
  };
}
