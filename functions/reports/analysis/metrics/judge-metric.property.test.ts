import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { metricStatus, runMetrics } from '#shared/contract/reports/improvement-run.ts';
import { metrics } from '#shared/contract/reports/analysis-policy.ts';
import type { AnalysisTrigger } from '#shared/contract/reports/analysis-policy.ts';
import { metricArtifact as artifactSchema } from '#shared/platform/owners/analytics.ts';
import type { AdministrationAnalysis, MetricArtifact } from '#shared/platform/owners/analytics.ts';
import {
  analysisEntry,
  artifactOf,
  metricArtifact,
  policyOn,
  rowOf,
} from '#test/support/improvement-facts.ts';
import { frozen, tenantId } from '#test/support/report-facts.ts';
import { deriveMetricOrders } from '#functions/reports/analysis/orders/derive-orders.ts';
import { judgedRows, judgeMetric, showMetric } from './judge-metric.ts';

type Entry = AdministrationAnalysis['metrics'][number];

const metric = 'item_difficulty';
const sha256 = '5f'.repeat(32);
const artifact = artifactOf(metric, { rows: [rowOf('item-1', 'proportion_correct', 0.5)] });
const { artifactRef, populationCount, sampleCount, formulaVersion } = artifact;
const entry: Entry = { metric, status: 'available', artifact: { artifactRef, sha256 } };
const trigger: AnalysisTrigger = {
  metric,
  observed: { name: 'proportion_correct', unit: 'proportion' },
  threshold: { operator: 'gt', value: 0.95 },
  targetModule: 'bank',
  requestedAction: 'rotate_item',
  reasonCodes: ['difficulty_out_of_band'],
  requiredSubjects: ['qtiItemId'],
};
const policy = { triggers: [trigger] };
const suppressed = { status: 'suppressed', rule: 'fewer than 10 responses' };

/** Status, reason and whether the artifact is pinned. */
function verdict(change: Partial<Entry> = {}, about: Partial<MetricArtifact> = {}): unknown {
  const {
    status,
    reasonCode,
    artifact: pin,
  } = judgeMetric(metric, { ...entry, ...change }, { ...artifact, ...about }, policy);
  return [status, reasonCode, pin !== null];
}

/** Any of the four metrics with any entry and any artifact of it, and neither. */
const judged = fc.constantFrom(...runMetrics).chain((name) =>
  fc.record({
    name: fc.constant(name),
    policy: policyOn(name, 'form_summary'),
    said: fc.option(analysisEntry(name), { nil: undefined, freq: 9 }),
    found: fc.option(metricArtifact(name), { nil: undefined, freq: 9 }),
  }),
);

