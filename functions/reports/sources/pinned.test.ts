import { describe, expect, it } from 'vitest';
import { scriptedOwners } from '#test/support/scripted-owners.ts';
import type { Scripted } from '#test/support/scripted-owners.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { problem } from '#shared/problems/registry.ts';
import { createSourceReader } from './reader.ts';
import {
  pinProblem,
  readPinnedComparison,
  readPinnedCrosswalk,
  readPinnedMetric,
  readPinnedSourceSet,
  readTwice,
} from './pinned.ts';
import type { PinFault } from './pinned.ts';
import type { SourceReader } from './reader.ts';

// Evidence counts only while its owner still gives, under the pinned id, exactly the pinned bytes.

const DIGEST = 'a'.repeat(64);
const spec = { contentTestSpecId: 'spec-1', contentTestSpecVersion: '7' };
const run = {
  administrationId: 'administration-1',
  pins: { ...spec, sourceSet: { ref: 'sources-1', sha256: DIGEST } },
};
const artifact = {
  tenantId: 'tenant-1',
  artifactRef: 'artifact-1',
  administrationId: 'administration-1',
  ...spec,
  suppression: { status: 'not_suppressed', rule: null },
};
const metric = {
  ...artifact,
  kind: 'metric',
  metric: 'form_summary',
  formulaVersion: null,
  populationCount: null,
  sampleCount: null,
  analysisWindow: null,
  rows: [],
};
const comparison = {
  ...artifact,
  kind: 'comparison',
  sourceKey: 'state-a',
  method: 'm',
  analysisVersion: '1',
  populationCount: 0,
  predictedPassCount: null,
  actualPassCount: null,
  agreementCount: null,
  qtiFormId: null,
  qtiTestId: null,
  caseGuids: [],
};
const content = { tenantId: 'tenant-1', testSpecId: 'spec-1', testSpecVersion: '7', version: '2' };
const named = { sourceKey: 'state-a', sourceAssessment: 'State', sourceVersion: '2025' };
const pin = (ref: string) => ({ ref, sha256: DIGEST });

const reads = {
  'the source set': {
    name: 'readAlignmentSources',
    value: { ...content, sourceSetId: 'sources-1', sources: [] },
    ref: 'sources-1',
    service: 'blueprint',
    read: (reader: SourceReader) => readPinnedSourceSet(reader, run),
    foreign: [{ testSpecId: 'spec-2' }, { testSpecVersion: '8' }, { sourceSetId: 'sources-2' }],
  },
  'a crosswalk': {
    name: 'readAlignmentCrosswalk',
    value: { ...content, ...named, crosswalkId: 'crosswalk-1', requirements: [] },
    ref: 'crosswalk-1',
    service: 'blueprint',
    read: (reader: SourceReader) =>
      readPinnedCrosswalk(reader, run, { sourceKey: 'state-a', crosswalk: pin('crosswalk-1') }),
    foreign: [
      { testSpecId: 'spec-2' },
      { testSpecVersion: '8' },
      { crosswalkId: 'crosswalk-2' },
      { sourceKey: 'state-b' },
    ],
  },
  'a metric': {
    name: 'readAnalysisArtifact',
    value: metric,
    ref: 'artifact-1',
    service: 'analytics',
    read: (reader: SourceReader) => readPinnedMetric(reader, run, 'form_summary', pin('artifact-1')),
    foreign: [
      { artifactRef: 'artifact-2' },
      { metric: 'item_difficulty' },
      { administrationId: 'administration-2' },
      { contentTestSpecId: 'spec-2' },
      { contentTestSpecVersion: '8' },
      comparison,
    ],
  },
  'a comparison': {
    name: 'readAnalysisArtifact',
    value: comparison,
    ref: 'artifact-1',
    service: 'analytics',
    read: (reader: SourceReader) => readPinnedComparison(reader, run, 'state-a', pin('artifact-1')),
    foreign: [
      { artifactRef: 'artifact-2' },
      { sourceKey: 'state-b' },
      { administrationId: 'administration-2' },
      { contentTestSpecVersion: '8' },
      metric,
    ],
  },
} as const;

describe.each(Object.entries(reads))('%s', (_, { name, value, ref, service, read, foreign }) => {
  const readFrom = (scripted: Scripted) =>
    read(createSourceReader(scriptedOwners({ [name]: scripted }), () => 1));

  it('is read under its pin, with a receipt that names the bytes [RP-006, RP-086]', async () => {
    expect(await readFrom({ value, bodyHash: DIGEST })).toMatchObject({
      ok: true,
      value: {
        value,
        receipt: { service, resourceId: ref, version: `sha256:${DIGEST}`, status: 'current' },
      },
    });
  });

  it('does not dereference when it is gone, or other bytes stand in its place: 503 naming its owner [RP-268]', async () => {
    const changed = await readFrom({ value, bodyHash: 'b'.repeat(64) });
    const gone = await readFrom({ kind: 'not-found' });
    expect([changed, gone]).toEqual([
      { ok: false, error: { kind: 'changed', service } },
      { ok: false, error: { kind: 'gone', service } },
    ]);
    for (const answer of [changed, gone])
      if (!answer.ok)
        expect(pinProblem(answer.error)).toMatchObject({
          status: 503,
          code: 'dependency-incomplete',
          dependency: service,
        });
  });

  it('has moved when the owner answers with another thing, whatever its bytes', async () => {
    for (const changes of foreign)
      for (const bodyHash of [DIGEST, 'b'.repeat(64)])
        expect(await readFrom({ value: { ...value, ...changes }, bodyHash })).toEqual({
          ok: false,
          error: { kind: 'moved', service },
        });
  });

  it('is gone for an owner that says so in so many words, and not judged by one that refuses us [RP-017]', async () => {
    expect(await readFrom({ kind: 'rejected', status: 410 })).toMatchObject({ error: { kind: 'gone' } });
    const refused = await readFrom({ kind: 'rejected', status: 403 });
    expect(refused).toMatchObject({ ok: false, error: { kind: 'unavailable' } });
    if (!refused.ok)
      expect(pinProblem(refused.error)).toMatchObject({
        code: 'dependency-unavailable',
        dependency: service,
      });
  });
});

describe('evidence that is read twice', () => {
  const gone = { kind: 'gone', service: 'analytics' } as const;
  const changed = { kind: 'changed', service: 'analytics' } as const;
  const down = {
    kind: 'unavailable',
    problem: problem('reports', 'dependency-unavailable', 503, { dependency: 'analytics' }),
  } as const;
  /** What comes of these answers, and how many were asked for. */
  async function after(...answers: readonly Result<string, PinFault>[]) {
    let asked = 0;
    const answer = await readTwice(() => Promise.resolve(answers[asked++]!));
    return { answer, asked };
  }

  it('is what its owner says the second time, if not the first', async () => {
    for (const fault of [gone, changed, { ...gone, kind: 'moved' as const }]) {
      expect(await after(err(fault), ok('there'))).toEqual({ answer: ok('there'), asked: 2 });
      expect(await after(err(fault), err(changed))).toEqual({ answer: err(changed), asked: 2 });
    }
  });

  it('is not asked for again when it was there, or when its owner had no answer', async () => {
    expect(await after(ok('there'))).toEqual({ answer: ok('there'), asked: 1 });
    expect(await after(err(down))).toEqual({ answer: err(down), asked: 1 });
    expect(await after(err(gone), err(down))).toEqual({ answer: err(down), asked: 2 });
  });
});
