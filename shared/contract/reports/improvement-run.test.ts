import { describe, expect, it } from 'vitest';
import { breaking, expectForm, issuesOf } from '#test/support/changed.ts';
import type { Change } from '#test/support/changed.ts';
import { completedRun, queuedRun } from './examples.ts';
import { improvementRun, metricStatus } from './improvement-run.ts';

const [available] = queuedRun.metricStatuses;
const [, suppressed, unavailable] = completedRun.metricStatuses;
const row = {
  available,
  suppressed,
  unavailable,
  stale: { ...available, status: 'stale', reasonCode: 'stale' },
  unknown: { ...unavailable, status: 'unknown', artifactRef: 'artifact-811' },
};

const whole = {
  ...completedRun,
  status: 'completed',
  metricStatuses: queuedRun.metricStatuses,
  omissions: [],
};
const failed = { ...completedRun, status: 'failed', alignmentRecordCount: 1, receipt: null };
const run = {
  queued: queuedRun,
  analyzing: { ...queuedRun, status: 'analyzing', alignmentRecordCount: 1, revisionOrderCount: 3 },
  blocked: {
    ...queuedRun,
    status: 'blocked_upstream',
    alignmentRecordCount: 2,
    revisionOrderCount: 3,
    blockedOrderCount: 3,
  },
  complete: completedRun,
  whole,
  failed,
  'failed with receipt': { ...failed, receipt: completedRun.receipt },
};

type Case<Sample> = readonly [title: string, sample: Sample, change: Change];

