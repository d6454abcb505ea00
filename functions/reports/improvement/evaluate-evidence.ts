import { judgeSource } from '#functions/reports/analysis/judge-source.ts';
import type { JudgedSource, SourceEvidence } from '#functions/reports/analysis/judge-source.ts';
import { deriveMetricOrders } from '#functions/reports/analysis/orders/derive-orders.ts';
import type { Derived, OrderGrounds } from '#functions/reports/analysis/orders/derive-orders.ts';
import {
  readPinnedComparison,
  readPinnedCrosswalk,
  readPinnedMetric,
  readTwice,
} from '#functions/reports/sources/pinned.ts';
import type { PinFault } from '#functions/reports/sources/pinned.ts';
import type { SourceReader } from '#functions/reports/sources/reader.ts';
import type { AnalysisPolicy } from '#shared/contract/reports/analysis-policy.ts';
import type { PinnedSource, RunRecord } from '#shared/improvement/records.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { AlignmentCrosswalk } from '#shared/platform/owners/content.ts';
import type { RunEvidence } from './evidence.ts';

/**
 * Why an evidence cannot be evaluated; `unusable`: the pinned crosswalk has no alignment, or what follows from the evidence is larger than a
 * bundle may be, now or ever.
 */
export type EvidenceFault =
  PinFault | { readonly kind: 'unusable'; readonly service: 'analytics' | 'blueprint' | 'unknown' };

/** What one evidence says under a policy: a function of the pinned bytes, so that every worker finds the same. */
export interface Evaluation {
  readonly derived: Derived;
  /** Of a source. */
  readonly aligned?: AlignedSource;
}

/** A named source with what its evidence says. */
export interface AlignedSource extends JudgedSource {
  readonly source: PinnedSource;
  readonly crosswalk: AlignmentCrosswalk;
}

/** Reads one evidence as it was pinned and derives its orders. */
export async function evaluateEvidence(
  reader: SourceReader,
  run: RunRecord,
  policy: AnalysisPolicy,
  evidence: RunEvidence,
): Promise<Result<Evaluation, EvidenceFault>> {
  const grounds = groundsOf(run, policy);
  if (evidence.kind === 'source') return evaluateSource(reader, run, grounds, evidence.source);
  const { metric, pin } = evidence;
  const artifact = await readTwice(() => readPinnedMetric(reader, run, metric, pin));
  return artifact.ok ? ok({ derived: deriveMetricOrders(grounds, pin, artifact.value.value) }) : artifact;
}

async function evaluateSource(
  reader: SourceReader,
  run: RunRecord,
  grounds: OrderGrounds,
  source: PinnedSource,
): Promise<Result<Evaluation, EvidenceFault>> {
  const [crosswalk, comparison] = await Promise.all([
    readTwice(() => readPinnedCrosswalk(reader, run, source)),
    readComparison(reader, run, source),
  ]);
  if (!crosswalk.ok) return crosswalk;
  if (!comparison.ok) return comparison;
  const { value } = crosswalk.value;
  const judged = judgeSource(grounds, {
    sourceKey: source.sourceKey,
    crosswalk: { pin: source.crosswalk, value },
    comparison: comparison.value,
  });
  if (!judged.ok) return err({ kind: 'unusable', service: 'blueprint' });
  return ok({ derived: judged.value.derived, aligned: { source, crosswalk: value, ...judged.value } });
}

/** The comparison of a source, where Analytics had one when the run was pinned. */
async function readComparison(
  reader: SourceReader,
  run: RunRecord,
  { sourceKey, comparison: pin }: PinnedSource,
): Promise<Result<SourceEvidence['comparison'], PinFault>> {
  if (pin === null || pin === 'missing') return ok(pin);
  const artifact = await readTwice(() => readPinnedComparison(reader, run, sourceKey, pin));
  return artifact.ok ? ok({ pin, artifact: artifact.value.value }) : artifact;
}

function groundsOf({ tenantId, administrationId, pins }: RunRecord, policy: AnalysisPolicy): OrderGrounds {
  const { contentTestSpecId, contentTestSpecVersion } = pins;
  return {
    tenantId,
    administrationId,
    contentTestSpecId,
    contentTestSpecVersion,
    policy,
  };
}
