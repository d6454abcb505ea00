import { known } from '#functions/reports/facts/known.ts';
import type { MetricStatus, RunMetric } from '#shared/contract/reports/improvement-run.ts';
import type { PinnedMetric } from '#shared/improvement/records.ts';
import { compareInstants } from '#shared/kernel/instant.ts';
import type { AdministrationAnalysis, MetricArtifact } from '#shared/platform/owners/analytics.ts';

type Entry = AdministrationAnalysis['metrics'][number];

/**
 * What a run can do with one of its metrics: only an `available` one may trigger an order [RP-159]. What Analytics does not have, or does not
 * say completely, is `unavailable`; a state of tomorrow is `unknown`; suppression at either place holds before everything else.
 * @param entry Analytics' row of that metric, if any
 * @param artifact undefined when there was none to read
 */
export function judgeMetric(
  metric: RunMetric,
  entry: Entry | undefined,
  artifact: MetricArtifact | undefined,
): PinnedMetric {
  const pin = entry?.artifact;
  if (
    entry === undefined ||
    pin === undefined ||
    pin === null ||
    entry.status === 'unavailable' ||
    artifact?.metric !== metric
  )
    return { metric, status: 'unavailable', reasonCode: 'owner_artifact_missing', artifact: null };
  const status = statusOf(entry, artifact);
  if (!isComplete[status](artifact) || endsBeforeItStarts(artifact))
    return { metric, status: 'unavailable', reasonCode: 'owner_field_missing', artifact: null };
  return {
    metric,
    status,
    reasonCode: status === 'available' ? null : status,
    artifact: { ref: pin.artifactRef, sha256: pin.sha256 },
  };
}

/**
 * The row of a metric in its run. Its counts, window and formula are those of the artifact, and no count goes out of an artifact that is not
 * `not_suppressed`.
 * @param artifact the pinned one; undefined when it can no longer be read: then nothing is known of the metric but its id
 */
export function showMetric(
  { metric, status, reasonCode, artifact: pin }: PinnedMetric,
  artifact: MetricArtifact | undefined,
): MetricStatus {
  if (pin === null || artifact === undefined) {
    return {
      metric,
      ...(pin === null
        ? { status, artifactRef: null, reasonCode }
        : { status: 'unknown', artifactRef: pin.ref, reasonCode: 'owner_artifact_missing' }),
      populationCount: null,
      sampleCount: null,
      suppressionStatus: 'unknown',
      suppressionRule: null,
      analysisWindow: { start: null, end: null },
      formulaVersion: null,
    };
  }
  const isSuppressed = status === 'suppressed';
  const suppressionStatus = isSuppressed
    ? 'suppressed'
    : known(['not_suppressed'], artifact.suppression.status);
  const isOpen = suppressionStatus === 'not_suppressed';
  return {
    metric,
    status,
    artifactRef: pin.ref,
    populationCount: isOpen ? artifact.populationCount : null,
    sampleCount: isOpen ? artifact.sampleCount : null,
    suppressionStatus,
    suppressionRule: isSuppressed ? artifact.suppression.rule : null,
    analysisWindow: artifact.analysisWindow ?? { start: null, end: null },
    formulaVersion: artifact.formulaVersion,
    reasonCode,
  };
}

type Readable = Exclude<PinnedMetric['status'], 'unavailable'>;

/** Suppression comes first: rows that only one of the two places withholds are withheld. */
function statusOf(entry: Entry, { suppression }: MetricArtifact): Readable {
  if (entry.status === 'suppressed' || suppression.status === 'suppressed') return 'suppressed';
  if (entry.status === 'stale') return 'stale';
  return entry.status === 'available' && suppression.status === 'not_suppressed' ? 'available' : 'unknown';
}

/** Whether an artifact says all that its row must show [RP-161..RP-164]. */
const isComplete: Readonly<Record<Readable, (artifact: MetricArtifact) => boolean>> = {
  available: ({ populationCount, sampleCount, analysisWindow, formulaVersion }) =>
    populationCount !== null && sampleCount !== null && analysisWindow !== null && formulaVersion !== null,
  suppressed: ({ suppression, formulaVersion }) => suppression.rule !== null && formulaVersion !== null,
  stale: () => true,
  unknown: () => true,
};

/** Such a window is none, whatever else is said [RP-163]. */
function endsBeforeItStarts({ analysisWindow }: MetricArtifact): boolean {
  return analysisWindow !== null && compareInstants(analysisWindow.start, analysisWindow.end) > 0;
}
