import { describe, expect, it } from 'vitest';
import { maxSources } from '#shared/improvement/records.ts';
import { ok } from '#shared/kernel/result.ts';
import type { Administration } from '#shared/platform/owners/administration.ts';
import { policyOn } from '#test/support/improvement-facts.ts';
import { anExampleOf } from '#test/support/report-facts.ts';
import { scriptedOwners } from '#test/support/scripted-owners.ts';
import type { Script, Scripted } from '#test/support/scripted-owners.ts';
import { createSourceReader } from '#functions/reports/sources/reader.ts';
import { readImprovementBasis } from './read-basis.ts';

// What an analysis is pinned to: the owners speak of one version, and every artifact is the one that its entry names.

const spec = { contentTestSpecId: 'spec-1', contentTestSpecVersion: '7' };
const administration: Administration = {
  tenantId: 'tenant-1',
  administrationId: 'administration-1',
  version: '3',
  freshness: 'current',
  status: 'scored',
  ...spec,
  classSourcedId: null,
  schoolSourcedId: null,
};
const hash = (digit: string): string => digit.repeat(64);
const source = (sourceKey: string) => ({
  sourceKey,
  sourceAssessment: 'State assessment',
  sourceVersion: '2025',
  crosswalkId: `crosswalk-${sourceKey.replace(' ', '-')}`,
  sha256: hash('c'),
});
const sourceSet = {
  tenantId: 'tenant-1',
  testSpecId: 'spec-1',
  testSpecVersion: '7',
  sourceSetId: 'sources-1',
  version: '4',
  sources: [source('state-a'), source('state-b'), source('state-c')],
};
const artifact = (metric: string) => ({
  kind: 'metric',
  tenantId: 'tenant-1',
  artifactRef: `artifact-${metric}`,
  administrationId: 'administration-1',
  ...spec,
  metric,
  formulaVersion: 'classical-2',
  populationCount: 40,
  sampleCount: 38,
  suppression: { status: 'not_suppressed', rule: null },
  analysisWindow: { start: '2026-02-01T00:00:00Z', end: '2026-02-28T00:00:00Z' },
  rows: [
    {
      qtiItemId: 'item-1',
      qtiFormId: 'form-1',
      qtiTestId: 'form-1',
      caseGuids: [],
      measures: [{ name: 'proportion_correct', value: 0.5, unit: 'proportion' }],
    },
  ],
});
const entry = (metric: string) => ({
  metric,
  status: 'available',
  artifact: { artifactRef: `artifact-${metric}`, sha256: hash('a') },
});
const analysis = {
  tenantId: 'tenant-1',
  administrationId: 'administration-1',
  version: '9',
  freshness: 'current',
  ...spec,
  metrics: [entry('item_difficulty')],
  comparisons: [
    { sourceKey: 'state-a', artifact: { artifactRef: 'comparison-a', sha256: hash('b') } },
    { sourceKey: 'state-b', artifact: null },
  ],
};
const found: Scripted = { value: artifact('item_difficulty'), bodyHash: hash('a') };
const script: Script = {
  readAlignmentSources: { value: sourceSet, bodyHash: hash('d') },
  readAdministrationAnalysis: { value: analysis },
  readAnalysisArtifact: found,
};

const policy = anExampleOf(policyOn('alignment'));

async function read(changes: Script = {}, again: Partial<Administration> = {}) {
  const owners = scriptedOwners({ ...script, ...changes });
  const reader = createSourceReader(owners, () => 1);
  const observed = (value: Administration) => ({
    value,
    receipt: {
      service: 'unknown' as const,
      resourceId: value.administrationId,
      observedAt: '1',
      version: value.version,
      status: value.freshness,
    },
  });
  const result = await readImprovementBasis(reader, policy, observed(administration), () =>
    Promise.resolve(ok(observed({ ...administration, ...again }))),
  );
  const said = result.ok
    ? 'basis'
    : [result.error.status, result.error.code, result.error.dependency ?? '-'].join(' ');
  return { owners, result, said };
}