describe('the status of a metric', () => {
  const sound = Object.keys(row) as (keyof typeof row)[];
  it.each(sound)('can be the sound %s one', (name) => {
    expect(issuesOf(metricStatus, row[name], {})).toEqual([]);
  });

  it.each(sound)('is of one of the four metrics [RP-157]: %s', (name) => {
    for (const metric of [
      'item_difficulty',
      'item_discrimination',
      'distractor_distribution',
      'form_summary',
    ])
      expect(issuesOf(metricStatus, row[name], { metric })).toEqual([]);
    for (const metric of ['predicted_actual', 'reliability', null])
      expect(issuesOf(metricStatus, row[name], { metric })).toMatchObject([{ path: ['metric'] }]);
  });

  it('has its form in every place [RP-158, RP-160, RP-161, RP-162, RP-163, RP-164, RP-165]', () => {
    const closed = ['metric', 'status', 'suppressionStatus', 'reasonCode'];
    expectForm(metricStatus, row.available, { nullable: [], closed });
    expectForm(metricStatus, row.unavailable, { nullable: [], closed });
    for (const change of [
      { artifactRef: 'artifact 811' },
      { populationCount: -1 },
      { sampleCount: 0.5 },
      { formulaVersion: 'x'.repeat(256) },
      { 'analysisWindow/end': '2026-03-01T00:00:00+01:00' },
    ])
      expect(issuesOf(metricStatus, row.available, change)).toHaveLength(1);
  });

  it.each<Case<keyof typeof row>>([
    ['an available one without artifact [RP-160]', 'available', { artifactRef: null }],
    ['a suppressed one without artifact [RP-160]', 'suppressed', { artifactRef: null }],
    ['an unavailable one with an artifact [RP-160]', 'unavailable', { artifactRef: 'artifact-811' }],
    ['an available one without population [RP-161]', 'available', { populationCount: null }],
    ['an available one without sample [RP-161]', 'available', { sampleCount: null }],
    ['a suppressed one with its population [RP-161]', 'suppressed', { populationCount: 9 }],
    ['a suppressed one with its sample [RP-161]', 'suppressed', { sampleCount: 9 }],
    ['an unavailable one with a population [RP-161]', 'unavailable', { populationCount: 9 }],
    ['an unavailable one with a sample [RP-161]', 'unavailable', { sampleCount: 9 }],
    ['a suppressed one without its rule [RP-162]', 'suppressed', { suppressionRule: null }],
    ['an available one with a rule [RP-162]', 'available', { suppressionRule: 'fewer than 10' }],
    [
      'an available one that is suppressed [RP-162]',
      'available',
      { suppressionStatus: 'suppressed', suppressionRule: 'fewer than 10' },
    ],
    [
      'a stale one that is suppressed [RP-162]',
      'stale',
      { suppressionStatus: 'suppressed', suppressionRule: 'fewer than 10' },
    ],
    [
      'a suppressed one that is not [RP-162]',
      'suppressed',
      { suppressionStatus: 'not_suppressed', suppressionRule: null },
    ],
    ['a window without start [RP-163]', 'stale', { 'analysisWindow/start': null }],
    ['a window without end [RP-163]', 'suppressed', { 'analysisWindow/end': null }],
    [
      'a window that ends before it starts [RP-163]',
      'stale',
      { 'analysisWindow/end': '2026-01-31T23:59:59Z' },
    ],
    [
      'a window that ends a nanosecond before it starts [RP-163]',
      'available',
      {
        'analysisWindow/start': '2026-02-01T00:00:00.000000002Z',
        'analysisWindow/end': '2026-02-01T00:00:00.000000001Z',
      },
    ],
    ['an available one without window [RP-163]', 'available', { analysisWindow: { start: null, end: null } }],
    ['an available one without formula [RP-164]', 'available', { formulaVersion: null }],
    ['a suppressed one without formula [RP-164]', 'suppressed', { formulaVersion: null }],
    ['an available one with a reason [RP-165]', 'available', { reasonCode: 'unknown' }],
    ['an unavailable one without reason [RP-165]', 'unavailable', { reasonCode: null }],
    ['a stale one without reason [RP-165]', 'stale', { reasonCode: null }],
  ])('is not %s', (title, name, change) => {
    expect(issuesOf(metricStatus, row[name], change)).toMatchObject([breaking(title)]);
  });

  it.each<Case<keyof typeof row>>([
    ['a window of one moment', 'available', { 'analysisWindow/end': '2026-02-01T00:00:00.000Z' }],
    ['counts of zero', 'available', { populationCount: 0, sampleCount: 0 }],
    [
      'neither window nor counts when it is stale',
      'stale',
      {
        populationCount: null,
        sampleCount: null,
        analysisWindow: { start: null, end: null },
        formulaVersion: null,
      },
    ],
    ['no artifact when it is unknown', 'unknown', { artifactRef: null }],
    ['no window when it is suppressed', 'suppressed', { analysisWindow: { start: null, end: null } }],
  ])('may have %s', (_, name, change) => {
    expect(issuesOf(metricStatus, row[name], change)).toEqual([]);
  });
});

