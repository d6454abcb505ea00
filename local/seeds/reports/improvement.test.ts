import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { isBreached } from '#shared/contract/reports/analysis-policy.ts';
import type { AnalysisTrigger, Subject } from '#shared/contract/reports/analysis-policy.ts';
import { runMetrics, sourceKey as sourceKeySchema } from '#shared/contract/reports/improvement-run.ts';
import { schemaDefects } from '#shared/kernel/defect.ts';
import type { Defect } from '#shared/kernel/defect.ts';
import * as operations from '#shared/platform/operations.ts';
import type {
  AdministrationAnalysis,
  AnalysisArtifact,
  ComparisonArtifact,
  MetricArtifact,
} from '#shared/platform/owners/analytics.ts';
import type { AlignmentCrosswalk } from '#shared/platform/owners/content.ts';
import { isItemOf } from '#local/platform/form-items.ts';
import { instantiateSeed } from '../instantiate.ts';
import type { SeededTenant } from '../instantiate.ts';
import { DEFAULT_SEED_DIRECTORY, loadSeed } from '../load.ts';
import { renderDefects } from '../seed.ts';
import { localTenantIds } from '../tenants.ts';
import { checkReports } from './check.ts';
import { reportsFile } from './file.ts';

let aurora: SeededTenant;
beforeAll(async () => {
  const loaded = await loadSeed(DEFAULT_SEED_DIRECTORY);
  if (!loaded.ok) throw new Error(renderDefects(loaded.error));
  aurora = instantiateSeed(loaded.value, localTenantIds[0]);
});

/** Everything that owners say about one administration. */
function factsOf(administrationId: string) {
  const { reports } = aurora.platform;
  const administration = reports.administrations.find((one) => one.administrationId === administrationId)!;
  const analysis =
    reports.analyses.find((one) => one.administrationId === administrationId) ??
    reports.generated.analyses.get(administrationId)?.();
  const { contentTestSpecId: spec } = administration;
  const set =
    reports.alignmentSources.find(({ testSpecId }) => testSpecId === spec) ??
    reports.generated.alignmentSources.get(spec)?.();
  const artifacts = (analysis === undefined ? [] : [...analysis.metrics, ...analysis.comparisons]).flatMap(
    ({ artifact }) => (artifact === null ? [] : [artifactOf(artifact.artifactRef)]),
  );
  return { administration, analysis, set, artifacts };
}

function artifactOf(ref: string): AnalysisArtifact {
  const { analysisArtifacts, generated } = aurora.platform.reports;
  return (
    analysisArtifacts.find(({ artifactRef }) => artifactRef === ref) ??
    generated.analysisArtifacts.get(ref)!()
  );
}

function crosswalkOf(id: string): AlignmentCrosswalk {
  const { alignmentCrosswalks, generated } = aurora.platform.reports;
  return (
    alignmentCrosswalks.find(({ crosswalkId }) => crosswalkId === id) ??
    generated.alignmentCrosswalks.get(id)!()
  );
}

const special = (name: string): string => aurora.fixtures.reports.special.administrations[name]!;
const metricOf = (artifacts: readonly AnalysisArtifact[], metric: string): MetricArtifact =>
  artifacts.find((one): one is MetricArtifact => one.kind === 'metric' && one.metric === metric)!;

/** How a requirement counts, by the text of the specification: in full, or why not. */
function judge({ mappings, sourceDok }: AlignmentCrosswalk['requirements'][number]): string {
  const [mapping, ...others] = mappings.filter(({ status }) => status === 'current');
  if (mapping === undefined) return mappings.length > 0 ? 'stale' : 'missing';
  if (others.length > 0) return 'ambiguous';
  if (mapping.blueprintSlotId === null || mapping.targetDok === null) return 'uncovered';
  return mapping.targetDok < sourceDok ? 'lower_dok' : 'full';
}

/** One value that a trigger could be about, with the subjects that its evidence names. */
interface Observation {
  readonly metric: string;
  readonly name: string;
  readonly value: number;
  readonly subjects: readonly Subject[];
}

