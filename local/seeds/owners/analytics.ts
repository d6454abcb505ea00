import { entityDigest } from '#local/platform/entity-text.ts';
import { itemId } from '#local/platform/form-items.ts';
import { once } from '#local/platform/store.ts';
import { metrics } from '#shared/contract/reports/analysis-policy.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import type {
  AdministrationAnalysis,
  AnalysisArtifact,
  ComparisonArtifact,
  MetricArtifact,
  Rollup,
} from '#shared/platform/owners/analytics.ts';
import { generatedMeasures } from '../generated-rows.ts';
import { opaque } from '../ids.ts';
import type { AdministrationEntry, AnalysisEntry, ReportsFile } from '../reports-file.ts';
import { defined, type Entities, type FileSpec, type Tenant } from '../tenant.ts';

/** Returns what Analytics has published: snapshots of cohorts, its analyses of forms, and those of administrations with their artifacts. */
export function analyticsEntities(
  tenant: Tenant,
): Entities<
  'rollups' | 'formEquivalences' | 'analyses' | 'laterAnalyses' | 'analysisArtifacts',
  'analyses' | 'analysisArtifacts'
> {
  const { file, ids } = tenant;
  const series = file.administrations.map((entry) => ({
    administrationId: ids.administration(entry.name),
    analyses: entry.analyses.map((analysis) => analysisOf(tenant, entry, analysis)),
  }));
  const all = series.flatMap(({ analyses }) => analyses);
  const published = series.flatMap(({ analyses }) => analyses.slice(0, 1));
  const isWritten = ({ isGenerated }: { readonly isGenerated: boolean }): boolean => !isGenerated;
  return {
    rollups: rollupsOf(tenant),
    formEquivalences: file.equivalences.map((entry) => equivalenceOf(tenant, entry)),
    analyses: published.filter(isWritten).map(({ analysis }) => analysis()),
    laterAnalyses: new Map(
      series.map(({ administrationId, analyses }) => [
        administrationId,
        analyses.slice(1).map(({ analysis }) => analysis()),
      ]),
    ),
    analysisArtifacts: all
      .filter(isWritten)
      .flatMap(({ artifacts }) => artifacts.map(({ artifact }) => artifact())),
    generated: {
      analyses: new Map(
        published
          .filter(({ isGenerated }) => isGenerated)
          .map(({ administrationId, analysis }) => [administrationId, once(analysis)]),
      ),
      analysisArtifacts: new Map(
        all
          .filter(({ isGenerated }) => isGenerated)
          .flatMap(({ artifacts }) => artifacts.map(({ ref, artifact }) => [ref, artifact] as const)),
      ),
    },
  };
}

function rollupsOf({ file, tenantId, ids, version }: Tenant): readonly Rollup[] {
  const cohorts = [
    ...file.classes.map(({ name, rollup }) => ({
      name,
      rollup,
      scope: { type: 'class' as const, classSourcedId: ids.class(name) },
    })),
    ...file.schools.flatMap(({ name, grades }) =>
      grades.map(({ grade, rollup }) => ({
        name: `${name}-${grade}`,
        rollup,
        scope: { type: 'school_grade' as const, schoolSourcedId: ids.school(name), grade },
      })),
    ),
  ];
  return cohorts.flatMap(({ name, scope, rollup }) => {
    if (rollup === undefined) return [];
    const rollupId = opaque(`rollup-${name}`, tenantId);
    const suppression = { status: rollup.suppression };
    return [{ tenantId, rollupId, version: version('rollup', rollup), scope, ...rollup, suppression }];
  });
}

function equivalenceOf(
  { tenantId, ids, version, specOfForm }: Tenant,
  entry: ReportsFile['equivalences'][number],
) {
  const sizes = Object.entries(entry.sampleSizes).map(([form, size]) => [ids.form(form), size] as const);
  const artifact = opaque(entry.form, tenantId, 'artifact');
  return {
    tenantId,
    equivalenceId: opaque(`equivalence-${entry.form}`, tenantId),
    version: version('equivalence', entry),
    freshness: entry.freshness,
    qtiTestId: ids.form(entry.form),
    comparisonQtiTestIds: entry.comparedWith.map(ids.form),
    ...specOfForm(entry.form).ref,
    sampleSizes: Object.fromEntries(sizes),
    method: entry.method,
    analysisVersion: entry.analysisVersion,
    ...(entry.statisticKind === undefined ? {} : { statisticKind: entry.statisticKind }),
    statistic: entry.statistic,
    confidenceInterval: entry.confidenceInterval,
    tolerance: entry.tolerance,
    decision: entry.decision,
    evidenceArtifactUrl: entry.evidenceArtifact
      ? `https://analytics.platform.example/artifacts/${artifact}`
      : null,
  };
}