describe('the judgement of a metric', () => {
  it('takes what Analytics says completely, and pins the bytes that were read [RP-158, RP-160]', () => {
    expect(judgeMetric(metric, entry, artifact, policy)).toEqual({
      metric,
      status: 'available',
      reasonCode: null,
      artifact: { ref: artifactRef, sha256 },
      judged: 'all',
    });
  });

  const without = { ...entry, artifact: null };
  const unavailable = { ...entry, status: 'unavailable' };
  it.each<[string, string, Entry | undefined, MetricArtifact | 'unreachable' | undefined]>([
    ['has no entry', 'owner_artifact_missing', undefined, undefined],
    ['has an entry without artifact', 'owner_artifact_missing', without, undefined],
    ['has an artifact that is not there', 'owner_artifact_missing', entry, undefined],
    ['has an artifact that cannot be read', 'receiver_unavailable', entry, 'unreachable'],
    ['is called unavailable', 'owner_artifact_missing', unavailable, artifact],
    ['is called unavailable and cannot be read', 'owner_artifact_missing', unavailable, 'unreachable'],
    ['has the artifact of another one', 'owner_artifact_missing', entry, artifactOf('form_summary')],
  ])('is without the artifact of a metric that %s: %s [RP-160, RP-165]', (_, reasonCode, said, found) => {
    expect(judgeMetric(metric, said, found, policy)).toEqual({
      metric,
      status: 'unavailable',
      reasonCode,
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
      fc.property(judged, ({ name, policy, said, found }) => {
        const { status, artifact: pin } = judgeMetric(name, frozen(said), frozen(found), frozen(policy));
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

describe('what can be judged of a metric', () => {
  type Row = MetricArtifact['rows'][number];
  const [row] = artifact.rows as [Row];
  const measured = (value: number, unit = 'proportion'): Row => ({
    ...row,
    measures: [{ name: 'proportion_correct', value, unit }],
  });
  const without: readonly Row[] = [
    { ...row, measures: [] },
    { ...row, qtiItemId: null },
    { ...row, measures: [{ name: 'another', value: 7, unit: 'logits' }] },
  ];

  it('is all, some or none of its rows: with the measure and the subjects of every trigger [RP-159, RP-195]', () => {
    expect(judgedRows(metric, [row], policy)).toBe('all');
    expect(judgedRows(metric, [], policy)).toBe('none');
    for (const odd of without) {
      expect(judgedRows(metric, [odd], policy)).toBe('none');
      expect(judgedRows(metric, [odd, row], policy)).toBe('some');
    }
    const second: AnalysisTrigger = {
      ...trigger,
      observed: { name: 'difficulty_difference', unit: 'proportion' },
    };
    expect(judgedRows(metric, [row], { triggers: [trigger, second] })).toBe('some');
  });

  it('is none where one value is outside of its range or in another unit, whether a trigger looks at it or not', () => {
    for (const odd of [measured(-0.001), measured(1.001), measured(50, 'percent')])
      expect(judgedRows(metric, [row, odd, row], policy)).toBe('none');
    for (const edge of [measured(0), measured(1)]) expect(judgedRows(metric, [edge], policy)).toBe('all');
    const unasked = { name: 'difficulty_difference', value: -1.5, unit: 'proportion' };
    expect(judgedRows(metric, [{ ...row, measures: [...row.measures, unasked] }], policy)).toBe('none');
    const half = { ...row, measures: [{ name: 'untagged_distractors', value: 0.5, unit: 'count' }] };
    expect(judgedRows('distractor_distribution', [half], policy)).toBe('none');
  });

  it('is all of a metric that no trigger looks at, as long as it measures anything', () => {
    expect(judgedRows(metric, [row, ...without], { triggers: [] })).toBe('all');
    expect(judgedRows(metric, [without[0]!, without[2]!], { triggers: [] })).toBe('none');
  });

  it('leaves nothing to withhold where it is all, and no order where it is none [RP-159]', () => {
    fc.assert(
      fc.property(judged, ({ name, policy, found }) => {
        fc.pre(found !== undefined);
        const grounds = {
          ...{ tenantId, administrationId: 'a', contentTestSpecId: 's', contentTestSpecVersion: '1' },
          policy,
        };
        const { rows } = found;
        const { orders, withheld } = deriveMetricOrders(grounds, { ref: 'r', sha256 }, found);
        const verdict = judgedRows(name, rows, policy);
        if (verdict === 'all') expect(withheld).toEqual([]);
        const isOdd = rows.some(({ measures }) =>
          measures.some(({ name: its, value, unit }) => {
            const one = metrics[name].measures.find((measure) => measure.name === its);
            if (one === undefined) return false;
            const isWhole = one.unit !== 'count' || Number.isInteger(value);
            return unit !== one.unit || value < one.least || value > one.greatest || !isWhole;
          }),
        );
        if (verdict === 'none' && !isOdd) expect(orders).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});

describe('the row of a metric', () => {
  it('passes the contract, whatever Analytics says [RP-157, RP-160, RP-161, RP-162, RP-163, RP-164, RP-165]', () => {
    fc.assert(
      fc.property(judged, ({ name, policy, said, found }) => {
        if (found !== undefined) expect(artifactSchema.parse(found)).toEqual(found);
        const pinned = judgeMetric(name, said, found, policy);
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

  const counts = { populationCount, sampleCount };
  const nothing = { populationCount: null, sampleCount: null };
  const partly = { status: 'partly', rule: 'rule' };
  it.each<[string, Partial<Entry>, Partial<MetricArtifact>, object]>([
    [
      'an available metric as its artifact has it [RP-163, RP-164]',
      {},
      {},
      {
        ...counts,
        status: 'available',
        artifactRef,
        formulaVersion,
        analysisWindow: artifact.analysisWindow,
      },
    ],
    [
      'a suppressed metric with its rule and without its counts [RP-162]',
      {},
      { suppression: suppressed },
      { ...nothing, status: 'suppressed', suppressionStatus: 'suppressed', suppressionRule: suppressed.rule },
    ],
    [
      'a stale metric with its counts',
      { status: 'stale' },
      {},
      { ...counts, status: 'stale', suppressionRule: null },
    ],
    [
      'no count of a metric that may be suppressed',
      {},
      { suppression: partly },
      { ...nothing, suppressionStatus: 'unknown', suppressionRule: null },
    ],
    [
      'no count of a stale metric that may be suppressed',
      { status: 'stale' },
      { suppression: partly },
      { ...nothing, suppressionStatus: 'unknown', suppressionRule: null },
    ],
  ])('shows %s [RP-161]', (_, said, about, expected) => {
    const found = { ...artifact, ...about };
    expect(showMetric(judgeMetric(metric, { ...entry, ...said }, found, policy), found)).toMatchObject(
      expected,
    );
  });

  it('knows of a pinned artifact that is lost nothing but its id [RP-160, RP-161, RP-165]', () => {
    fc.assert(
      fc.property(judged, ({ name, policy, said, found }) => {
        const pinned = judgeMetric(name, said, found, policy);
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