describe('an improvement run', () => {
  const sound = Object.keys(run) as (keyof typeof run)[];
  it.each(sound)('can be the sound %s one', (name) => {
    expect(issuesOf(improvementRun, run[name], {})).toEqual([]);
  });

  it('has its form in every place [RP-007, RP-141, RP-142, RP-143, RP-144, RP-145, RP-146, RP-147, RP-148, RP-149, RP-152, RP-154, RP-155, RP-167]', () => {
    const closed = ['object', 'status', 'metric', 'suppressionStatus'];
    expectForm(improvementRun, run.queued, { nullable: ['version'], closed });
    for (const change of [
      { improvementRunId: 'x'.repeat(256) },
      { analysisPolicyVersion: 'x'.repeat(256) },
      { metricStatuses: queuedRun.metricStatuses.slice(1) },
      { metricStatuses: [...queuedRun.metricStatuses, { ...available, metric: 'reliability' }] },
      { sourceKeys: ['a key', 'b'] },
      { omissions: ['alignment'] },
      { sources: [] },
      { sources: Array.from({ length: 33 }, () => queuedRun.sources[0]) },
    ])
      expect(issuesOf(improvementRun, run.queued, change).length).toBeGreaterThan(0);
  });

  it.each<Case<keyof typeof run>>([
    ['a run with more sources than keys [RP-149]', 'queued', { sourceKeys: ['one'] }],
    ['a run with one key of two sources [RP-167]', 'queued', { sourceKeys: ['one', 'one'] }],
    ['a run with more alignments than sources [RP-150]', 'analyzing', { alignmentRecordCount: 3 }],
    ['a complete run without one of its alignments [RP-150]', 'complete', { alignmentRecordCount: 1 }],
    ['a complete run with an undelivered order [RP-217]', 'complete', { blockedOrderCount: 1 }],
    ['a run with more blocked orders than orders [RP-151]', 'blocked', { blockedOrderCount: 4 }],
    ['a run with omissions without its receipt [RP-153]', 'complete', { receipt: null }],
    ['a completed run without its receipt [RP-153]', 'whole', { receipt: null }],
    ['a queued run with a receipt [RP-154]', 'queued', { receipt: completedRun.receipt }],
    ['an analyzing run with a receipt [RP-154]', 'analyzing', { receipt: completedRun.receipt }],
    ['a blocked run with a receipt [RP-154]', 'blocked', { receipt: completedRun.receipt }],
    [
      'a run of unknown state with a receipt [RP-154]',
      'queued',
      { status: 'unknown', receipt: completedRun.receipt },
    ],
    ['a complete run without its end [RP-155]', 'complete', { completedAt: null }],
    ['a completed run without its end [RP-155]', 'whole', { completedAt: null }],
    ['a failed run without its end [RP-155]', 'failed', { completedAt: null }],
    ['a queued run that has ended [RP-155]', 'queued', { completedAt: completedRun.completedAt }],
    ['an analyzing run that has ended [RP-155]', 'analyzing', { completedAt: completedRun.completedAt }],
    ['a blocked run that has ended [RP-155]', 'blocked', { completedAt: completedRun.completedAt }],
    ['a run that ended before it began [RP-155]', 'complete', { completedAt: '2026-03-02T10:15:30.330Z' }],
    [
      'a run that does not name what is suppressed [RP-166]',
      'complete',
      { omissions: ['distractor_distribution'] },
    ],
    ['a completed run with omissions [RP-221]', 'whole', { omissions: ['predicted_actual'] }],
    ['a run with omissions that names none [RP-221]', 'whole', { status: 'completed_with_omissions' }],
    ['a run whose link has expired [RP-213]', 'complete', { observedAt: '2026-03-02T10:20:30.001Z' }],
    ['a run whose link expires at once [RP-213]', 'complete', { observedAt: '2026-03-02T10:20:30Z' }],
  ])('is not %s', (title, name, change) => {
    expect(issuesOf(improvementRun, run[name], change)).toMatchObject([breaking(title)]);
  });

  it('may name a metric that is available, of which not all could be judged [RP-152]', () => {
    const omissions = [...completedRun.omissions, 'form_summary'];
    expect(issuesOf(improvementRun, run.complete, { omissions })).toEqual([]);
  });

  it('has one row of each metric [RP-157]', () => {
    const metricStatuses = queuedRun.metricStatuses.map((status, at) =>
      at === 3 ? { ...status, metric: 'item_difficulty' } : status,
    );
    expect(issuesOf(improvementRun, queuedRun, { metricStatuses })).toMatchObject([
      { path: ['metricStatuses'], message: 'every metric has one row' },
    ]);
  });

  it('names an omission once, and at most eight [RP-152]', () => {
    const omissions = [...completedRun.omissions, 'predicted_actual'];
    expect(issuesOf(improvementRun, completedRun, { omissions })).toEqual([]);
    expect(
      issuesOf(improvementRun, completedRun, { omissions: [...omissions, 'predicted_actual'] }),
    ).toMatchObject([{ path: ['omissions'], message: 'every omission is named once' }]);
    const nine = Array.from({ length: 9 }, () => 'predicted_actual');
    expect(issuesOf(improvementRun, completedRun, { omissions: nine })).toContainEqual(
      expect.objectContaining({ code: 'too_big', path: ['omissions'] }),
    );
  });

  it('may end in the moment in which it began [RP-155]', () => {
    expect(issuesOf(improvementRun, run.failed, { completedAt: '2026-03-02T10:15:30.331000Z' })).toEqual([]);
  });
});
