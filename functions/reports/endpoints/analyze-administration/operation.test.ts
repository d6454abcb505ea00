import { describe, expect, it } from 'vitest';
import { analyzeAdministration } from '#shared/contract/reports/routes/analyze-administration.ts';
import { maxSources } from '#shared/improvement/records.ts';
import type { ImprovementStore, PinnedRef, RunKey, RunPins } from '#shared/improvement/records.ts';
import { ok } from '#shared/kernel/result.ts';
import { improveRun, names } from '#test/support/improvement-facts.ts';
import { openImprovementTable } from '#test/support/improvement-table.ts';
import { createMemoryKeyRing } from '#test/support/key-ring.ts';
import { principalWith } from '#test/support/principal.ts';
import { dependenciesOver, requestOf, scriptedOwners, sentenceOf } from '#test/support/scripted-owners.ts';
import type { Script, Scripted } from '#test/support/scripted-owners.ts';
import { analyzeAdministrationOperation } from './operation.ts';

// What an analysis is pinned to: the owners give one version, and every artifact is the one that its entry names. Owners that return nothing:
// the faults of the reports service in test/lemmas.

const NOW = Date.UTC(2026, 2, 2);
const { tenantId, administrationId } = names;
const { sourceFacts, artifacts } = improveRun();
const { policy, run: example } = sourceFacts;
const { pins: pinned } = example;
/** An artifact of the example run as its owner serves it. */
const served = ({ ref, sha256 }: PinnedRef, change: object = {}): Scripted => ({
  value: { ...(JSON.parse(Buffer.from(artifacts.get(ref)!).toString()) as object), ...change },
  bodyHash: sha256,
});

const administration = {
  ...{ ...names, version: '3', freshness: 'current', status: 'scored' },
  ...{ classSourcedId: null, schoolSourcedId: null },
};
const source = (sourceKey: string) => ({
  ...{ sourceKey, sourceAssessment: 'State assessment', sourceVersion: '2025' },
  ...{ crosswalkId: `crosswalk-${sourceKey.length}`, sha256: pinned.sourceSet.sha256 },
});
const setOf = (change: object): Scripted => served(pinned.sourceSet, change);
const artifact = pinned.metrics[0]!.artifact!;
const entry = {
  metric: 'item_difficulty',
  status: 'available',
  artifact: { artifactRef: artifact.ref, sha256: artifact.sha256 },
};
const comparison = { sourceKey: 'state-a', artifact: null };
const analysisOf = (change: object = {}): Scripted => ({
  value: {
    ...{ ...names, version: '9', freshness: 'current' },
    ...{ metrics: [entry], comparisons: [], ...change },
  },
});
const found = served(artifact);
const otherBytes: Scripted = { ...found, bodyHash: 'f'.repeat(64) };
const otherVersion = analysisOf({ contentTestSpecVersion: '13', metrics: [] });
const MISSING_ANALYSIS = '503 dependency-incomplete analytics';
const SILENT = '503 dependency-unavailable analytics';
const script: Script = {
  readAdministration: { value: administration },
  readAlignmentSources: setOf({}),
  readAdministrationAnalysis: analysisOf(),
  readAnalysisArtifact: found,
};

/** @param meanwhile what happens between the reading of the owners and the record of the run */
async function analyze(
  changes: Script = {},
  meanwhile: (
    runs: ImprovementStore,
    run: Parameters<ImprovementStore['createRun']>[0],
  ) => Promise<unknown> = () => Promise.resolve(),
) {
  const { store: runs } = await openImprovementTable();
  const owners = scriptedOwners({ ...script, ...changes });
  const sent: RunKey[] = [];
  const result = await analyzeAdministrationOperation({
    ...dependenciesOver(() => owners, { profile: { analysisPolicyId: policy.id }, now: () => NOW }),
    runs: {
      ...runs,
      async createRun(run) {
        await meanwhile(runs, run);
        return runs.createRun(run);
      },
    },
    keys: createMemoryKeyRing(),
    receiptsUrl: 'https://receipts.example',
    policies: {
      read: () => Promise.resolve(ok({ owner: 'tenant' as const, policy })),
      readPinned: () => Promise.reject(new Error('an analysis begins by the released policy')),
    },
    queue: { send: (run) => Promise.resolve(void sent.push(run)) },
  })(
    requestOf<typeof analyzeAdministration>(NOW, {
      principal: principalWith({ tenantId, administrationIds: [administrationId] }),
      path: { administrationId },
    }),
  );
  const body = result.ok ? analyzeAdministration.success.schema.parse(result.value.body) : undefined;
  const run = body && (await runs.readRun({ tenantId, improvementRunId: body.improvementRunId }));
  return { answer: sentenceOf(result), body, pins: run?.pins, sent, asked: owners.asked };
}