function observationsOf(administrationId: string): readonly Observation[] {
  const { analysis, set, artifacts } = factsOf(administrationId);
  const usable = artifacts.filter(({ suppression }) => suppression.status === 'not_suppressed');
  const listed = new Set(
    analysis!.metrics.filter(({ status }) => status === 'available').map(({ metric }) => metric),
  );
  const named = (one: Readonly<Partial<Record<Subject, string | readonly string[] | null>>>): Subject[] =>
    (Object.entries(one) as [Subject, string | readonly string[] | null][])
      .filter(([, value]) => value !== null && value.length > 0)
      .map(([subject]) => subject);
  const ofRow = ({ qtiItemId, qtiFormId, qtiTestId, caseGuids }: MetricArtifact['rows'][number]) =>
    named({ qtiItemId, qtiFormId, qtiTestId, caseGuids });
  const measured = usable
    .filter((one): one is MetricArtifact => one.kind === 'metric' && listed.has(one.metric))
    .flatMap(({ metric, rows }) =>
      rows.flatMap((row) =>
        row.measures.map(({ name, value }) => ({ metric, name, value, subjects: ofRow(row) })),
      ),
    );
  const compared = usable
    .filter((one): one is ComparisonArtifact => one.kind === 'comparison' && one.populationCount > 0)
    .map(({ agreementCount, populationCount, sourceKey, ...one }) => ({
      metric: 'predicted_actual',
      name: 'observed_agreement',
      value: agreementCount! / populationCount,
      subjects: named({
        qtiFormId: one.qtiFormId,
        qtiTestId: one.qtiTestId,
        caseGuids: one.caseGuids,
        sourceKeys: [sourceKey],
      }),
    }));
  const aligned = (set?.sources ?? []).flatMap(({ crosswalkId, sourceKey }) => {
    const { requirements } = crosswalkOf(crosswalkId);
    const count = (name: string, ...kinds: readonly string[]): Observation => {
      const found = requirements.filter((requirement) => kinds.includes(judge(requirement)));
      const caseGuids = found
        .filter(({ mappings }) => mappings.length === 1 && mappings[0]!.status === 'current')
        .map(({ mappings }) => mappings[0]!.caseGuid);
      const subjects = named({ sourceKeys: [sourceKey], caseGuids });
      return { metric: 'alignment', name, value: found.length, subjects };
    };
    return [
      count('uncovered_requirements', 'missing', 'ambiguous', 'stale', 'uncovered'),
      count('lower_dok_requirements', 'lower_dok'),
    ];
  });
  return [...measured, ...compared, ...aligned];
}