async function pinned(changes: Script = {}) {
  const { result } = await read(changes);
  if (!result.ok) throw new Error(result.error.code);
  return result.value;
}

describe('the basis of an analysis', () => {
  it('pins the blueprint version, its sources and every artifact by the digest of its bytes [RP-144, RP-149, RP-157]', async () => {
    const { pins, artifacts } = await pinned();
    expect(pins).toMatchObject({
      ...spec,
      sourceSet: { ref: 'sources-1', sha256: hash('d') },
      metrics: [
        { metric: 'item_difficulty', status: 'available', artifact: { sha256: hash('a') } },
        { metric: 'item_discrimination', status: 'unavailable', artifact: null },
        { metric: 'distractor_distribution', status: 'unavailable', artifact: null },
        { metric: 'form_summary', status: 'unavailable', artifact: null },
      ],
    });
    expect(pins.sources).toEqual([
      {
        sourceKey: 'state-a',
        crosswalk: { ref: 'crosswalk-state-a', sha256: hash('c') },
        comparison: { ref: 'comparison-a', sha256: hash('b') },
      },
      {
        sourceKey: 'state-b',
        crosswalk: { ref: 'crosswalk-state-b', sha256: hash('c') },
        comparison: 'missing',
      },
      { sourceKey: 'state-c', crosswalk: { ref: 'crosswalk-state-c', sha256: hash('c') }, comparison: null },
    ]);
    expect([...artifacts.keys()]).toEqual(['item_difficulty']);
  });

  it('takes an artifact that Analytics does not hold for a metric that is not available, and calculates none [RP-031, RP-165]', async () => {
    const { pins } = await pinned({ readAnalysisArtifact: { kind: 'not-found' } });
    expect(pins.metrics[0]).toEqual({
      metric: 'item_difficulty',
      status: 'unavailable',
      reasonCode: 'owner_artifact_missing',
      artifact: null,
    });
  });

  it.each(['unavailable', 'malformed', 'rejected', 'wrong-tenant'] as const)(
    'goes on without a metric whose artifact is %s, and reads nothing a second time for it [RP-165, RP-264]',
    async (kind) => {
      const { result, owners } = await read({ readAnalysisArtifact: { kind } });
      expect(result.ok && result.value.pins.metrics[0]).toEqual({
        metric: 'item_difficulty',
        status: 'unavailable',
        reasonCode: 'receiver_unavailable',
        artifact: null,
      });
      expect(owners.asked.filter(({ name }) => name === 'readAnalysisArtifact')).toHaveLength(1);
    },
  );

  const newer = { contentTestSpecVersion: '8' };
  const newerSet: Scripted = { value: { ...sourceSet, testSpecVersion: '8' } };
  const newerAnalysis: Scripted = { value: { ...analysis, ...newer, metrics: [] } };
  const otherBytes: Scripted = { value: artifact('item_difficulty'), bodyHash: hash('f') };

  it('follows owners that have moved on together meanwhile, the administration with them', async () => {
    const first: Scripted = { value: sourceSet };
    const { result, owners } = await read(
      {
        readAlignmentSources: [first, newerSet],
        readAdministrationAnalysis: newerAnalysis,
      },
      newer,
    );
    expect(result).toMatchObject({ ok: true, value: { pins: newer } });
    const asked = owners.asked.filter(({ name }) => name === 'readAlignmentSources');
    expect(asked.map(({ call }) => call.query)).toEqual([{ version: '7' }, { version: '8' }]);
  });

  it.each<[string, Script, string]>([
    [
      'Content, of another version',
      { readAlignmentSources: newerSet },
      '409 source-version-conflict blueprint',
    ],
    [
      'Analytics, of another version',
      { readAdministrationAnalysis: newerAnalysis, readAlignmentSources: { value: sourceSet } },
      '409 source-version-conflict blueprint',
    ],
    [
      'Analytics, of another test spec',
      { readAdministrationAnalysis: { value: { ...analysis, contentTestSpecId: 'spec-2' } } },
      '409 source-version-conflict analytics',
    ],
    [
      'an artifact of other bytes',
      { readAnalysisArtifact: otherBytes },
      '409 source-version-conflict analytics',
    ],
    [
      'an artifact of another administration',
      {
        readAnalysisArtifact: {
          value: { ...artifact('item_difficulty'), administrationId: 'administration-2' },
          bodyHash: hash('a'),
        },
      },
      '409 source-version-conflict analytics',
    ],
    [
      'an artifact of another metric',
      { readAnalysisArtifact: { value: artifact('form_summary'), bodyHash: hash('a') } },
      '409 source-version-conflict analytics',
    ],
  ])('is none where owners do not agree after one more read: %s [RP-264]', async (_, changes, expected) => {
    const drifting = changes['readAdministrationAnalysis'] === newerAnalysis ? newer : {};
    const { said, owners } = await read(changes, drifting);
    expect(said).toBe(expected);
    expect(owners.asked.filter(({ name }) => name === 'readAdministrationAnalysis')).toHaveLength(2);
  });

  it('takes an artifact that fits, or is there, at the second reading', async () => {
    for (const first of [otherBytes, { kind: 'not-found' } as const]) {
      const { result } = await read({ readAnalysisArtifact: [first, found] });
      expect(result.ok && result.value.pins.metrics[0]).toMatchObject({ status: 'available' });
    }
  });

  it('names Analytics where that stays at a version that Content does not hold, and goes on where it does not [RP-264]', async () => {
    const set: Script = {
      readAlignmentSources: [{ value: sourceSet, bodyHash: hash('d') }, { kind: 'not-found' }],
    };
    expect((await read({ ...set, readAdministrationAnalysis: newerAnalysis })).said).toBe(
      '409 source-version-conflict analytics',
    );
    const late = [newerAnalysis, { value: analysis }] as const;
    expect((await read({ ...set, readAdministrationAnalysis: late })).said).toBe('basis');
  });

  it.each<[Script, string]>([
    [{ readAlignmentSources: { kind: 'unavailable' } }, '503 dependency-unavailable blueprint'],
    [{ readAlignmentSources: { kind: 'not-found' } }, '503 dependency-incomplete blueprint'],
    [
      { readAlignmentSources: { value: { ...sourceSet, testSpecId: 'spec-2' } } },
      '503 dependency-unavailable blueprint',
    ],
    [{ readAdministrationAnalysis: { kind: 'not-found' } }, '503 dependency-incomplete analytics'],
    [{ readAdministrationAnalysis: { kind: 'malformed' } }, '503 dependency-unavailable analytics'],
    [
      { readAdministrationAnalysis: { value: { ...analysis, administrationId: 'administration-2' } } },
      '503 dependency-unavailable analytics',
    ],
    [
      { readAdministrationAnalysis: { value: { ...analysis, freshness: 'stale' } } },
      '503 dependency-incomplete analytics',
    ],
  ])('is none where an owner has no answer: %j is %s [RP-265]', async (changes, expected) => {
    expect((await read(changes)).said).toBe(expected);
  });

  it.each([
    ['a key twice', [source('state-a'), source('state-a')]],
    ['a key that no path can hold', [source('state a')]],
    ['a dot segment', [source('..')]],
    ['more sources than a run takes', Array.from({ length: maxSources + 1 }, (_, at) => source(`s${at}`))],
  ])('is none of a blueprint that names %s [RP-167]', async (_, sources) => {
    const { said } = await read({ readAlignmentSources: { value: { ...sourceSet, sources } } });
    expect(said).toBe('503 dependency-incomplete blueprint');
  });

  it.each([
    ['a metric', { metrics: [entry('form_summary'), entry('form_summary')] }],
    ['a comparison', { comparisons: [analysis.comparisons[0], analysis.comparisons[0]] }],
  ])('is none of an analysis that names %s twice', async (_, twice) => {
    const { said } = await read({
      readAdministrationAnalysis: { value: { ...analysis, metrics: [], ...twice } },
      readAnalysisArtifact: { value: artifact('form_summary'), bodyHash: hash('a') },
    });
    expect(said).toBe('503 dependency-incomplete analytics');
  });
});