/** The reading of a metric, in one line. */
const metricsOf = (pins: RunPins | undefined) =>
  pins?.metrics.map(({ status, reasonCode }) => [status, reasonCode].filter(Boolean).join(' '));
/** That of the first metric, where Analytics has no other. */
const only = (metric: string) => [metric, ...Array.from({ length: 3 }, () => MISSING)];
const MISSING = 'unavailable owner_artifact_missing';
const NONE: Script = { readAdministrationAnalysis: { kind: 'not-found', status: 404 } };
const readings = (asked: Awaited<ReturnType<typeof analyze>>['asked']) =>
  asked.filter(({ name }) => name === 'readAdministrationAnalysis').length;

describe('an administration that Analytics has never analyzed', () => {
  it('is aligned once a second reading says so too: no metric is available, and no comparison is due [RP-148, RP-160, RP-165]', async () => {
    const { answer, pins, asked, sent } = await analyze(NONE);
    expect([answer, metricsOf(pins), readings(asked)]).toEqual(['facts', [...only(MISSING)], 2]);
    expect(pins?.sources.map(({ comparison: due }) => due)).toEqual(['not_analyzed']);
    expect(sent).toHaveLength(1);
  });

  const { readAdministrationAnalysis: none } = NONE as { readAdministrationAnalysis: Scripted };
  it.each<[string, string, readonly string[] | undefined, readonly Scripted[]]>([
    ['is taken when it is there after all', 'facts', only('available'), [none, analysisOf()]],
    ['is 503 when it is gone a moment later', MISSING_ANALYSIS, undefined, [otherVersion, none]],
    ['is 503 when Analytics is silent', SILENT, undefined, [none, { kind: 'unavailable' }]],
    ['is 503 when Analytics refuses the service', SILENT, undefined, [{ kind: 'rejected', status: 403 }]],
  ])('%s [RP-264, RP-265]', async (_, expected, metrics, readAdministrationAnalysis) => {
    const { answer, pins } = await analyze({ readAdministrationAnalysis });
    expect([answer, metricsOf(pins)]).toEqual([expected, metrics]);
  });
});

describe('an analysis that is stale', () => {
  const stale = (change: object = {}): Script => ({
    readAdministrationAnalysis: analysisOf({ freshness: 'stale', ...change }),
  });
  const suppressed = { suppression: { status: 'suppressed', rule: 'few' } };
  const shown = { suppression: { status: 'not_suppressed', rule: 'few' } };

  it.each<[string, string, object, object]>([
    ['available', 'stale stale', {}, {}],
    ['of a status of tomorrow', 'stale stale', { status: 'draft' }, {}],
    ['suppressed', 'suppressed suppressed', { status: 'suppressed' }, shown],
    ['suppressed in its artifact', 'suppressed suppressed', {}, suppressed],
    ['absent', MISSING, { status: 'unavailable', artifact: null }, {}],
  ])(
    'makes of a metric that it calls %s one that is: %s; one that it does not name is unavailable [RP-158, RP-165]',
    async (_, expected, change, content) => {
      const { pins } = await analyze({
        ...stale({ metrics: [{ ...entry, ...change }] }),
        readAnalysisArtifact: served(artifact, content),
      });
      expect(metricsOf(pins)).toEqual(only(expected));
    },
  );

  it('has comparisons that are due and missing [RP-152, RP-175]', async () => {
    const { sha256, artifactRef } = entry.artifact;
    for (const held of [null, { sha256, artifactRef }]) {
      const comparisons = [{ sourceKey: source('state-a').sourceKey, artifact: held }];
      const { pins } = await analyze({
        ...stale({ comparisons }),
        readAlignmentSources: setOf({ sources: [source('state-a'), source('state-bb')] }),
      });
      expect(pins?.sources.map(({ comparison: due }) => due)).toEqual(['missing', null]);
    }
  });

  it('is 503 while nobody knows how old it is [RP-087]', async () => {
    expect((await analyze(stale({ freshness: 'unknown' }))).answer).toBe(MISSING_ANALYSIS);
  });
});

