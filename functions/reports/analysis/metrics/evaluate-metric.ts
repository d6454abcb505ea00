import { nameOrUnknown } from '#functions/reports/facts/name-or-unknown.ts';
import { bindingSubjects, metrics, type AnalysisPolicy } from '#shared/contract/reports/analysis-policy.ts';
import type { MetricStatus, RunMetric } from '#shared/contract/reports/improvement-run.ts';
import { firstBroken } from '#shared/contract/reports/invariants/invariant.ts';
import { metricInvariants, type CheckedMetric } from '#shared/contract/reports/invariants/metric.ts';
import type { PinnedMetric, RunPins } from '#shared/improvement/records.ts';
import type { AdministrationAnalysis, MetricArtifact } from '#shared/platform/owners/analytics.ts';

type Entry = AdministrationAnalysis['metrics'][number];
type Row = MetricArtifact['rows'][number];

/**
 * Returns what a run can do with one of its metrics: only an `available` one may trigger an order [RP-159]. A metric is `unavailable` if Analytics
 * lacks it, states it incompletely or contradicts it; a status that a later version adds is `unknown`; suppression in either place takes precedence.
 * @param entry Analytics' row of that metric, if any
 * @param artifact `unreachable` if Analytics gave no usable response; undefined if there is none
 */
export function evaluateMetric(
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
  const shown = metricToCheck(metric, status, artifact);
  if (!isComplete(status, artifact) || isContradictory(shown, '3')) return unavailable('owner_field_missing');
  const { artifactRef: ref, sha256 } = entry.artifact;
  const pinned = { metric, artifact: { ref, sha256 } };
  if (status !== 'available') return { ...pinned, status, reasonCode: status };
  const judged = evaluableRowsOf(metric, artifact.rows, policy);
  return judged === 'none'
    ? unavailable('owner_field_missing')
    : { ...pinned, status, reasonCode: null, judged };
}

/** Returns the part of an artifact that has to be true for a metric of that status: what it shows, and the rows that may trigger an order. */
export function metricToCheck(
  metric: RunMetric,
  status: PinnedMetric['status'],
  { analysisWindow, suppression, rows, ...artifact }: MetricArtifact,
): CheckedMetric {
  const { samplingUnit = 'learners', populationCount, sampleCount } = artifact;
  const isShown = status !== 'suppressed' && suppression.status === 'not_suppressed';
  const [population, sample] = isShown && samplingUnit === 'learners' ? [populationCount, sampleCount] : [];
  return {
    ...{ metric, analysisWindow, rows: status === 'available' ? rows : [] },
    ...{ populationCount: population ?? null, sampleCount: sample ?? null },
  };
}

/** Returns whether a metric cannot be true. Runs of earlier rules were checked only by window and values. */
export function isContradictory(metric: CheckedMetric, rules: RunPins['rules']): boolean {
  const { 'window-in-order': window, 'value-of-its-measure': values } = metricInvariants;
  return firstBroken(rules === '3' ? metricInvariants : { window, values }, metric) !== undefined;
}

/**
 * Returns how many rows of a metric its triggers can evaluate: rows with their measures and the subjects that they require. `some` if any trigger has to
 * leave out any row. A metric without a trigger needs a row with one of its measures.
 */
export function evaluableRowsOf(
  metric: RunMetric,
  rows: readonly Row[],
  { triggers }: Pick<AnalysisPolicy, 'triggers'>,
): 'all' | 'some' | 'none' {
  const own = triggers.filter((trigger) => trigger.metric === metric);
  if (own.length === 0) {
    const names = new Set(metrics[metric].measures.map(({ name }) => name));
    return rows.some(({ measures }) => measures.some(({ name }) => names.has(name))) ? 'all' : 'none';
  }
  const canEvaluate = own.map((trigger) => {
    const required = bindingSubjects(trigger);
    return (row: Row): boolean =>
      row.measures.some(({ name }) => name === trigger.observed.name) &&
      required.every((subject) => subject !== 'sourceKeys' && (row[subject]?.length ?? 0) > 0);
  });
  if (!rows.some((row) => canEvaluate.some((can) => can(row)))) return 'none';
  return rows.every((row) => canEvaluate.every((can) => can(row))) ? 'all' : 'some';
}

/**
 * Returns the row of a metric in its run. Its counts, window and formula are those of the artifact; an artifact that is not `not_suppressed` shows no
 * counts.
 * @param artifact the pinned one; undefined if it can no longer be read: then only the metric's id is known
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
    : nameOrUnknown(['not_suppressed'], shown?.suppression.status ?? 'unknown');
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

/** Returns the status of a metric. Suppression comes first: rows that either place withholds are withheld. */
function statusOf(entry: Entry, { suppression }: MetricArtifact): Readable {
  if (entry.status === 'suppressed' || suppression.status === 'suppressed') return 'suppressed';
  if (entry.status === 'stale') return 'stale';
  return entry.status === 'available' && suppression.status === 'not_suppressed' ? 'available' : 'unknown';
}

/** Returns whether an artifact has everything that its row must show [RP-161..RP-164]. */
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
