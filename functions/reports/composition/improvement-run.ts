import type * as z from 'zod';
import { showMetric } from '#functions/reports/analysis/metrics/evaluate-metric.ts';
import { omissionsOf } from '#functions/reports/analysis/omissions.ts';
import { omission, type improvementRun, type RunMetric } from '#shared/contract/reports/improvement-run.ts';
import type { ReceiptLink } from '#shared/contract/reports/receipt-link.ts';
import { mergeReceipts, type SourceRef } from '#shared/contract/reports/source-ref.ts';
import type { RunProgress } from '#shared/improvement/records.ts';
import { formatInstant } from '#shared/kernel/instant.ts';
import type { MetricArtifact } from '#shared/platform/owners/analytics.ts';
import type { Moment } from '../facts/facts.ts';

/** The owners' facts in an improvement run: the artifacts read for its pinned metrics, and one receipt per source consulted. */
export interface RunEvidence {
  readonly artifacts: ReadonlyMap<RunMetric, MetricArtifact | undefined>;
  readonly sources: readonly SourceRef[];
}

/**
 * Composes an improvement run from its records and the current artifacts of its pinned metrics. A metric whose artifact is lost is an omission too
 * [RP-166]: only a `failed` run shows it, since for any other run the reading has failed with a 503.
 * @param facts `receipt`: null unless the run is complete
 */
export function composeImprovementRun(
  facts: RunEvidence & { readonly progress: RunProgress; readonly receipt: ReceiptLink | null },
  moment: Moment,
): z.input<typeof improvementRun> {
  const { progress, artifacts, sources, receipt } = facts;
  const { run, evidence, orders } = progress;
  const { pins, createdAt, completedAt } = run;
  const metricStatuses = pins.metrics.map((pinned) => showMetric(pinned, artifacts.get(pinned.metric)));
  const omitted = new Set<string>(omissionsOf(progress));
  for (const { metric, status } of metricStatuses) if (status !== 'available') omitted.add(metric);
  const aligned = new Set(evidence.filter(({ receipt: own }) => own !== undefined).map(({ key }) => key));
  return {
    object: 'improvement_run',
    improvementRunId: run.improvementRunId,
    administrationId: run.administrationId,
    contentTestSpecId: pins.contentTestSpecId,
    contentTestSpecVersion: pins.contentTestSpecVersion,
    status: run.state,
    analysisPolicyId: pins.analysisPolicy.id,
    analysisPolicyVersion: pins.analysisPolicy.version,
    formulaVersion: pins.formulaVersion,
    metricStatuses,
    namedSourceCount: pins.sources.length,
    sourceKeys: pins.sources.map(({ sourceKey }) => sourceKey),
    alignmentRecordCount: pins.sources.filter(({ sourceKey }) => aligned.has(`source:${sourceKey}`)).length,
    revisionOrderCount: orders.length,
    blockedOrderCount: orders.filter(({ status }) => status === 'blocked_upstream').length,
    omissions: omission.options.filter((name) => omitted.has(name)),
    receipt,
    createdAt: formatInstant(createdAt),
    completedAt: completedAt === undefined ? null : formatInstant(completedAt),
    sources: mergeReceipts(sources),
    ...moment,
  };
}