describe('an analysis', () => {
  const row = (change: object = {}) => ({
    ...{ qtiItemId: 'i', qtiFormId: null, qtiTestId: null, caseGuids: ['g'] },
    measures: [{ name: 'proportion_correct', value: 0.4, unit: 'proportion' }],
    ...change,
  });
  const twice = [row(), row({ measures: [{ name: 'proportion_correct', value: 0.9, unit: 'proportion' }] })];
  it.each<[string, object]>([
    ['a sample of 99,999 of a population of 26', { populationCount: 26, sampleCount: 99_999 }],
    ['a population of nobody', { populationCount: 0, sampleCount: 0 }],
    ['one item twice with two values', { rows: twice }],
  ])('goes without a metric that has %s [RP-159, RP-161, RP-165]', async (_, change) => {
    const { answer, pins } = await analyze({ readAnalysisArtifact: served(artifact, change) });
    expect([answer, metricsOf(pins)]).toEqual(['facts', only('unavailable owner_field_missing')]);
  });

  it('is judged by rules 3 [RP-146]', async () => {
    expect((await analyze()).pins?.rules).toBe('3');
  });

  it('asks once for an artifact that cannot be read, and twice for one that Analytics does not hold [RP-031, RP-165, RP-264]', async () => {
    for (const [kind, reasonCode, times] of [
      ['unavailable', 'receiver_unavailable', 1],
      ['not-found', 'owner_artifact_missing', 2],
    ] as const) {
      const { pins, asked } = await analyze({ readAnalysisArtifact: { kind } });
      expect(pins?.metrics[0]).toMatchObject({ status: 'unavailable', reasonCode, artifact: null });
      expect(asked.filter(({ name }) => name === 'readAnalysisArtifact')).toHaveLength(times);
    }
  });

  const newer = { contentTestSpecVersion: '13' };
  const newerSet = setOf({ testSpecVersion: '13' });
  const newerAnalysis = analysisOf({ ...newer, metrics: [] });
  const administrations: Script = {
    readAdministration: [{ value: administration }, { value: { ...administration, ...newer } }],
  };

  it('follows owners that have moved on together meanwhile, the administration with them', async () => {
    const { pins, asked } = await analyze({
      ...administrations,
      readAlignmentSources: [setOf({}), newerSet],
      readAdministrationAnalysis: newerAnalysis,
    });
    expect(pins).toMatchObject(newer);
    const asking = asked.filter(({ name }) => name === 'readAlignmentSources');
    expect(asking.map(({ call }) => call.query)).toEqual([{ version: '12' }, { version: '13' }]);
  });

  it('takes an artifact that fits, or is there, at the second reading', async () => {
    for (const first of [otherBytes, { kind: 'not-found' } as const]) {
      const { pins } = await analyze({ readAnalysisArtifact: [first, found] });
      expect(pins?.metrics[0]).toMatchObject({ status: 'available' });
    }
  });

  it.each<[string, string, Script]>([
    ['Content at another version', 'blueprint', { readAlignmentSources: newerSet }],
    [
      'Content at the version before that of the others',
      'blueprint',
      { ...administrations, readAdministrationAnalysis: newerAnalysis },
    ],
    ['Analytics at another version', 'analytics', { readAdministrationAnalysis: newerAnalysis }],
    [
      'an artifact of another administration',
      'analytics',
      { readAnalysisArtifact: served(artifact, { administrationId: 'b' }) },
    ],
    [
      'an artifact of another metric',
      'analytics',
      { readAnalysisArtifact: served(artifact, { metric: 'form_summary' }) },
    ],
  ])(
    'is a conflict where owners do not agree after one more read: %s [RP-264]',
    async (_, owner, changes) => {
      const { answer, asked } = await analyze(changes);
      expect(answer).toBe(`409 source-version-conflict ${owner}`);
      expect(asked.filter(({ name }) => name === 'readAdministrationAnalysis')).toHaveLength(2);
    },
  );

  it('goes on where Analytics goes back to the version that Content holds [RP-264]', async () => {
    const { answer } = await analyze({
      readAdministrationAnalysis: [newerAnalysis, analysisOf()],
    });
    expect(answer).toBe('facts');
  });

  const several = (count: number) => Array.from({ length: count }, (_, at) => source(`s${at}`));
  const withSet = (change: object): Script => ({ readAlignmentSources: setOf(change) });
  const withSources = (sources: readonly object[]) => withSet({ sources });
  const withAnalysis = (change: object): Script => ({ readAdministrationAnalysis: analysisOf(change) });
  it.each<[string, string, Script]>([
    ['a source twice', 'blueprint', withSources([source('state-a'), source('state-a')])],
    ['a source by a key that no path can hold', 'blueprint', withSources([source('state a')])],
    ['a source by a dot segment', 'blueprint', withSources([source('..')])],
    ['more sources than a run takes', 'blueprint', withSources(several(maxSources + 1))],
    ['sources without the slots of the blueprint', 'blueprint', withSet({ slotIds: undefined })],
    ['sources without its CASE GUIDs', 'blueprint', withSet({ caseGuids: undefined })],
    ['a metric twice', 'analytics', withAnalysis({ metrics: [entry, entry] })],
    ['a comparison twice', 'analytics', withAnalysis({ comparisons: [comparison, comparison] })],
  ])('is none where an owner names %s [RP-167, RP-265]', async (_, owner, changes) => {
    expect((await analyze(changes)).answer).toBe(`503 dependency-incomplete ${owner}`);
  });

  it('reads lists that name a thing twice once more, and takes them when they no longer do [RP-028]', async () => {
    const [sources] = [[source('state-a'), source('state-a')]];
    const { answer, asked } = await analyze({ readAlignmentSources: [setOf({ sources }), setOf({})] });
    expect([answer, readings(asked)]).toEqual(['facts', 2]);
  });

  it('shows the run of a request under its key that was faster as it is by now, and not a new one [RP-150, RP-293]', async () => {
    const receipt = { sha256: '0'.repeat(64), mediaType: 'application/json' } as const;
    const { body, sent } = await analyze(withSources([source('state-a')]), async (runs, run) => {
      await runs.createRun(run);
      await runs.putEvidence(run, { key: 'source:state-a', evaluatedAt: NOW + 1, receipt });
      const completed = { state: 'completed_with_omissions', completedAt: NOW + 2, receipt } as const;
      await runs.moveRun(run, completed, NOW + 2);
    });
    expect(body).toMatchObject({ status: 'completed_with_omissions', alignmentRecordCount: 1 });
    expect(body?.receipt).not.toBeNull();
    expect(sent).toEqual([]);
  });

  it('sends its run on again where that waits for a receiver by then [RP-217, RP-293]', async () => {
    const { body, sent } = await analyze({}, async (runs, run) => {
      await runs.createRun(run);
      await runs.moveRun(run, { state: 'blocked_upstream' }, NOW);
    });
    expect(body?.status).toBe('blocked_upstream');
    expect(sent).toEqual([{ tenantId, improvementRunId: body?.improvementRunId }]);
  });

  it('wakes what waits on the same administration, and nothing else [RP-217]', async () => {
    const { body, sent } = await analyze({}, async (runs, run) => {
      const others = [
        ['run_waiting', {}],
        ['run_elsewhere', { administrationId: 'another' }],
        ['run_foreign', { tenantId: 'another' }],
        ['run_analyzing', {}],
      ] as const;
      for (const [improvementRunId, change] of others) {
        const other = await runs.createRun({ ...run, improvementRunId, ...change });
        const state = improvementRunId === 'run_analyzing' ? 'analyzing' : 'blocked_upstream';
        await runs.moveRun(other, { state }, NOW);
      }
    });
    expect(sent.map((run) => [run.tenantId, run.improvementRunId])).toEqual([
      [tenantId, body?.improvementRunId],
      [tenantId, 'run_waiting'],
    ]);
  });
});
