import { describe, expect, it } from 'vitest';
import { analyzeAdministration } from '#shared/contract/reports/routes.ts';
import { maxSources } from '#shared/improvement/records.ts';
import type { ImprovementStore, RunKey } from '#shared/improvement/records.ts';
import { ok } from '#shared/kernel/result.ts';
import type { AdministrationAnalysis } from '#shared/platform/owners/analytics.ts';
import { artifactOf, improveRun, names, rowOf } from '#test/support/improvement-facts.ts';
import { openImprovementTable } from '#test/support/improvement-table.ts';
import { createMemoryKeyRing } from '#test/support/key-ring.ts';
import { principalWith } from '#test/support/principal.ts';
import { dependenciesOver, requestOf, scriptedOwners, sentenceOf } from '#test/support/scripted-owners.ts';
import type { Script, Scripted } from '#test/support/scripted-owners.ts';
import { analyzeAdministrationOperation } from './operation.ts';

// What an analysis is pinned to: the owners give one version, and every artifact is the one that its entry names. Owners that return nothing:
// the faults of the reports service in test/lemmas.

const NOW = Date.UTC(2026, 2, 2);
const { administrationId, ...facts } = { ...names, tenantId: 'tenant-1' };
const { policy } = improveRun().sourceFacts;
const hash = (digit: string): string => digit.repeat(64);

const administration = {
  ...facts,
  administrationId,
  version: '3',
  freshness: 'current',
  status: 'scored',
  classSourcedId: null,
  schoolSourcedId: null,
};
const source = (sourceKey: string) => ({
  sourceKey,
  sourceAssessment: 'State assessment',
  sourceVersion: '2025',
  crosswalkId: `crosswalk-${sourceKey.replace(' ', '-')}`,
  sha256: hash('c'),
});
const setOf = (change: object = {}, sha256 = hash('d')): Scripted => ({
  value: {
    tenantId: 'tenant-1',
    testSpecId: facts.contentTestSpecId,
    testSpecVersion: facts.contentTestSpecVersion,
    sourceSetId: 'sources-1',
    version: '4',
    sources: ['state-a', 'state-b', 'state-c'].map(source),
    ...change,
  },
  bodyHash: sha256,
});
const entry = (metric: string) => ({
  metric,
  status: 'available',
  artifact: { artifactRef: `artifact-${metric}`, sha256: hash('a') },
});
const comparisons: AdministrationAnalysis['comparisons'] = [
  { sourceKey: 'state-a', artifact: { artifactRef: 'comparison-a', sha256: hash('b') } },
  { sourceKey: 'state-b', artifact: null },
];
const analysisOf = (change: object = {}): Scripted => ({
  value: {
    ...facts,
    administrationId,
    version: '9',
    freshness: 'current',
    metrics: [entry('item_difficulty')],
    comparisons,
    ...change,
  },
});
const artifact = artifactOf('item_difficulty', { rows: [rowOf('item-1', 'proportion_correct', 0.5)] });
const found: Scripted = { value: { ...artifact, tenantId: 'tenant-1' }, bodyHash: hash('a') };
const otherBytes: Scripted = { ...found, bodyHash: hash('f') };
const script: Script = {
  readAdministration: { value: administration },
  readAlignmentSources: setOf(),
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
      principal: principalWith({ tenantId: 'tenant-1', administrationIds: [administrationId] }),
      path: { administrationId },
    }),
  );
  const body = result.ok ? analyzeAdministration.success.schema.parse(result.value.body) : undefined;
  const run = body && (await runs.readRun({ tenantId: 'tenant-1', improvementRunId: body.improvementRunId }));
  return { answer: sentenceOf(result), body, pins: run?.pins, sent, asked: owners.asked };
}

describe('an analysis', () => {
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
      readAlignmentSources: [setOf(), newerSet],
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
      {
        readAnalysisArtifact: {
          ...found,
          value: { ...artifact, tenantId: 'tenant-1', administrationId: 'b' },
        },
      },
    ],
    [
      'an artifact of another metric',
      'analytics',
      {
        readAnalysisArtifact: {
          ...found,
          value: { ...artifact, tenantId: 'tenant-1', metric: 'form_summary' },
        },
      },
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
  const withSources = (sources: readonly object[]): Script => ({ readAlignmentSources: setOf({ sources }) });
  it.each<[string, string, Script]>([
    ['a source twice', 'blueprint', withSources([source('state-a'), source('state-a')])],
    ['a source by a key that no path can hold', 'blueprint', withSources([source('state a')])],
    ['a source by a dot segment', 'blueprint', withSources([source('..')])],
    ['more sources than a run takes', 'blueprint', withSources(several(maxSources + 1))],
    [
      'a metric twice',
      'analytics',
      {
        readAdministrationAnalysis: analysisOf({
          metrics: [entry('item_difficulty'), entry('item_difficulty')],
        }),
      },
    ],
    [
      'a comparison twice',
      'analytics',
      { readAdministrationAnalysis: analysisOf({ comparisons: [comparisons[0], comparisons[0]] }) },
    ],
  ])('is none where an owner names %s [RP-167, RP-265]', async (_, owner, changes) => {
    expect((await analyze(changes)).answer).toBe(`503 dependency-incomplete ${owner}`);
  });

  it('shows the run of a request under its key that was faster as it is by now, and not a new one [RP-150, RP-293]', async () => {
    const receipt = { sha256: hash('0'), mediaType: 'application/json' } as const;
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
});
