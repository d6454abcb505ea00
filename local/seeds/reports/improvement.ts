import { metrics } from '#shared/contract/reports/analysis-policy.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import type {
  AdministrationAnalysis,
  AnalysisArtifact,
  ComparisonArtifact,
  MetricArtifact,
} from '#shared/platform/owners/analytics.ts';
import type { AlignmentCrosswalk, AlignmentSources } from '#shared/platform/owners/content.ts';
import { digestWith, entityDigest, entityText } from '#local/platform/entity-text.ts';
import { itemId } from '#local/platform/form-items.ts';
import { once } from '#local/platform/store.ts';
import type { ReportsSeed } from '#local/platform/tenant-state.ts';
import { opaque } from '../ids.ts';
import { competenciesOf } from './file.ts';
import type { ReportsFile } from './file.ts';
import { sourceNamesOf } from './improvement-entries.ts';
import type {
  AlignmentSourceEntry,
  AnalysisEntry,
  ComparisonArtifactEntry,
  MetricArtifactEntry,
} from './improvement-entries.ts';
import { generatedRequirements, generatedRows } from './improvement-generated.ts';
import { defined } from './tenant-file.ts';
import type { TenantFile } from './tenant-file.ts';

type Held =
  | 'alignmentSources'
  | 'alignmentCrosswalks'
  | 'analyses'
  | 'laterAnalyses'
  | 'analysisArtifacts'
  | 'receivers'
  | 'formItems';
type Made = 'alignmentSources' | 'alignmentCrosswalks' | 'analyses' | 'analysisArtifacts';
type Spec = ReportsFile['testSpecs'][number];
type AdministrationEntry = ReportsFile['administrations'][number];

/** What the owners hold for improvement runs. Digests are those of the entities as the owners answer them. */
export function improvementOf(
  tenant: TenantFile,
): Pick<ReportsSeed, Held> & { readonly generated: Pick<ReportsSeed['generated'], Made> } {
  const { file, ids } = tenant;
  const alignments = file.testSpecs.flatMap((spec) =>
    spec.alignment === undefined ? [] : [alignmentOf(tenant, spec)],
  );
  const series = file.administrations.map((entry) => ({
    administrationId: ids.administration(entry.name),
    analyses: entry.analyses.map((analysis) => analysisOf(tenant, entry, analysis)),
  }));
  const analyses = series.flatMap((one) => one.analyses);
  const published = series.flatMap((one) => one.analyses.slice(0, 1));
  const written = <T extends { readonly isGenerated: boolean }>(some: readonly T[]): readonly T[] =>
    some.filter(({ isGenerated }) => !isGenerated);
  const bulk = <T extends { readonly isGenerated: boolean }>(some: readonly T[]): readonly T[] =>
    some.filter(({ isGenerated }) => isGenerated);
  return {
    alignmentSources: written(alignments).map(({ sources }) => sources()),
    alignmentCrosswalks: written(alignments).flatMap(({ crosswalks }) =>
      crosswalks.map(({ crosswalk }) => crosswalk()),
    ),
    analyses: written(published).map(({ analysis }) => analysis()),
    laterAnalyses: new Map(
      series.map((one) => [one.administrationId, one.analyses.slice(1).map(({ analysis }) => analysis())]),
    ),
    analysisArtifacts: written(analyses).flatMap(({ artifacts }) =>
      artifacts.map(({ artifact }) => artifact()),
    ),
    receivers: { bank: receiversOf(tenant, 'bank'), blueprint: receiversOf(tenant, 'blueprint') },
    formItems: formItemsOf(tenant),
    generated: {
      alignmentSources: new Map(
        bulk(alignments).map(({ testSpecId, sources }) => [testSpecId, once(sources)]),
      ),
      // Rendered, all of them would be a hundred megabytes: each is made, and rendered, anew for whoever asks.
      alignmentCrosswalks: new Map(
        bulk(alignments).flatMap(({ crosswalks }) =>
          crosswalks.map(({ head, crosswalk }) => [head.crosswalkId, crosswalk] as const),
        ),
      ),
      analyses: new Map(
        bulk(published).map(({ administrationId, analysis }) => [administrationId, once(analysis)]),
      ),
      analysisArtifacts: new Map(
        bulk(analyses).flatMap(({ artifacts }) =>
          artifacts.map(({ artifactRef, artifact }) => [artifactRef, artifact] as const),
        ),
      ),
    },
  };
}

