import { contradictory, incomplete, requireCurrent } from '#functions/reports/facts/incomplete.ts';
import type { RunEvidence } from '#functions/reports/composition/improvement-run.ts';
import type { Observed } from '#functions/reports/facts/facts.ts';
import { evaluateMetric } from '#functions/reports/analysis/metrics/evaluate-metric.ts';
import { runMetrics, sourceKey, type RunMetric } from '#shared/contract/reports/improvement-run.ts';
import type { AnalysisPolicy } from '#shared/contract/reports/analysis-policy.ts';
import type { SourceService } from '#shared/contract/reports/problem.ts';
import { listInvariants } from '#shared/contract/reports/invariants/improvement-run.ts';
import { firstBroken } from '#shared/contract/reports/invariants/invariant.ts';
import { maxSources } from '#shared/improvement/records.ts';
import type { PinnedMetric, PinnedSource, RunPins } from '#shared/improvement/records.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import type { Administration } from '#shared/platform/owners/administration.ts';
import type { AdministrationAnalysis, MetricArtifact } from '#shared/platform/owners/analytics.ts';
import type { AlignmentSources } from '#shared/platform/owners/content.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { conflicting, together } from '#functions/reports/sources/problems.ts';
import { readPinnedArtifact, type PinFault } from '#functions/reports/sources/pinned.ts';
import { isAbout, readSource, type Answered, type SourceReader } from '#functions/reports/sources/reader.ts';

/** The owners' facts on which an analysis of an administration is based. */
export interface ImprovementBasis {
  /** All pins except the policy and the formula, which are the service's own. */
  readonly pins: Omit<RunPins, 'analysisPolicy' | 'formulaVersion' | 'rules'>;
  /** The evidence that was read. */
  readonly evidence: RunEvidence;
}

interface Basis {
  readonly administration: Observed<Administration>;
  readonly sourceSet: Answered<AlignmentSources>;
  /** Undefined if Analytics has none. */
  readonly analysis: Observed<AdministrationAnalysis> | undefined;
  /** For every metric whose artifact the analysis names: the artifact, or why it could not be read. */
  readonly metrics: ReadonlyMap<RunMetric, Result<Observed<MetricArtifact>, PinFault>>;
}

/**
 * Reads the basis of an analysis of an administration, in two waves: Content's named sources together with the analysis of Analytics, then the metric
 * artifacts that the analysis names. The administration and then these are read once more if owners name different versions of the test spec, lists
 * contradict themselves, the analysis is missing, or an artifact is missing or is not the one that its entry names. What differs then is a 409 that
 * names the owner [RP-264].
 * @param policy the policy that judges the metrics
 * @param readAdministration reads the administration again
 */
export async function readImprovementBasis(
  reader: SourceReader,
  policy: AnalysisPolicy,
  administration: Observed<Administration>,
  readAdministration: () => Promise<Result<Observed<Administration>, Problem>>,
): Promise<Result<ImprovementBasis, Problem>> {
  const first = await readBasis(reader, administration);
  if (!first.ok) return first;
  const { analysis, metrics } = first.value;
  // Analytics may be replacing an artifact that it does not hold.
  const isDoubtful = analysis === undefined || hasFault(metrics, 'gone');
  if (!isDoubtful && (disagreement(first.value) ?? findBrokenInvariant(first.value)) === undefined)
    return accept(first.value, policy);
  const again = await readAdministration();
  if (!again.ok) return again;
  const second = await readBasis(reader, again.value);
  if (!second.ok) return second;
  const owner = disagreement(second.value);
  if (owner !== undefined) return err(conflicting(owner));
  return analysis !== undefined && second.value.analysis === undefined
    ? err(incomplete('analytics', 'Analytics had an analysis of the administration a moment ago.'))
    : accept(second.value, policy);
}

/** Reads once, with every artifact that the analysis names. An artifact that Analytics does not hold or show makes its metric unavailable. */
async function readBasis(
  reader: SourceReader,
  administration: Observed<Administration>,
): Promise<Result<Basis, Problem>> {
  const { administrationId, contentTestSpecId, contentTestSpecVersion } = administration.value;
  const read = await together({
    sourceSet: readSource(reader, operations.readAlignmentSources, 'derived', 'sourceSetId', {
      path: { testSpecId: contentTestSpecId },
      query: { version: contentTestSpecVersion },
    }),
    analysis: readSource(reader, operations.readAdministrationAnalysis, 'confirmed', 'administrationId', {
      path: { administrationId },
    }).then((answer) => (answer.ok || answer.error.status !== 404 ? answer : ok(undefined))),
  });
  if (!read.ok) return read;
  const { sourceSet, analysis } = read.value;
  const run = {
    administrationId,
    pins: { contentTestSpecId, contentTestSpecVersion, sourceSet: pinOf(sourceSet) },
  };
  const named = runMetrics.flatMap((metric) => {
    const artifact = entryOf(analysis, metric)?.artifact;
    return artifact ? [{ metric, pin: { ref: artifact.artifactRef, sha256: artifact.sha256 } }] : [];
  });
  const metrics = await Promise.all(
    named.map(
      async ({ metric, pin }) =>
        [metric, await readPinnedArtifact(reader, run, pin, { kind: 'metric', metric })] as const,
    ),
  );
  return ok({ administration, sourceSet, analysis, metrics: new Map(metrics) });
}

