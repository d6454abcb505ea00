import type { RunMetric } from '#shared/contract/reports/improvement-run.ts';
import type {
  EvidenceKey,
  OrderRecord,
  Pin,
  PinnedSource,
  RunPins,
  RunProgress,
} from '#shared/improvement/records.ts';

/** One thing that a run evaluates: a metric that is `available`, or a named source with its crosswalk and its comparison. */
export type RunEvidence =
  | { readonly kind: 'metric'; readonly key: EvidenceKey; readonly metric: RunMetric; readonly pin: Pin }
  | { readonly kind: 'source'; readonly key: EvidenceKey; readonly source: PinnedSource };

/** Everything that a run evaluates, in the order of its pins: only an available metric may ask for a revision [RP-159]. */
export function evidenceOf({ metrics, sources }: Pick<RunPins, 'metrics' | 'sources'>): RunEvidence[] {
  return [
    ...metrics.flatMap(({ metric, status, artifact }): RunEvidence[] =>
      status === 'available' && artifact !== null
        ? [{ kind: 'metric', key: `metric:${metric}`, metric, pin: artifact }]
        : [],
    ),
    ...sources.map((source): RunEvidence => ({ kind: 'source', key: `source:${source.sourceKey}`, source })),
  ];
}

/** What a worker still has to do of a run. */
export interface Remaining {
  /** Not evaluated, or with orders that nobody has been asked to take. */
  readonly fresh: readonly RunEvidence[];
  /** All evaluated and asked for, with orders whose receiver was missing; the longest untried first. */
  readonly blocked: readonly BlockedEvidence[];
}

export interface BlockedEvidence {
  readonly evidence: RunEvidence;
  /** Whom its undelivered orders are for. */
  readonly targets: ReadonlySet<OrderRecord['targetModule']>;
}

/** Sorts a run's evidence by what is left to do of it; what is in neither list is done. */
export function remainingOf({ run, evidence, orders }: RunProgress): Remaining {
  const evaluated = new Set(evidence.map(({ key }) => key));
  const pending = new Set(orders.filter(({ status }) => status === 'pending').map((order) => order.evidence));
  const blocked = Map.groupBy(
    orders.filter(({ status }) => status === 'blocked_upstream'),
    (order) => order.evidence,
  );
  const fresh: RunEvidence[] = [];
  const waiting: (BlockedEvidence & { readonly triedAt: number })[] = [];
  for (const item of evidenceOf(run.pins)) {
    const undelivered = blocked.get(item.key);
    if (!evaluated.has(item.key) || pending.has(item.key)) fresh.push(item);
    else if (undelivered !== undefined)
      waiting.push({
        evidence: item,
        targets: new Set(undelivered.map(({ targetModule }) => targetModule)),
        triedAt: undelivered.reduce((first, order) => Math.min(first, triedAt(order)), Infinity),
      });
  }
  return { fresh, blocked: waiting.toSorted((a, b) => a.triedAt - b.triedAt) };
}

/** When an order's receiver was last found missing: epoch milliseconds, 0 before it was. */
export function triedAt({ blockedAt }: { readonly blockedAt?: number }): number {
  return blockedAt ?? 0;
}