/** Content's list of a test spec's sources, and the crosswalks that it names. */
function alignmentOf(tenant: TenantFile, spec: Spec) {
  const { tenantId, ids } = tenant;
  const { contentTestSpecId: testSpecId, contentTestSpecVersion } = tenant.specRef(spec.name);
  const crosswalks = sourcesOf(tenant, spec).map(({ entry, requirements }) => {
    const crosswalkId = opaque(`alignment-${spec.name}-${entry.key}`, tenantId, contentTestSpecVersion);
    const head = {
      tenantId,
      testSpecId,
      testSpecVersion: entry.ofPreviousVersion
        ? `${contentTestSpecVersion}-previous`
        : contentTestSpecVersion,
      crosswalkId,
      version: opaque('alignment-version', crosswalkId),
      sourceKey: ids.sourceKey(entry.key),
      sourceAssessment: entry.assessment,
      sourceVersion: entry.version,
    };
    return {
      head,
      crosswalk: (): AlignmentCrosswalk => ({ ...head, requirements: requirements.list() }),
      digest: () => digestWith(head, 'requirements', requirements.text()),
    };
  });
  const sources = (): AlignmentSources => ({
    tenantId,
    testSpecId,
    testSpecVersion: contentTestSpecVersion,
    sourceSetId: opaque(`alignment-${spec.name}`, tenantId),
    version: tenant.version('alignment', spec.alignment),
    sources: crosswalks.map(({ head, digest }) => ({
      sourceKey: head.sourceKey,
      sourceAssessment: head.sourceAssessment,
      sourceVersion: head.sourceVersion,
      crosswalkId: head.crosswalkId,
      sha256: digest(),
    })),
  });
  return { testSpecId, isGenerated: spec.alignment?.generated !== undefined, crosswalks, sources };
}

/** A test spec's sources; the generated ones share two lists of requirements. */
function sourcesOf(
  tenant: TenantFile,
  spec: Spec,
): readonly {
  readonly entry: Omit<AlignmentSourceEntry, 'requirements'>;
  readonly requirements: Requirements;
}[] {
  const { sources, generated } = spec.alignment ?? {};
  if (sources !== undefined)
    return sources.map((entry) => ({
      entry,
      requirements: requirementsOf(tenant, spec, tenant.ids.sourceKey(entry.key), () => entry.requirements),
    }));
  const prefix = opaque(`requirements-${spec.name}`, tenant.tenantId);
  const made = (lowerOnceIn: number): Requirements =>
    requirementsOf(tenant, spec, prefix, () => {
      const codes = competenciesOf(frameworkOf(tenant, spec).entry).map(({ code }) => code);
      return generatedRequirements(codes, generated?.requirements ?? 0, lowerOnceIn);
    });
  // More standards than one revision order can name, and a few.
  const [many, few] = [made(7), made(200)];
  return sourceNamesOf(spec.alignment).map((key, at) => ({
    entry: {
      key,
      assessment: `Generated assessment ${at + 1}`,
      version: '2026',
      ofPreviousVersion: false,
    },
    requirements: at % 25 === 0 ? many : few,
  }));
}

function frameworkOf(tenant: TenantFile, spec: Spec) {
  return defined(tenant.frameworks.get(spec.framework));
}

/** The requirements of a crosswalk, and how the emulator writes them; both are made when they are first needed. */
interface Requirements {
  readonly list: () => AlignmentCrosswalk['requirements'];
  readonly text: () => string;
}

function requirementsOf(
  tenant: TenantFile,
  spec: Spec,
  prefix: string,
  entries: () => AlignmentSourceEntry['requirements'],
): Requirements {
  const list = once(() => {
    const { guidOf } = frameworkOf(tenant, spec);
    return entries().map(({ id, weight, dok, mappings }) => ({
      sourceRequirementId: `${prefix}:${id}`,
      weight,
      sourceDok: dok,
      mappings: mappings.map((mapping) => ({
        caseGuid: guidOf(mapping.code),
        blueprintSlotId: mapping.slot === null ? null : tenant.slotId(spec.name, mapping.slot),
        targetDok: mapping.dok,
        status: mapping.status,
      })),
    }));
  });
  return { list, text: once(() => entityText(list())) };
}

/** One of Analytics' analyses of an administration, and the artifacts that it names. */
function analysisOf(tenant: TenantFile, administration: AdministrationEntry, entry: AnalysisEntry) {
  const { tenantId, ids } = tenant;
  const { contentTestSpecId, contentTestSpecVersion } = tenant.specRef(administration.testSpec);
  const about = {
    tenantId,
    administrationId: ids.administration(administration.name),
    contentTestSpecId,
    contentTestSpecVersion: entry.ofPreviousVersion
      ? `${contentTestSpecVersion}-previous`
      : contentTestSpecVersion,
  };
  const isGenerated = entry.metrics.some(({ artifact }) => artifact?.generatedRows !== undefined);
  const named = (subject: string, content: object, make: (artifactRef: string) => AnalysisArtifact) => {
    const prefix = `artifact-${administration.name}-${subject}`;
    const artifactRef = opaque(prefix, tenantId, about.contentTestSpecVersion, hashCanonical(content));
    // Listed and dereferenced, an artifact is the same entity: it is made once.
    return { artifactRef, artifact: once(() => make(artifactRef)) };
  };
  const metricRows = entry.metrics.map(({ metric, status, artifact }) => ({
    metric,
    status,
    named:
      artifact === null
        ? null
        : named(metric, artifact, (ref) =>
            metricArtifactOf(tenant, administration, about, { artifactRef: ref, metric, artifact }),
          ),
  }));
  const comparisonRows = entry.comparisons.map(({ source, artifact }) => ({
    sourceKey: ids.sourceKey(source),
    named:
      artifact === null
        ? null
        : named(source, artifact, (ref) =>
            comparisonArtifactOf(tenant, administration, about, { artifactRef: ref, source, artifact }),
          ),
  }));
  const pinOf = (one: ReturnType<typeof named> | null) =>
    one === null ? null : { artifactRef: one.artifactRef, sha256: entityDigest(one.artifact()) };
  return {
    administrationId: about.administrationId,
    isGenerated,
    artifacts: [...metricRows, ...comparisonRows].flatMap((row) => row.named ?? []),
    analysis: (): AdministrationAnalysis => ({
      tenantId,
      administrationId: about.administrationId,
      version: tenant.version('analysis', { administration: administration.name, entry }),
      freshness: entry.freshness,
      contentTestSpecId,
      contentTestSpecVersion: about.contentTestSpecVersion,
      metrics: metricRows.map((row) => ({
        metric: row.metric,
        status: row.status,
        artifact: pinOf(row.named),
      })),
      comparisons: comparisonRows.map((row) => ({ sourceKey: row.sourceKey, artifact: pinOf(row.named) })),
    }),
  };
}

