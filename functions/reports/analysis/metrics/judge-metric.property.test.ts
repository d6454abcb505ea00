import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { metricStatus, runMetrics } from '#shared/contract/reports/improvement-run.ts';
import { metricArtifact as artifactSchema } from '#shared/platform/owners/analytics.ts';
import type { AdministrationAnalysis, MetricArtifact } from '#shared/platform/owners/analytics.ts';
import { analysisEntry, metricArtifact } from '#test/support/improvement-facts.ts';
import { frozen, tenantId } from '#test/support/report-facts.ts';
import { judgeMetric, showMetric } from './judge-metric.ts';

type Entry = AdministrationAnalysis['metrics'][number];

const metric = 'item_difficulty';
const sha256 = '5f'.repeat(32);
const entry: Entry = { metric, status: 'available', artifact: { artifactRef: 'artifact-811', sha256 } };
const artifact: MetricArtifact = {
  kind: 'metric',
  tenantId,
  artifactRef: 'artifact-811',
  administrationId: 'administration',
  contentTestSpecId: 'spec',
  contentTestSpecVersion: '12',
  metric,
  formulaVersion: 'classical-2',
  populationCount: 412,
  sampleCount: 405,
  suppression: { status: 'not_suppressed', rule: null },
  analysisWindow: { start: '2026-02-01T00:00:00Z', end: '2026-02-28T23:59:59Z' },
  rows: [],
};
const suppressed = { status: 'suppressed', rule: 'fewer than 10 responses' };

/** Status, reason and whether the artifact is pinned. */
function verdict(change: Partial<Entry> = {}, about: Partial<MetricArtifact> = {}): unknown {
  const {
    status,
    reasonCode,
    artifact: pin,
  } = judgeMetric(metric, { ...entry, ...change }, { ...artifact, ...about });
  return [status, reasonCode, pin !== null];
}

/** Any of the four metrics with any entry and any artifact of it, and neither. */
const judged = fc.constantFrom(...runMetrics).chain((name) =>
  fc.record({
    name: fc.constant(name),
    said: fc.option(analysisEntry(name), { nil: undefined, freq: 9 }),
    found: fc.option(metricArtifact(name), { nil: undefined, freq: 9 }),
  }),
);

describe('the judgement of a metric', () => {
  it('takes what Analytics says completely, and pins the bytes that were read [RP-158, RP-160]', () => {
    expect(judgeMetric(metric, entry, artifact)).toEqual({
      metric,
      status: 'available',
      reasonCode: null,
      artifact: { ref: 'artifact-811', sha256 },
    });
  });

  it.each<[string, unknown]>([
    ['has no entry', judgeMetric(metric, undefined, undefined)],
    ['has an entry without artifact', judgeMetric(metric, { ...entry, artifact: null }, undefined)],
    ['has an artifact that could not be read', judgeMetric(metric, entry, undefined)],
    ['is called unavailable', judgeMetric(metric, { ...entry, status: 'unavailable' }, artifact)],
    ['has the artifact of another one', judgeMetric(metric, entry, { ...artifact, metric: 'form_summary' })],
  ])('misses the artifact of a metric that %s [RP-160, RP-165]', (_, found) => {
    expect(found).toEqual({
      metric,
      status: 'unavailable',
      reasonCode: 'owner_artifact_missing',
      artifact: null,
    });
  });

  it.each<[string, Partial<MetricArtifact>]>([
    ['population [RP-161]', { populationCount: null }],
    ['sample [RP-161]', { sampleCount: null }],
    ['window [RP-163]', { analysisWindow: null }],
    ['formula [RP-164]', { formulaVersion: null }],
  ])('misses a field of an available metric without its %s', (_, about) => {
    expect(verdict({}, about)).toEqual(['unavailable', 'owner_field_missing', false]);
    expect(verdict({ status: 'stale' }, about)).toEqual(['stale', 'stale', true]);
  });

  it('takes no window that ends before it starts, whatever the status [RP-163]', () => {
    const analysisWindow = { start: '2026-02-01T00:00:00.000000002Z', end: '2026-02-01T00:00:00.000000001Z' };
    for (const status of ['available', 'stale', 'suppressed', 'tomorrow'])
      expect(
        verdict({ status }, { analysisWindow, suppression: { status: 'not_suppressed', rule: 'rule' } }),
      ).toEqual(['unavailable', 'owner_field_missing', false]);
    expect(verdict({}, { analysisWindow: { start: analysisWindow.end, end: analysisWindow.start } })).toEqual(
      ['available', null, true],
    );
  });

  it('puts suppression before everything else, wherever it is said, and asks for its rule and formula [RP-162, RP-164]', () => {
    const counts = { populationCount: null, sampleCount: null, analysisWindow: null };
    for (const status of ['available', 'stale', 'suppressed', 'tomorrow']) {
      expect(verdict({ status }, { ...counts, suppression: suppressed })).toEqual([
        'suppressed',
        'suppressed',
        true,
      ]);
      for (const about of [
        { suppression: { ...suppressed, rule: null } },
        { suppression: suppressed, formulaVersion: null },
      ])
        expect(verdict({ status }, about)).toEqual(['unavailable', 'owner_field_missing', false]);
    }
    expect(
      verdict({ status: 'suppressed' }, { suppression: { status: 'not_suppressed', rule: 'rule' } }),
    ).toEqual(['suppressed', 'suppressed', true]);
    expect(verdict({ status: 'suppressed' })).toEqual(['unavailable', 'owner_field_missing', false]);
  });

  it('knows nothing of a state that has no name here [RP-158, RP-165]', () => {
    expect(verdict({ status: 'published' })).toEqual(['unknown', 'unknown', true]);
    expect(verdict({}, { suppression: { status: 'partly', rule: 'rule' } })).toEqual([
      'unknown',
      'unknown',
      true,
    ]);
  });

  it('calls nothing available that is not so at both places, complete and not suppressed [RP-159]', () => {
    fc.assert(
      fc.property(judged, ({ name, said, found }) => {
        const { status, artifact: pin } = judgeMetric(name, frozen(said), frozen(found));
        if (status !== 'available') return;
        expect(said).toMatchObject({
          status: 'available',
          artifact: { artifactRef: pin?.ref, sha256: pin?.sha256 },
        });
        expect(found?.suppression.status).toBe('not_suppressed');
        for (const member of ['populationCount', 'sampleCount', 'analysisWindow', 'formulaVersion'] as const)
          expect(found?.[member]).not.toBeNull();
      }),
    );
  });
});

