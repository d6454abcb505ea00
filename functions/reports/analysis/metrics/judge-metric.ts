import { known } from '#functions/reports/facts/known.ts';
import { bindingSubjects, metrics, type AnalysisPolicy } from '#shared/contract/reports/analysis-policy.ts';
import type { MetricStatus, RunMetric } from '#shared/contract/reports/improvement-run.ts';
import { firstBroken } from '#shared/contract/reports/invariants/invariant.ts';
import { metricInvariants, type JudgedMetric } from '#shared/contract/reports/invariants/metric.ts';
import type { PinnedMetric, RunPins } from '#shared/improvement/records.ts';
import type { AdministrationAnalysis, MetricArtifact } from '#shared/platform/owners/analytics.ts';

type Entry = AdministrationAnalysis['metrics'][number];
type Row = MetricArtifact['rows'][number];

/**
 * What a run can do with one of its metrics: only an `available` one may trigger an order [RP-159]. What Analytics does not have, does not say
 * completely or contradicts, is `unavailable`; a state of tomorrow is `unknown`; suppression at either place holds before everything else.
 * @param entry Analytics' row of that metric, if any
 * @param artifact `unreachable` when Analytics gave no usable answer; undefined when there is none
 */
export function judgeMetric(
  metric: RunMetric,
  entry: Entry | undefined,
  artifact: MetricArtifact | 'unreachable' | undefined,
  policy: Pick<AnalysisPolicy, 'triggers'>,
): PinnedMetric {
  const unavailable = (
    reasonCode: 'owner_artifact_missing' | 'owner_field_missing' | 'receiver_unavailable',
  ): PinnedMetric => ({ metric, status: 'unavailable', reasonCode, artifact: null });
  if (!entry?.artifact || entry.status === 'unavailable' || artifact === undefined)
    return unavailable('owner_artifact_missing');
  if (artifact === 'unreachable') return unavailable('receiver_unavailable');
  if (artifact.metric !== metric) return unavailable('owner_artifact_missing');
  const status = statusOf(entry, artifact);
  const shown = judgedMetric(metric, status, artifact);
  if (!isComplete(status, artifact) || isContradictory(shown, '3')) return unavailable('owner_field_missing');
  const { artifactRef: ref, sha256 } = entry.artifact;
  const pinned = { metric, artifact: { ref, sha256 } };
  if (status !== 'available') return { ...pinned, status, reasonCode: status };
  const judged = judgedRows(metric, artifact.rows, policy);
  return judged === 'none'
    ? unavailable('owner_field_missing')
    : { ...pinned, status, reasonCode: null, judged };
}

/** What of an artifact has to be true for a metric of that status: what it shows, and rows that may ask for an order. */
export function judgedMetric(
  metric: RunMetric,
  status: PinnedMetric['status'],
  { analysisWindow, suppression, rows, ...artifact }: MetricArtifact,
): JudgedMetric {
  const { samplingUnit = 'learners', populationCount, sampleCount } = artifact;
  const isShown = status !== 'suppressed' && suppression.status === 'not_suppressed';
  const [population, sample] = isShown && samplingUnit === 'learners' ? [populationCount, sampleCount] : [];
  return {
    ...{ metric, analysisWindow, rows: status === 'available' ? rows : [] },
    ...{ populationCount: population ?? null, sampleCount: sample ?? null },
  };
}

/** Whether a metric cannot be true. Runs of earlier rules were judged by window and values alone. */
export function isContradictory(judged: JudgedMetric, rules: RunPins['rules']): boolean {
  const { 'window-in-order': window, 'value-of-its-measure': values } = metricInvariants;
  return firstBroken(rules === '3' ? metricInvariants : { window, values }, judged) !== undefined;
}

/**
 * How many rows of a metric its triggers can judge: with their measures and the subjects that they require. `some` where any row has to be left
 * out by any trigger. A metric that no trigger looks at needs a row with one of its measures.
 */
export function judgedRows(
  metric: RunMetric,
  rows: readonly Row[],
  { triggers }: Pick<AnalysisPolicy, 'triggers'>,
): 'all' | 'some' | 'none' {
  const own = triggers.filter((trigger) => trigger.metric === metric);
  if (own.length === 0) {
    const names = new Set(metrics[metric].measures.map(({ name }) => name));
    return rows.some(({ measures }) => measures.some(({ name }) => names.has(name))) ? 'all' : 'none';
  }
  const canJudge = own.map((trigger) => {
    const required = bindingSubjects(trigger);
    return (row: Row): boolean =>
      row.measures.some(({ name }) => name === trigger.observed.name) &&
      required.every((subject) => subject !== 'sourceKeys' && (row[subject]?.length ?? 0) > 0);
  });
  if (!rows.some((row) => canJudge.some((can) => can(row)))) return 'none';
  return rows.every((row) => canJudge.every((can) => can(row))) ? 'all' : 'some';
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
  const shown = pin === null ? undefined : artifact;
  const isLost = pin !== null && shown === undefined;
  const isSuppressed = status === 'suppressed' && shown !== undefined;
  const suppressionStatus = isSuppressed
    ? 'suppressed'
    : known(['not_suppressed'], shown?.suppression.status ?? 'unknown');
  const open = suppressionStatus === 'not_suppressed' ? shown : undefined;
  return {
    metric,
    status: isLost ? 'unknown' : status,
    artifactRef: pin?.ref ?? null,
    populationCount: open?.populationCount ?? null,
    sampleCount: open?.sampleCount ?? null,
    suppressionStatus,
    suppressionRule: isSuppressed ? shown.suppression.rule : null,
    analysisWindow: shown?.analysisWindow ?? { start: null, end: null },
    formulaVersion: shown?.formulaVersion ?? null,
    reasonCode: isLost ? 'owner_artifact_missing' : reasonCode,
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
function isComplete(
  status: Readable,
  { populationCount, sampleCount, analysisWindow, formulaVersion, suppression }: MetricArtifact,
): boolean {
  if (status === 'available')
    return (
      populationCount !== null && sampleCount !== null && analysisWindow !== null && formulaVersion !== null
    );
  return status !== 'suppressed' || (suppression.rule !== null && formulaVersion !== null);
}
