import type { SourceFacts } from '#functions/reports/analysis/bundles.ts';
import { evaluateSource } from '#functions/reports/analysis/evaluate-source.ts';
import { deriveMetricOrders } from '#functions/reports/analysis/orders/derive-orders.ts';
import type { Compared, Derived } from '#functions/reports/analysis/orders/derive-orders.ts';
import { readPinnedArtifact, readPinnedCrosswalk, readTwice } from '#functions/reports/sources/pinned.ts';
import type { Observed } from '#functions/reports/facts/facts.ts';
import type { PinFault } from '#functions/reports/sources/pinned.ts';
import type { SourceReader } from '#functions/reports/sources/reader.ts';
import type { AnalysisPolicy } from '#shared/contract/reports/analysis-policy.ts';
import type { RunMetric } from '#shared/contract/reports/improvement-run.ts';
import type { SourceRef } from '#shared/contract/reports/source-ref.ts';
import { isCompared } from '#shared/improvement/records.ts';
import type {
  EvidenceKey,
  NoComparison,
  OrderRecord,
  PinnedRef,
  PinnedSource,
  RunPins,
  RunProgress,
  RunRecord,
} from '#shared/improvement/records.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { AlignmentSources } from '#shared/platform/owners/content.ts';

/** One piece of evidence that a run evaluates: an `available` metric, or a named source with its crosswalk and its comparison. */
export type RunEvidence =
  | {
      readonly kind: 'metric';
      readonly key: EvidenceKey;
      readonly metric: RunMetric;
      readonly pin: PinnedRef;
    }
  | { readonly kind: 'source'; readonly key: EvidenceKey; readonly source: PinnedSource };

/** Returns everything that a run evaluates, in the order of its pins: only an available metric may ask for a revision [RP-159]. */
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

/** Evidence that is not done yet. */
export interface LeftEvidence {
  readonly evidence: RunEvidence;
  /** The receivers of its undelivered orders, if nothing else is left; undefined if it is not evaluated, or if an order was never tried. */
  readonly blocked?: ReadonlySet<OrderRecord['targetModule']>;
}

/**
 * Returns the evidence of a run that is not done yet: first the evidence that is not evaluated or has orders that were never tried, then the evidence
 * with orders whose receiver was missing, the longest untried first.
 */
export function remainingOf({ run, evidence, orders }: RunProgress): readonly LeftEvidence[] {
  const evaluated = new Set(evidence.map(({ key }) => key));
  const pending = new Set(orders.filter(({ status }) => status === 'pending').map((order) => order.evidence));
  const undelivered = Map.groupBy(
    orders.filter(({ status }) => status === 'blocked_upstream'),
    (order) => order.evidence,
  );
  const left = evidenceOf(run.pins).flatMap((item): (LeftEvidence & { readonly since: number })[] => {
    if (!evaluated.has(item.key) || pending.has(item.key)) return [{ evidence: item, since: -Infinity }];
    const blocked = undelivered.get(item.key);
    if (blocked === undefined) return [];
    const since = blocked.reduce((first, order) => Math.min(first, triedAt(order)), Infinity);
    return [{ evidence: item, since, blocked: new Set(blocked.map(({ targetModule }) => targetModule)) }];
  });
  return left.toSorted((a, b) => (a.since === b.since ? 0 : a.since - b.since));
}

/** Returns when an order's receiver was last found missing: epoch milliseconds; 0 if it never was. */
export function triedAt({ blockedAt }: { readonly blockedAt?: number }): number {
  return blockedAt ?? 0;
}

/** Why evidence cannot be evaluated; `unusable`: the pinned crosswalk has no alignment, or the result will always exceed the size of a bundle. */
export type EvidenceFault =
  | PinFault
  | { readonly kind: 'unusable'; readonly service: 'analytics' | 'blueprint' | 'unknown' };

/** The decisions on one piece of evidence under a policy. They depend only on the pinned bytes, so that every worker finds the same. */
export interface Evaluation {
  readonly derived: Derived;
  /** Only for a source. */
  readonly aligned?: Omit<SourceFacts, 'run' | 'policy'>;
}

/** The shared inputs to read and judge every piece of evidence of a run. */
export interface EvidenceGrounds {
  readonly reader: SourceReader;
  readonly run: RunRecord;
  /** The policy that the run is pinned to. */
  readonly policy: AnalysisPolicy;
  /** Returns Content's list of the sources, as it was pinned: read once, even if the read fails. */
  readonly sourceSet: () => Promise<Result<Observed<AlignmentSources>, PinFault>>;
}

/** Reads one piece of evidence as it was pinned and derives its orders. */
export async function evaluateEvidence(
  { reader, run, policy, sourceSet: readSourceSet }: EvidenceGrounds,
  evidence: RunEvidence,
): Promise<Result<Evaluation, EvidenceFault>> {
  const { tenantId, administrationId, pins } = run;
  const { contentTestSpecId, contentTestSpecVersion, rules } = pins;
  const grounds = { tenantId, administrationId, contentTestSpecId, contentTestSpecVersion, policy, rules };
  if (evidence.kind === 'metric') {
    const { metric, pin } = evidence;
    const artifact = await readTwice(() => readPinnedArtifact(reader, run, pin, { kind: 'metric', metric }));
    return artifact.ok ? ok({ derived: deriveMetricOrders(grounds, pin, artifact.value.value) }) : artifact;
  }
  const { source } = evidence;
  const [crosswalk, comparison, sourceSet] = await Promise.all([
    readTwice(() => readPinnedCrosswalk(reader, run, source)),
    readComparison(reader, run, source),
    rules === '3' ? readSourceSet() : ok(undefined),
  ]);
  if (!crosswalk.ok) return crosswalk;
  if (!comparison.ok) return comparison;
  if (!sourceSet.ok) return sourceSet;
  const { value } = crosswalk.value;
  const evaluated = evaluateSource(grounds, {
    sourceKey: source.sourceKey,
    crosswalk: { pin: source.crosswalk, value },
    comparison: comparison.value,
    sourceSet: sourceSet.value?.value,
  });
  if (!evaluated.ok) return err({ kind: 'unusable', service: 'blueprint' });
  return ok({ derived: evaluated.value.derived, aligned: { source, crosswalk: value, ...evaluated.value } });
}

/** Reads the comparison of a source with its receipt, if Analytics had one when the run was pinned. */
export async function readComparison(
  reader: SourceReader,
  run: RunRecord,
  { sourceKey, comparison: pin }: PinnedSource,
): Promise<Result<(Compared & { readonly receipt: SourceRef }) | NoComparison, PinFault>> {
  if (!isCompared(pin)) return ok(pin);
  const read = await readTwice(() => readPinnedArtifact(reader, run, pin, { kind: 'comparison', sourceKey }));
  return read.ok ? ok({ pin, artifact: read.value.value, receipt: read.value.receipt }) : read;
}