describe('the row of a metric', () => {
  it('passes the contract, whatever Analytics says [RP-157, RP-160, RP-161, RP-162, RP-163, RP-164, RP-165]', () => {
    fc.assert(
      fc.property(judged, ({ name, said, found }) => {
        if (found !== undefined) expect(artifactSchema.parse(found)).toEqual(found);
        const pinned = judgeMetric(name, said, found);
        const row = showMetric(frozen(pinned), frozen(found));
        expect(metricStatus.parse(row)).toEqual(row);
        expect(row).toMatchObject({
          metric: name,
          status: pinned.status,
          reasonCode: pinned.reasonCode,
          artifactRef: pinned.artifact?.ref ?? null,
        });
      }),
      { numRuns: 500 },
    );
  });

  it('shows an available metric as its artifact has it [RP-161, RP-163, RP-164]', () => {
    expect(showMetric(judgeMetric(metric, entry, artifact), artifact)).toEqual({
      metric,
      status: 'available',
      artifactRef: 'artifact-811',
      populationCount: 412,
      sampleCount: 405,
      suppressionStatus: 'not_suppressed',
      suppressionRule: null,
      analysisWindow: artifact.analysisWindow,
      formulaVersion: 'classical-2',
      reasonCode: null,
    });
  });

  it('shows a suppressed metric with its rule and without its counts [RP-161, RP-162]', () => {
    const withheld = { ...artifact, suppression: suppressed };
    expect(showMetric(judgeMetric(metric, entry, withheld), withheld)).toMatchObject({
      status: 'suppressed',
      populationCount: null,
      sampleCount: null,
      suppressionStatus: 'suppressed',
      suppressionRule: suppressed.rule,
    });
  });

  it('shows a stale metric with its counts, and no count of one that may be suppressed [RP-161]', () => {
    const stale = { ...entry, status: 'stale' };
    expect(showMetric(judgeMetric(metric, stale, artifact), artifact)).toMatchObject({
      status: 'stale',
      populationCount: 412,
      sampleCount: 405,
      suppressionRule: null,
    });
    const partly = { ...artifact, suppression: { status: 'partly', rule: 'rule' } };
    for (const said of [entry, stale])
      expect(showMetric(judgeMetric(metric, said, partly), partly)).toMatchObject({
        populationCount: null,
        sampleCount: null,
        suppressionStatus: 'unknown',
        suppressionRule: null,
      });
  });

  it('knows of a pinned artifact that is lost nothing but its id [RP-160, RP-161, RP-165]', () => {
    fc.assert(
      fc.property(judged, ({ name, said, found }) => {
        const pinned = judgeMetric(name, said, found);
        const row = showMetric(pinned, undefined);
        expect(metricStatus.parse(row)).toEqual(row);
        expect(row).toEqual({
          metric: name,
          status: pinned.artifact === null ? 'unavailable' : 'unknown',
          artifactRef: pinned.artifact?.ref ?? null,
          populationCount: null,
          sampleCount: null,
          suppressionStatus: 'unknown',
          suppressionRule: null,
          analysisWindow: { start: null, end: null },
          formulaVersion: null,
          reasonCode: pinned.artifact === null ? pinned.reasonCode : 'owner_artifact_missing',
        });
      }),
    );
  });
});