/** Returns the first owner that names another version than the administration does, or another artifact than its own entry. */
function disagreement({ administration, sourceSet, analysis, metrics }: Basis): SourceService | undefined {
  const { contentTestSpecId, contentTestSpecVersion } = administration.value;
  if (!isAbout(sourceSet.value, { testSpecId: contentTestSpecId, testSpecVersion: contentTestSpecVersion }))
    return 'blueprint';
  if (analysis !== undefined && !isAbout(analysis.value, { contentTestSpecId, contentTestSpecVersion }))
    return 'analytics';
  return hasFault(metrics, 'changed', 'moved') ? 'analytics' : undefined;
}

function hasFault(metrics: Basis['metrics'], ...kinds: readonly PinFault['kind'][]): boolean {
  return [...metrics.values()].some((answer) => !answer.ok && kinds.includes(answer.error.kind));
}

function accept(basis: Basis, policy: AnalysisPolicy): Result<ImprovementBasis, Problem> {
  const { administration, sourceSet, analysis, metrics } = basis;
  const list = analysis === undefined || analysis.receipt.status === 'stale' ? [] : [analysis.receipt];
  const unfit = requireCurrent([administration.receipt, ...list]) ?? unusableLists(basis);
  if (unfit !== undefined) return err(unfit);
  const read = [...metrics].flatMap(([metric, answer]) => (answer.ok ? [{ metric, ...answer.value }] : []));
  const artifacts = new Map(read.map(({ metric, value }) => [metric, value]));
  const { contentTestSpecId, contentTestSpecVersion } = administration.value;
  return ok({
    pins: {
      contentTestSpecId,
      contentTestSpecVersion,
      sourceSet: pinOf(sourceSet),
      metrics: runMetrics.map((metric): PinnedMetric => {
        const answer = metrics.get(metric);
        const isUnreachable = answer?.ok === false && answer.error.kind === 'unavailable';
        const artifact = isUnreachable ? 'unreachable' : artifacts.get(metric);
        return evaluateMetric(metric, entryOf(analysis, metric), artifact, policy);
      }),
      sources: sourceSet.value.sources.map(({ sourceKey: key, crosswalkId: ref, sha256 }) => ({
        sourceKey: key,
        crosswalk: { ref, sha256 },
        comparison: comparisonOf(analysis, key),
      })),
    },
    evidence: { artifacts, sources: [sourceSet.receipt, ...read.map(({ receipt }) => receipt)] },
  });
}

/** Returns the problem of unusable lists: a name twice, keys that no path can contain, more sources than a run takes, no targets of mappings. */
function unusableLists(basis: Basis): Problem | undefined {
  const { sources, slotIds, caseGuids } = basis.sourceSet.value;
  if (sources.length > maxSources)
    return incomplete('blueprint', 'The blueprint names too many source tests.');
  if (!sources.every((source) => sourceKey.safeParse(source.sourceKey).success))
    return incomplete('blueprint', 'The keys of the blueprint’s source tests are not URL-safe.');
  if (sources.length > 0 && (slotIds === undefined || caseGuids === undefined))
    return incomplete('blueprint', 'The blueprint’s list of source tests lacks its slots and CASE GUIDs.');
  return findBrokenInvariant(basis);
}

function findBrokenInvariant({ sourceSet, analysis }: Basis): Problem | undefined {
  const { metrics = [], comparisons = [] } = analysis?.value ?? {};
  const broken = firstBroken(listInvariants, {
    sourceKeys: sourceSet.value.sources.map((source) => source.sourceKey),
    metrics: metrics.map(({ metric }) => metric),
    comparedKeys: comparisons.map((comparison) => comparison.sourceKey),
  });
  return broken && contradictory(broken);
}

/** Returns the analysis' entry of a metric. In a stale analysis only suppression and absence still hold. */
function entryOf(analysis: Basis['analysis'], metric: RunMetric) {
  const entry = analysis?.value.metrics.find((one) => one.metric === metric);
  if (entry === undefined || analysis?.receipt.status === 'current') return entry;
  return ['suppressed', 'unavailable'].includes(entry.status) ? entry : { ...entry, status: 'stale' };
}

/** Returns the comparison of a source. In a stale analysis, all that it names are due and missing. */
function comparisonOf(analysis: Basis['analysis'], key: string): PinnedSource['comparison'] {
  if (analysis === undefined) return 'not_analyzed';
  const due = analysis.value.comparisons.find((entry) => entry.sourceKey === key);
  if (due === undefined) return null;
  return due.artifact !== null && analysis.receipt.status === 'current'
    ? { ref: due.artifact.artifactRef, sha256: due.artifact.sha256 }
    : 'missing';
}

function pinOf({ value, sha256 }: Answered<AlignmentSources>): RunPins['sourceSet'] {
  return { ref: value.sourceSetId, sha256 };
}