type About = Pick<
  MetricArtifact,
  'tenantId' | 'administrationId' | 'contentTestSpecId' | 'contentTestSpecVersion'
>;

function metricArtifactOf(
  tenant: TenantFile,
  { testSpec }: AdministrationEntry,
  about: About,
  one: {
    readonly artifactRef: string;
    readonly metric: AnalysisEntry['metrics'][number]['metric'];
    readonly artifact: MetricArtifactEntry;
  },
): MetricArtifact {
  const { artifactRef, metric, artifact } = one;
  const spec = defined(tenant.file.testSpecs.find(({ name }) => name === testSpec));
  const framework = frameworkOf(tenant, spec);
  const rows =
    artifact.generatedRows === undefined
      ? artifact.rows
      : generatedRows(
          metric,
          defined(spec.forms[0]),
          competenciesOf(framework.entry).map(({ code }) => code),
          artifact.generatedRows,
        );
  const units = new Map(metrics[metric].measures.map(({ name, unit }) => [name, unit]));
  return {
    kind: 'metric',
    artifactRef,
    ...about,
    metric,
    formulaVersion: artifact.formulaVersion,
    populationCount: artifact.populationCount,
    sampleCount: artifact.sampleCount,
    suppression: artifact.suppression,
    analysisWindow: artifact.window,
    rows: rows.map(({ form, item, codes, measures }) => ({
      qtiItemId: item === undefined ? null : itemId(tenant.ids.form(form), item),
      ...formRef(tenant, form),
      caseGuids: codes.map(framework.guidOf),
      measures: Object.entries(measures).map(([name, value]) => ({
        name,
        value,
        unit: defined(units.get(name)),
      })),
    })),
  };
}

function comparisonArtifactOf(
  tenant: TenantFile,
  { testSpec }: AdministrationEntry,
  about: About,
  one: {
    readonly artifactRef: string;
    readonly source: string;
    readonly artifact: ComparisonArtifactEntry;
  },
): ComparisonArtifact {
  const { form, codes, ...artifact } = one.artifact;
  const spec = defined(tenant.file.testSpecs.find(({ name }) => name === testSpec));
  return {
    kind: 'comparison',
    artifactRef: one.artifactRef,
    ...about,
    sourceKey: tenant.ids.sourceKey(one.source),
    ...artifact,
    ...(form === undefined ? { qtiFormId: null, qtiTestId: null } : formRef(tenant, form)),
    caseGuids: codes.map(frameworkOf(tenant, spec).guidOf),
  };
}

function formRef({ tenantId, ids }: TenantFile, form: string) {
  return { qtiFormId: opaque(`qti-form-${form}`, tenantId), qtiTestId: ids.form(form) };
}

function receiversOf(
  { file, ids }: TenantFile,
  module: keyof ReportsSeed['receivers'],
): ReportsSeed['receivers']['bank'] {
  return file.administrations.map(({ name, receivers }) => ({
    administrationId: ids.administration(name),
    ...receivers[module],
  }));
}

/** As many items as an attempt has administered, or an analysis measured. */
function formItemsOf({ file, ids, specOfForm }: TenantFile): ReadonlyMap<string, number> {
  const items = new Map([...specOfForm.keys()].map((form) => [form, 0]));
  const raise = (form: string, to: number): void => {
    items.set(form, Math.max(items.get(form) ?? 0, to));
  };
  for (const attempt of file.attempts) raise(attempt.form, attempt.items);
  for (const { testSpec, analyses } of file.administrations) {
    const [first = ''] = defined(file.testSpecs.find(({ name }) => name === testSpec)).forms;
    for (const { artifact } of analyses.flatMap((analysis) => analysis.metrics)) {
      raise(first, artifact?.generatedRows ?? 0);
      for (const { form, item = 0 } of artifact?.rows ?? []) raise(form, item);
    }
  }
  return new Map([...items].map(([form, count]) => [ids.form(form), count]));
}