/** How often each trigger of the policy is tripped with all its subjects, and without one of them. */
function tripsOf(administrationId: string) {
  const { triggers } = aurora.analysisPolicy.document;
  const observations = observationsOf(administrationId);
  return triggers.map((trigger: AnalysisTrigger) => {
    const breached = observations.filter(
      ({ metric, name, value }) =>
        metric === trigger.metric && name === trigger.observed.name && isBreached(trigger.threshold, value),
    );
    const isWhole = ({ subjects }: Observation): boolean =>
      trigger.requiredSubjects.every((subject) => subjects.includes(subject));
    return {
      targetModule: trigger.targetModule,
      orders: breached.filter(isWhole).length,
      withheld: breached.filter((one) => !isWhole(one)).length,
    };
  });
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

describe('what improvement runs rest on in the default seed', () => {
  it('are entities that the owners’ schemas take, about their own administration and test spec', () => {
    const { administrations, laterAnalyses } = aurora.platform.reports;
    let found = 0;
    for (const { administrationId } of administrations) {
      const { administration, analysis, set, artifacts } = factsOf(administrationId);
      const spec = { contentTestSpecId: administration.contentTestSpecId };
      if (set !== undefined) operations.readAlignmentSources.answer.parse(set);
      for (const { crosswalkId, ...source } of (set?.sources ?? []).slice(0, 3)) {
        const crosswalk = operations.readAlignmentCrosswalk.answer.parse(crosswalkOf(crosswalkId));
        expect(crosswalk).toMatchObject({
          testSpecId: administration.contentTestSpecId,
          sourceKey: sourceKeySchema.parse(source.sourceKey),
          sourceAssessment: source.sourceAssessment,
          sourceVersion: source.sourceVersion,
        });
      }
      if (analysis === undefined) continue;
      found += 1;
      operations.readAdministrationAnalysis.answer.parse(analysis);
      expect(analysis).toMatchObject(spec);
      const keys = set!.sources.map(({ sourceKey }) => sourceKey);
      for (const { sourceKey } of analysis.comparisons) expect(keys).toContain(sourceKey);
      for (const artifact of artifacts) {
        operations.readAnalysisArtifact.answer.parse(artifact);
        const { contentTestSpecVersion } = analysis;
        expect(artifact).toMatchObject({ administrationId, ...spec, contentTestSpecVersion });
      }
    }
    expect(found).toBe(12);
    expect([...laterAnalyses.values()].flat()).toHaveLength(1);
  });

  it('measure items that their form has', () => {
    const { reports } = aurora.platform;
    const rows = reports.analysisArtifacts.flatMap((one) => (one.kind === 'metric' ? one.rows : []));
    expect(rows.length).toBeGreaterThan(50);
    for (const { qtiItemId, qtiTestId } of rows) {
      if (qtiItemId === null) continue;
      const items = reports.formItems.get(qtiTestId!)!;
      expect(isItemOf(qtiTestId!, items, qtiItemId)).toBe(true);
    }
  });

  it('begin with an administration that has everything, and asks both modules for every revision', () => {
    const [first = ''] = aurora.fixtures.reports.administrations;
    const { administration, analysis, set, artifacts } = factsOf(first);
    expect(administration).toMatchObject({ status: 'scored', freshness: 'current' });
    expect(analysis!.metrics.map(({ metric }) => metric)).toEqual([...runMetrics]);
    expect(analysis!.metrics.every(({ status }) => status === 'available')).toBe(true);
    expect(set!.sources.map(({ sourceKey }) => sourceKey)).toEqual(aurora.fixtures.reports.sourceKeys);
    expect(set!.sources).toHaveLength(3);
    const requirements = set!.sources.flatMap(({ crosswalkId }) => crosswalkOf(crosswalkId).requirements);
    expect(requirements.length).toBeGreaterThan(80);
    expect(new Set(requirements.map(judge))).toEqual(
      new Set(['full', 'missing', 'ambiguous', 'stale', 'uncovered', 'lower_dok']),
    );
    const weights = requirements.map(({ weight }) => weight);
    expect(weights).toEqual(expect.arrayContaining([0.1, 2.5]));
    const compared = artifacts.filter(({ kind }) => kind === 'comparison');
    expect(compared.map(({ suppression }) => suppression.status)).toEqual([
      'not_suppressed',
      'not_suppressed',
    ]);
    const trips = tripsOf(first);
    expect(trips).toHaveLength(9);
    expect(trips.every(({ orders }) => orders > 0)).toBe(true);
    expect(sum(trips.map(({ withheld }) => withheld))).toBe(0);
    const toBank = trips.filter(({ targetModule }) => targetModule === 'bank');
    expect(sum(toBank.map(({ orders }) => orders))).toBeGreaterThan(5);
  });

  it('go on with one that has omissions', () => {
    const second = aurora.fixtures.reports.administrations[1]!;
    const { analysis, artifacts } = factsOf(second);
    expect(analysis!.metrics.map(({ status }) => status)).toEqual([
      'available',
      'suppressed',
      'unavailable',
      'stale',
    ]);
    expect(metricOf(artifacts, 'item_discrimination')).toMatchObject({
      populationCount: null,
      sampleCount: null,
      rows: [],
    });
    expect(metricOf(artifacts, 'item_discrimination').suppression.rule).not.toBeNull();
    expect(analysis!.comparisons.map(({ artifact }) => artifact === null)).toEqual([true, false]);
    expect(artifacts.at(-1)).toMatchObject({ kind: 'comparison', populationCount: 0 });
  });

  it('have a third whose Blueprint receiver is missing, though there are orders for both', () => {
    const third = aurora.fixtures.reports.administrations[2]!;
    const trips = tripsOf(third).filter(({ orders }) => orders > 0);
    expect(new Set(trips.map(({ targetModule }) => targetModule))).toEqual(new Set(['bank', 'blueprint']));
    expect(aurora.platform.reports.receivers.blueprint).toContainEqual({
      administrationId: third,
      status: 'missing',
      refuses: [],
    });
  });

  it('have special ones for whatever else may be found', () => {
    for (const quiet of ['nothing-trips', 'no-named-source']) {
      expect(sum(tripsOf(special(quiet)).flatMap(({ orders, withheld }) => [orders, withheld]))).toBe(0);
      expect(factsOf(special(quiet)).analysis!.metrics).toHaveLength(4);
    }
    expect(factsOf(special('nothing-trips')).set!.sources).toHaveLength(1);
    expect(factsOf(special('no-named-source')).set!.sources).toEqual([]);
    expect(factsOf(special('without-analysis')).analysis).toBeUndefined();
    expect(factsOf(special('draft-gate')).set).toBeUndefined();
    expect(factsOf(special('open-gate')).administration.status).toBe('open');
    expect(factsOf(special('open-gate')).analysis).toBeDefined();
    expect(factsOf(special('stale-analysis')).analysis!.freshness).toBe('stale');
    const versions = (id: string): boolean => {
      const { administration, analysis } = factsOf(id);
      return administration.contentTestSpecVersion === analysis!.contentTestSpecVersion;
    };
    expect(versions(special('analysis-of-another-version'))).toBe(false);
    expect(versions(special('crosswalk-of-another-version'))).toBe(true);
    const withheld = tripsOf(special('normed-diagnostic'));
    expect(withheld.filter((one) => one.withheld > 0)).toHaveLength(1);
    expect(withheld.some(({ orders, targetModule }) => orders > 0 && targetModule === 'blueprint')).toBe(
      true,
    );
    const hidden = factsOf(special('normed-diagnostic')).artifacts.at(-1);
    expect(hidden).toMatchObject({ kind: 'comparison', suppression: { status: 'suppressed' } });
    const refused = tripsOf(special('refused-by-bank'));
    expect(refused.some(({ orders, targetModule }) => orders > 0 && targetModule === 'bank')).toBe(true);
  });

  it('have a later analysis of the first, on other evidence of the same items', () => {
    const [first = ''] = aurora.fixtures.reports.administrations;
    const { analysis } = factsOf(first);
    const [later] = aurora.platform.reports.laterAnalyses.get(first)!;
    const refs = (one: AdministrationAnalysis): readonly (string | undefined)[] =>
      one.metrics.map(({ artifact }) => artifact?.artifactRef);
    const changed = refs(analysis!).map((ref, at) => ref !== refs(later!)[at]);
    expect(changed).toEqual([false, true, false, false]);
    expect(later!.version).not.toBe(analysis!.version);
    const lowItems = (one: AdministrationAnalysis): ReadonlySet<string | null> =>
      new Set(
        metricOf(
          one.metrics.map(({ artifact }) => artifactOf(artifact!.artifactRef)),
          'item_discrimination',
        )
          .rows.filter(({ measures }) => measures[0]!.value < 0.2)
          .map(({ qtiItemId }) => qtiItemId),
      );
    const [before, after] = [lowItems(analysis!), lowItems(later!)];
    expect(after.size).toBe(2);
    expect(before.size).toBe(3);
    expect([...before]).toEqual(expect.arrayContaining([...after]));
  });

  it('have a large one that names more standards than one order can', () => {
    const { set } = factsOf(special('large-sitting'));
    const lower = (at: number): number => {
      const { requirements } = crosswalkOf(set!.sources[at]!.crosswalkId);
      const found = requirements.filter((requirement) => judge(requirement) === 'lower_dok');
      return new Set(found.map(({ mappings }) => mappings[0]!.caseGuid)).size;
    };
    expect(lower(0)).toBeGreaterThan(1000);
    expect(lower(1)).toBeLessThan(100);
    const { requirements } = crosswalkOf(set!.sources[0]!.crosswalkId);
    expect(new Set(requirements.map(judge)).size).toBe(6);
  });
});

describe('a reports.json without a word on improvement', () => {
  it('has administrations of which nothing is known, and nothing to analyze', async () => {
    const loaded = await loadSeed(DEFAULT_SEED_DIRECTORY);
    if (!loaded.ok) throw new Error(renderDefects(loaded.error));
    const { reports } = loaded.value;
    const without = (entry: object, ...members: readonly string[]): object =>
      Object.fromEntries(Object.entries(entry).filter(([name]) => !members.includes(name)));
    const plain = reportsFile.parse({
      ...reports,
      testSpecs: reports.testSpecs.map((spec) => without(spec, 'alignment')),
      administrations: reports.administrations.map((entry) => without(entry, 'analyses', 'receivers')),
      fixtures: without(reports.fixtures, 'administrations'),
    });
    expect(checkReports(plain)).toEqual([]);
    const seeded = instantiateSeed({ ...loaded.value, reports: plain }, localTenantIds[0]);
    expect(seeded.fixtures.reports).toMatchObject({ administrations: [], sourceKeys: [] });
    expect(Object.keys(seeded.fixtures.reports.special.administrations)).toEqual(
      plain.administrations.map(({ name }) => name),
    );
    const { alignmentSources, analyses, generated, receivers } = seeded.platform.reports;
    expect([alignmentSources, analyses]).toEqual([[], []]);
    expect(generated.analyses.size + generated.alignmentSources.size).toBe(0);
    expect(receivers.blueprint.every(({ status }) => status === 'available')).toBe(true);
  });
});

describe('a reports.json with a defect in what improvement runs rest on', () => {
  let file: string;
  beforeAll(async () => {
    file = await readFile(join(DEFAULT_SEED_DIRECTORY, 'reports.json'), 'utf8');
  });

  /** What is found in the default file with one member replaced. */
  function defectsWith(pointer: string, value: unknown): readonly Defect[] {
    const changed = JSON.parse(file) as unknown;
    const steps = pointer.slice(1).split('/');
    const last = steps.pop()!;
    const parent = steps.reduce((at, step) => (at as Record<string, unknown>)[step], changed);
    (parent as Record<string, unknown>)[last] = value;
    const parsed = reportsFile.safeParse(changed);
    return parsed.success ? checkReports(parsed.data) : schemaDefects(parsed.error);
  }

  const sources = '/testSpecs/0/alignment/sources';
  const first = '/administrations/0/analyses/0';
  it.each<[string, string, unknown, string?]>([
    [
      'an alignment of both forms',
      '/testSpecs/0/alignment/generated',
      { sources: 1, requirements: 1 },
      '/testSpecs/0/alignment',
    ],
    ['an alignment of neither form', '/testSpecs/0/alignment', {}],
    ['a source twice', `${sources}/1/key`, 'state-mathematics-5'],
    ['a requirement twice', `${sources}/0/requirements/1/id`, 'SM5.NF.01'],
    ['a source without requirements', `${sources}/0/requirements`, []],
    ['a requirement without weight', `${sources}/0/requirements/0/weight`, 0],
    ['a depth of knowledge that does not exist', `${sources}/0/requirements/0/dok`, 5],
    ['a mapping to nothing', `${sources}/0/requirements/0/mappings/0/code`, '9.X'],
    ['a metric twice', `${first}/metrics/1/metric`, 'item_difficulty'],
    ['a metric that does not exist', `${first}/metrics/1/metric`, 'item_length'],
    ['a row on another form', `${first}/metrics/0/artifact/rows/0/form`, 'diagnostic-pool'],
    ['a row on an unknown competency', `${first}/metrics/0/artifact/rows/0/codes/0`, '9.X'],
    ['a row of an item without its number', `${first}/metrics/0/artifact/rows/0/item`, undefined],
    ['a row of a form with an item', `${first}/metrics/3/artifact/rows/0/item`, 1],
    ['a measure of another metric', `${first}/metrics/0/artifact/rows/0/measures/discrimination_index`, 0.5],
    ['a value out of reach', `${first}/metrics/0/artifact/rows/0/measures/proportion_correct`, 1.5],
    ['generated rows beside written ones', `${first}/metrics/0/artifact/generatedRows`, 5],
    ['generated rows of a form', '/administrations/7/analyses/0/metrics/3/artifact/generatedRows', 5],
    ['a comparison with a source of another spec', `${first}/comparisons/0/source`, 'ratio-benchmark'],
    ['a comparison twice', `${first}/comparisons/1/source`, 'state-mathematics-5'],
    ['a comparison on another form', `${first}/comparisons/0/artifact/form`, 'diagnostic-pool'],
    ['a comparison on an unknown competency', `${first}/comparisons/0/artifact/codes/0`, '9.X'],
    ['a refusal of what is not asked', '/administrations/10/receivers/bank/refuses/0', 'repair_crosswalk'],
    ['an administration in stack.json that is none', '/fixtures/administrations/0', 'nowhere'],
    ['an administration in stack.json twice', '/fixtures/administrations/1', 'spring-gate'],
    ['one in stack.json that is not scored', '/fixtures/administrations/0', 'open-gate'],
    ['one in stack.json without analysis', '/fixtures/administrations/0', 'without-analysis'],
  ])('is refused where it stands: %s', (_, pointer, value, found = pointer) => {
    expect(defectsWith(pointer, value).map((defect) => defect.pointer)).toContain(found);
  });
});
