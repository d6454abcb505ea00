import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { alignmentReport } from '#shared/contract/reports/alignment-report.ts';
import type { AlignmentContribution, AlignmentReport } from '#shared/contract/reports/alignment-report.ts';
import type { AnalysisTrigger } from '#shared/contract/reports/analysis-policy.ts';
import type { ImprovementRun, RunMetric } from '#shared/contract/reports/improvement-run.ts';
import { revisionOrderPage } from '#shared/contract/reports/revision-order.ts';
import type { RevisionOrder } from '#shared/contract/reports/revision-order.ts';
import { listRevisionOrders, readAlignmentReport } from '#shared/contract/reports/routes.ts';
import type { RunKey } from '#shared/improvement/records.ts';
import * as operations from '#shared/platform/operations.ts';
import type { MetricArtifact } from '#shared/platform/owners/analytics.ts';
import type { AlignmentCrosswalk } from '#shared/platform/owners/content.ts';
import { choosePolicy } from '#test/support/analyses.ts';
import { openChangedEvidence } from '#test/support/changed-evidence.ts';
import type { ChangedEvidence } from '#test/support/changed-evidence.ts';
import { openImprovementRuns } from '#test/support/improvement-runs.ts';
import type { ImprovementRuns } from '#test/support/improvement-runs.ts';
import { reportsAnswerOf } from '#test/support/reports-call.ts';
import { startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';

// What a run makes of evidence that is soundly pinned and says something odd, over whole functions.

const tenantId = 'tenant-aurora';
let stack: TestStack;
let runs: ImprovementRuns;
let change: ChangedEvidence;
beforeAll(async () => {
  stack = await startTestStack();
  runs = openImprovementRuns(stack, tenantId);
  change = openChangedEvidence(stack, tenantId);
});
beforeEach(() => stack.control('POST', 'reset'));
afterEach(() => choosePolicy(stack, tenantId, seeded().fixtures.reports.analysisPolicyId));
afterAll(async () => {
  runs.close();
  await stack.close();
});

const seeded = () => stack.seededTenants.get(tenantId)!;
const gate = (): string => runs.administration('spring-gate');

/** What the owners of the gate hold of it. */
function held() {
  const { administrations, alignmentSources, analyses, analysisArtifacts } = seeded().platform.reports;
  const { contentTestSpecId } = administrations.find((one) => one.administrationId === gate())!;
  const analysis = analyses.find((one) => one.administrationId === gate())!;
  const { sources } = alignmentSources.find(({ testSpecId }) => testSpecId === contentTestSpecId)!;
  const artifactOf = (metric: RunMetric): MetricArtifact => {
    const ref = analysis.metrics.find((entry) => entry.metric === metric)!.artifact!.artifactRef;
    return analysisArtifacts.find(
      (one): one is MetricArtifact => one.kind === 'metric' && one.artifactRef === ref,
    )!;
  };
  /** The source whose scores Analytics compares. */
  const { sourceKey } = sources[0]!;
  return { contentTestSpecId, sourceKey, artifactOf };
}

/** A run of the gate, at its end. */
async function improve(): Promise<{ readonly key: RunKey; readonly run: ImprovementRun }> {
  const key = await runs.analyze(gate());
  await stack.improvement.settled();
  return { key, run: await runs.read(key) };
}

async function ordersOf({ improvementRunId }: RunKey): Promise<readonly RevisionOrder[]> {
  const path = { improvementRunId };
  const reply = await runs.caller.call(listRevisionOrders, { tenantId, path, query: '?limit=100' });
  expect(reportsAnswerOf(reply)).toBe('200');
  return revisionOrderPage.parse(JSON.parse(reply.text)).data;
}

async function alignmentOf(
  { improvementRunId }: RunKey,
  sourceKey = held().sourceKey,
): Promise<AlignmentReport> {
  const path = { improvementRunId, sourceKey };
  const reply = await runs.caller.call(readAlignmentReport, { tenantId, path });
  expect(reportsAnswerOf(reply)).toBe('200');
  return alignmentReport.parse(JSON.parse(reply.text));
}

const onMeasure = (name: string, orders: readonly RevisionOrder[]): readonly RevisionOrder[] =>
  orders.filter(({ observedMetric }) => observedMetric.name === name);

/** Asks for another item where the index is low; it needs the item and nothing else. */
const lowDiscrimination: AnalysisTrigger = {
  metric: 'item_discrimination',
  observed: { name: 'discrimination_index', unit: 'proportion' },
  threshold: { operator: 'lt', value: 0.2 },
  targetModule: 'bank',
  requestedAction: 'regenerate_item',
  reasonCodes: ['low_discrimination'],
  requiredSubjects: ['qtiItemId'],
};
const uncovered: AnalysisTrigger = {
  metric: 'alignment',
  observed: { name: 'uncovered_requirements', unit: 'count' },
  threshold: { operator: 'gt', value: 0 },
  targetModule: 'blueprint',
  requestedAction: 'repair_crosswalk',
  reasonCodes: ['blueprint_coverage_defect'],
  requiredSubjects: ['sourceKeys'],
};
const disagreement: AnalysisTrigger = {
  metric: 'predicted_actual',
  observed: { name: 'observed_agreement', unit: 'proportion' },
  threshold: { operator: 'lt', value: 0.9 },
  targetModule: 'blueprint',
  requestedAction: 'repair_crosswalk',
  reasonCodes: ['readiness_tolerance_breach'],
  requiredSubjects: ['sourceKeys'],
};

/** As it was released while the difference of two pass rates was calculated here. */
const calculated: AnalysisTrigger = {
  ...disagreement,
  observed: { name: 'pass_rate_difference', unit: 'percent' },
  threshold: { operator: 'outside', value: 10 },
};

type Row = MetricArtifact['rows'][number];
const withMeasure = (row: Row, value: number, unit = 'proportion'): Row => ({
  ...row,
  measures: [{ name: 'discrimination_index', value, unit }],
});

describe('a metric that Analytics calls available', () => {
  it('goes without omission where every row can be judged [RP-152, RP-159]', async () => {
    const { run } = await improve();
    expect(run).toMatchObject({ status: 'completed', omissions: [] });
  });

  it.each<[string, (rows: readonly Row[]) => readonly Row[]]>([
    ['has no rows', () => []],
    ['has rows without a measure', (rows) => rows.map((row) => ({ ...row, measures: [] }))],
    [
      'has measures of other names only',
      (rows) =>
        rows.map((row) => ({ ...row, measures: [{ name: 'biserial', value: 0.1, unit: 'proportion' }] })),
    ],
    ['names no item', (rows) => rows.map((row) => ({ ...row, qtiItemId: null }))],
    ['has a value above its range', ([row, ...rows]) => [withMeasure(row!, 1.01), ...rows]],
    ['has a value below its range', ([row, ...rows]) => [...rows, withMeasure(row!, -7)]],
    ['has a value in another unit', ([row, ...rows]) => [withMeasure(row!, 22, 'percent'), ...rows]],
  ])(
    'and that %s is not: a field of its owner is missing, and the run says so [RP-158, RP-159, RP-160, RP-161, RP-165, RP-166]',
    async (_, changed) => {
      const { rows } = held().artifactOf('item_discrimination');
      await change.metric(gate(), 'item_discrimination', { '/rows': changed(rows) });
      const { key, run } = await improve();
      expect(run.metricStatuses[1]).toMatchObject({
        metric: 'item_discrimination',
        status: 'unavailable',
        artifactRef: null,
        populationCount: null,
        reasonCode: 'owner_field_missing',
      });
      expect(run).toMatchObject({
        status: 'completed_with_omissions',
        omissions: ['item_discrimination'],
      });
      expect(onMeasure('discrimination_index', await ordersOf(key))).toEqual([]);
    },
  );

  it('is not where a count is no whole number [RP-165]', async () => {
    const { rows } = held().artifactOf('distractor_distribution');
    const measures = rows[0]!.measures.map((one) =>
      one.name === 'untagged_distractors' ? { ...one, value: 1.5 } : one,
    );
    await change.metric(gate(), 'distractor_distribution', { '/rows/0/measures': measures });
    const { run } = await improve();
    expect(run.metricStatuses[2]).toMatchObject({
      status: 'unavailable',
      reasonCode: 'owner_field_missing',
    });
  });

  it.each<[string, (row: Row) => Row]>([
    ['lacks its measure', (row) => ({ ...row, measures: [] })],
    ['lacks its item', (row) => ({ ...withMeasure(row, 0.01), qtiItemId: null })],
    ['lacks its item and does not trip', (row) => ({ ...withMeasure(row, 0.5), qtiItemId: null })],
    ['lacks its GUIDs, which the policy demands', (row) => ({ ...row, caseGuids: [] })],
  ])(
    'leaves out a row that %s, judges the others, and is an omission [RP-145, RP-152, RP-159, RP-195]',
    async (_, changed) => {
      const { rows } = held().artifactOf('item_discrimination');
      const low = rows.filter(({ measures }) => measures[0]!.value < 0.2);
      expect(low.length).toBeGreaterThan(0);
      const odd = rows.findIndex(({ measures }) => measures[0]!.value >= 0.2);
      await change.metric(gate(), 'item_discrimination', { [`/rows/${odd}`]: changed(rows[odd]!) });
      const { key, run } = await improve();
      expect(run.metricStatuses[1]).toMatchObject({ status: 'available', reasonCode: null });
      expect(run).toMatchObject({
        status: 'completed_with_omissions',
        omissions: ['item_discrimination'],
      });
      const asked = onMeasure('discrimination_index', await ordersOf(key));
      expect(new Set(asked.map(({ qtiItemId }) => qtiItemId))).toEqual(
        new Set(low.map(({ qtiItemId }) => qtiItemId)),
      );
    },
  );

  it('stays available where the policy asks nothing of it, as long as a row has one of its measures [RP-158]', async () => {
    await change.policyOf(uncovered);
    const { rows } = held().artifactOf('item_discrimination');
    await change.metric(gate(), 'item_discrimination', {
      '/rows': rows.map((row) => ({ ...row, qtiItemId: null })),
    });
    await change.metric(gate(), 'form_summary', { '/rows': [] });
    const { run } = await improve();
    expect(run.metricStatuses[1]).toMatchObject({ status: 'available', reasonCode: null });
    expect(run.metricStatuses[3]).toMatchObject({
      status: 'unavailable',
      reasonCode: 'owner_field_missing',
    });
    expect(run.omissions).toEqual(['form_summary']);
  });

  it.each([
    ['cannot be reached', { kind: 'down' }],
    ['answers 503', { kind: 'status', status: 503 }],
    ['answers what is no JSON', { kind: 'malformed' }],
    ['answers of another tenant', { kind: 'wrong_tenant' }],
  ])(
    'is not where its artifact %s, and the analysis begins with the others [RP-160, RP-161, RP-165, RP-166, RP-264]',
    async (_, fault) => {
      const { artifactRef } = held().artifactOf('form_summary');
      const { id: operation } = operations.readAnalysisArtifact;
      const path = `/core/analytics/v1/analysis-artifacts/${artifactRef}`;
      await stack.fault({ ...fault, operation, path, times: 100 });
      const { key, run } = await improve();
      expect(run.metricStatuses.map(({ status, reasonCode }) => [status, reasonCode])).toEqual([
        ['available', null],
        ['available', null],
        ['available', null],
        ['unavailable', 'receiver_unavailable'],
      ]);
      expect(run).toMatchObject({ status: 'completed_with_omissions', omissions: ['form_summary'] });
      const orders = await ordersOf(key);
      expect(onMeasure('mean_score_difference', orders)).toEqual([]);
      expect(onMeasure('discrimination_index', orders)).not.toEqual([]);
    },
  );
});

/** Twenty requirements, of which so many have no mapping at all and the others count in full. */
function requirementsWithout(mappings: number): AlignmentCrosswalk['requirements'] {
  return Array.from({ length: 20 }, (_, at) => ({
    sourceRequirementId: `requirement-${at}`,
    weight: 1,
    sourceDok: 2,
    mappings:
      at < mappings
        ? []
        : [{ caseGuid: `guid-${at}`, blueprintSlotId: 'slot', targetDok: 2, status: 'current' }],
  }));
}

describe('a tripped threshold', () => {
  const unmap = async (): Promise<string> => {
    const { contentTestSpecId, sourceKey } = held();
    await change.crosswalk(contentTestSpecId, sourceKey, { '/requirements': requirementsWithout(5) });
    return sourceKey;
  };
  const repairOf = (sourceKey: string, orders: readonly RevisionOrder[]): readonly RevisionOrder[] =>
    onMeasure('uncovered_requirements', orders).filter((order) => order.sourceKeys.includes(sourceKey));

  it('on requirements without any mapping is an order of the default policy, without a GUID [RP-150, RP-196, RP-199]', async () => {
    const sourceKey = await unmap();
    const { key, run } = await improve();
    expect(run.status).toBe('completed');
    expect(repairOf(sourceKey, await ordersOf(key))).toMatchObject([
      { requestedAction: 'repair_crosswalk', observedMetric: { value: 5 }, caseGuids: [] },
    ]);
  });

  it('is an order under an earlier policy that demands the GUIDs too, which such requirements cannot have [RP-150, RP-196]', async () => {
    const analysisPolicyId = await change.policyOf({
      ...uncovered,
      requiredSubjects: ['sourceKeys', 'caseGuids'],
    });
    const sourceKey = await unmap();
    const { key, run } = await improve();
    expect(run).toMatchObject({ analysisPolicyId, status: 'completed' });
    expect(repairOf(sourceKey, await ordersOf(key))).toMatchObject([{ caseGuids: [], status: 'accepted' }]);
  });

  it('on a comparison that lacks a subject is the omission of that comparison [RP-145, RP-152, RP-195]', async () => {
    await change.policyOf({ ...disagreement, requiredSubjects: ['sourceKeys', 'qtiFormId'] });
    await change.comparison(gate(), held().sourceKey, { '/qtiFormId': null });
    const { key, run } = await improve();
    expect(run).toMatchObject({
      status: 'completed_with_omissions',
      omissions: ['predicted_actual'],
    });
    expect(await ordersOf(key)).toEqual([]);
    expect((await alignmentOf(key)).predictedActual).not.toBeNull();
  });

  /** Where a value lies exactly on a threshold, and what every comparison makes of it. */
  it.each<[AnalysisTrigger['threshold']['operator'], number, number, boolean]>([
    ['lt', 0.2, 0.2, false],
    ['lt', 0.2, 0.199999, true],
    ['lte', 0.2, 0.2, true],
    ['lte', 0.2, 0.200001, false],
    ['gt', 0.2, 0.2, false],
    ['gt', 0.2, 0.200001, true],
    ['gte', 0.2, 0.2, true],
    ['gte', 0.2, 0.199999, false],
    ['outside', 0.2, 0.2, false],
    ['outside', 0.2, -0.2, false],
    ['outside', 0.2, 0.200001, true],
    ['outside', 0.2, -0.200001, true],
  ])('by %s %d is met by %d: %j [RP-199, RP-200]', async (operator, value, observed, isMet) => {
    await change.policyOf({ ...lowDiscrimination, threshold: { operator, value } });
    const [row] = held().artifactOf('item_discrimination').rows;
    await change.metric(gate(), 'item_discrimination', { '/rows': [withMeasure(row!, observed)] });
    const { key, run } = await improve();
    expect(run.status).toBe('completed');
    expect((await ordersOf(key)).map(({ observedMetric }) => observedMetric.value)).toEqual(
      isMet ? [observed] : [],
    );
  });
});

describe('predicted beside actual results', () => {
  it('are never reckoned with: a released trigger on the difference of pass rates is not judged, and the run says so [RP-031, RP-152, RP-159, RP-201]', async () => {
    const analysisPolicyId = await change.policyOf(calculated, uncovered);
    const { key, run } = await improve();
    expect(run).toMatchObject({
      analysisPolicyId,
      status: 'completed_with_omissions',
      omissions: ['predicted_actual'],
    });
    const orders = await ordersOf(key);
    expect(onMeasure('pass_rate_difference', orders)).toEqual([]);
    expect(onMeasure('uncovered_requirements', orders)).not.toEqual([]);
    expect((await alignmentOf(key)).predictedActual).not.toBeNull();
  });

  it('are judged by the agreement that Analytics observed [RP-188, RP-199]', async () => {
    await change.policyOf(disagreement);
    const { key, run } = await improve();
    expect(run).toMatchObject({ status: 'completed', omissions: [] });
    const { predictedActual } = await alignmentOf(key);
    expect(await ordersOf(key)).toMatchObject([
      { observedMetric: { name: 'observed_agreement', value: predictedActual!.observedAgreement } },
    ]);
  });

  it.each([
    ['the least agreement that there can be', [24, 19, 14, 9], true],
    ['one less', [24, 19, 14, 7], false],
    ['the greatest agreement that there can be', [24, 19, 14, 19], true],
    ['more', [24, 19, 14, 21], false],
    ['an agreement of the wrong parity', [24, 19, 14, 18], false],
    ['nobody who passed, and all agreed upon', [24, 0, 0, 24], true],
    ['all who passed, and all agreed upon', [24, 24, 24, 24], true],
    ['more who passed than there are', [24, 25, 24, 23], false],
  ])(
    'are shown with %s, and never with counts that no two lists can have [RP-152, RP-175, RP-176, RP-187, RP-188]',
    async (_, [populationCount, predictedPassCount, actualPassCount, agreementCount], isPossible) => {
      await change.policyOf({ ...disagreement, threshold: { operator: 'gte', value: 0 } });
      await change.comparison(gate(), held().sourceKey, {
        '/populationCount': populationCount,
        '/predictedPassCount': predictedPassCount,
        '/actualPassCount': actualPassCount,
        '/agreementCount': agreementCount,
      });
      const { key, run } = await improve();
      const { predictedActual, limitations } = await alignmentOf(key);
      const about = limitations.filter((sentence) => sentence.includes('comparison'));
      const orders = (await ordersOf(key)).filter(({ sourceKeys }) => sourceKeys.includes(held().sourceKey));
      expect({ shown: predictedActual !== null, said: about.length, asked: orders.length }).toEqual({
        shown: isPossible,
        said: isPossible ? 0 : 1,
        asked: isPossible ? 1 : 0,
      });
      expect(run).toMatchObject(
        isPossible
          ? { status: 'completed', omissions: [] }
          : { status: 'completed_with_omissions', omissions: ['predicted_actual'] },
      );
    },
  );

  it('are an omission where they are suppressed, or may be [RP-145, RP-152, RP-187, RP-188]', async () => {
    for (const [status, rule] of [
      ['suppressed', 'minimum-group-size-10'],
      ['unknown', null],
    ]) {
      await change.comparison(gate(), held().sourceKey, { '/suppression': { status, rule } });
      const { key, run } = await improve();
      expect([status, run.status, run.omissions]).toEqual([
        status,
        'completed_with_omissions',
        ['predicted_actual'],
      ]);
      expect((await alignmentOf(key)).predictedActual).toMatchObject({
        suppressionStatus: status,
        observedAgreement: null,
      });
    }
  });
});

describe('a requirement', () => {
  type Mapping = AlignmentCrosswalk['requirements'][number]['mappings'][number];
  const current: Mapping = { caseGuid: 'guid-1', blueprintSlotId: 'slot-1', targetDok: 2, status: 'current' };
  const stale: Mapping = { ...current, status: 'stale' };
  const other: Mapping = { ...current, caseGuid: 'guid-2' };
  const counts = { caseGuid: 'guid-1', blueprintSlotId: 'slot-1', weightedContribution: 1, reasonCode: null };
  const counted = (reasonCode: AlignmentContribution['reasonCode']) => ({
    caseGuid: null,
    blueprintSlotId: null,
    targetDok: null,
    coverage: 0,
    weightedContribution: 0,
    reasonCode,
  });

  it.each<[string, readonly Mapping[], object]>([
    ['one mapping that stands there twice', [current, current], counts],
    ['a stale mapping beside the current one', [stale, current], counts],
    ['a stale mapping of another standard beside it', [{ ...other, status: 'stale' }, current], counts],
    ['a draft beside it', [{ ...other, status: 'draft' }, current, current], counts],
    ['a stale mapping alone', [stale], counted('stale_mapping')],
    ['stale mappings alone', [stale, { ...other, status: 'stale' }], counted('stale_mapping')],
    ['a stale mapping and a draft', [{ ...other, status: 'draft' }, stale], counted('stale_mapping')],
    ['a draft alone', [{ ...current, status: 'draft' }], counted('missing_mapping')],
    ['no mapping', [], counted('missing_mapping')],
    ['two current mappings', [current, other], counted('ambiguous_mapping')],
    [
      'two that differ in their slot',
      [current, { ...current, blueprintSlotId: 'slot-2' }],
      counted('ambiguous_mapping'),
    ],
    [
      'two that differ in their depth of knowledge',
      [current, { ...current, targetDok: 3 }],
      counted('ambiguous_mapping'),
    ],
  ])(
    'with %s is aligned by what is left of its mappings [RP-171, RP-178, RP-179, RP-181, RP-184]',
    async (_, mappings, expected) => {
      const { contentTestSpecId, sourceKey } = held();
      const [, ...others] = requirementsWithout(0);
      const requirement = { sourceRequirementId: 'requirement-0', weight: 1, sourceDok: 2, mappings };
      await change.crosswalk(contentTestSpecId, sourceKey, { '/requirements': [requirement, ...others] });
      const { key } = await improve();
      const { contributions, alignmentPercent } = await alignmentOf(key);
      expect(contributions[0]).toMatchObject(expected);
      expect(alignmentPercent).toBe(expected === counts ? 100 : 95);
    },
  );
});