type Metric = AnalysisEntry['metrics'][number];
type Comparison = AnalysisEntry['comparisons'][number];
type About = Pick<
  MetricArtifact,
  'tenantId' | 'administrationId' | 'contentTestSpecId' | 'contentTestSpecVersion'
>;

/** Returns one of Analytics' analyses of an administration, and the artifacts that it names. */
function analysisOf(tenant: Tenant, administration: AdministrationEntry, entry: AnalysisEntry) {
  const { tenantId, ids } = tenant;
  const spec = tenant.specOf(administration.testSpec);
  const { contentTestSpecId, contentTestSpecVersion } = spec.ref;
  const about: About = {
    tenantId,
    administrationId: ids.administration(administration.name),
    contentTestSpecId,
    contentTestSpecVersion: entry.ofPreviousVersion
      ? `${contentTestSpecVersion}-previous`
      : contentTestSpecVersion,
  };
  const named = <T extends object>(
    subject: string,
    content: T | null,
    make: (content: T, ref: string) => AnalysisArtifact,
  ) => {
    if (content === null) return null;
    const prefix = `artifact-${administration.name}-${subject}`;
    const ref = opaque(prefix, tenantId, about.contentTestSpecVersion, hashCanonical(content));
    // Listed and read by its ref, an artifact is the same entity: it is made once.
    const artifact = once(() => make(content, ref));
    return { ref, artifact, pin: () => ({ artifactRef: ref, sha256: entityDigest(artifact()) }) };
  };
  const metricRows = entry.metrics.map(({ metric, status, artifact }) => ({
    row: { metric, status },
    named: named(metric, artifact, (content, ref) =>
      metricArtifactOf(tenant, spec, about, { metric, ref, content }),
    ),
  }));
  const comparisonRows = entry.comparisons.map(({ source, artifact }) => ({
    row: { sourceKey: ids.sourceKey(source) },
    named: named(source, artifact, (content, ref) =>
      comparisonArtifactOf(tenant, spec, about, { source, ref, content }),
    ),
  }));
  return {
    administrationId: about.administrationId,
    isGenerated: entry.metrics.some(({ artifact }) => artifact?.generatedRows !== undefined),
    artifacts: [...metricRows, ...comparisonRows].flatMap((one) => one.named ?? []),
    analysis: (): AdministrationAnalysis => ({
      tenantId,
      administrationId: about.administrationId,
      version: tenant.version('analysis', { administration: administration.name, entry }),
      freshness: entry.freshness,
      contentTestSpecId,
      contentTestSpecVersion: about.contentTestSpecVersion,
      metrics: metricRows.map((one) => ({ ...one.row, artifact: one.named?.pin() ?? null })),
      comparisons: comparisonRows.map((one) => ({ ...one.row, artifact: one.named?.pin() ?? null })),
    }),
  };
}

interface Content<T> {
  readonly ref: string;
  readonly content: NonNullable<T>;
}

function metricArtifactOf(
  tenant: Tenant,
  { entry, competencies, guidOf }: FileSpec,
  about: About,
  { ref, metric, content }: Content<Metric['artifact']> & Pick<Metric, 'metric'>,
): MetricArtifact {
  const { generatedRows, window, rows, ...values } = content;
  const units = new Map(metrics[metric].measures.map(({ name, unit }) => [name, unit]));
  const measured =
    generatedRows === undefined
      ? rows
      : Array.from({ length: generatedRows }, (_, at) => ({
          form: defined(entry.forms[0]),
          item: at + 1,
          codes: [defined(competencies[at % competencies.length]).code],
          measures: generatedMeasures(metric, at),
        }));
  return {
    kind: 'metric',
    artifactRef: ref,
    ...about,
    metric,
    ...values,
    analysisWindow: window,
    rows: measured.map(({ form, item, codes, measures }) => ({
      qtiItemId: item === undefined ? null : itemId(tenant.ids.form(form), item),
      ...formRef(tenant, form),
      caseGuids: codes.map(guidOf),
      measures: Object.entries(measures).map(([name, value]) => ({
        name,
        value,
        unit: defined(units.get(name)),
      })),
    })),
  };
}

function comparisonArtifactOf(
  tenant: Tenant,
  { guidOf }: FileSpec,
  about: About,
  { ref, source, content }: Content<Comparison['artifact']> & Pick<Comparison, 'source'>,
): ComparisonArtifact {
  const { form, codes, ...values } = content;
  return {
    kind: 'comparison',
    artifactRef: ref,
    ...about,
    sourceKey: tenant.ids.sourceKey(source),
    ...values,
    ...(form === undefined ? { qtiFormId: null, qtiTestId: null } : formRef(tenant, form)),
    caseGuids: codes.map(guidOf),
  };
}

function formRef({ tenantId, ids }: Tenant, form: string) {
  return { qtiFormId: opaque(`qti-form-${form}`, tenantId), qtiTestId: ids.form(form) };
}
