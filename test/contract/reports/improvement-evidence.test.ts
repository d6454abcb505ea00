import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { alignmentReport, type AlignmentReport } from '#shared/contract/reports/alignment-report.ts';
import type { ImprovementRun } from '#shared/contract/reports/improvement-run.ts';
import { revisionOrderPage, type RevisionOrder } from '#shared/contract/reports/revision-order.ts';
import { listRevisionOrders } from '#shared/contract/reports/routes/list-revision-orders.ts';
import { readAlignmentReport } from '#shared/contract/reports/routes/read-alignment-report.ts';
import { canonicalJson } from '#shared/kernel/canonical-json.ts';
import * as operations from '#shared/platform/operations.ts';
import { documentChecksum } from '#shared/records/checksum.ts';
import { localTableName } from '#shared/stage/local-stage.ts';
import { createRecordsTable } from '#shared/stores/records-table.ts';
import { ALWAYS } from '#test/lemmas/faults.ts';
import { analyzed, openImprovementRuns } from '#test/support/improvement-runs.ts';
import { requirementOf } from '#test/support/improvement-facts.ts';
import { lazily } from '#test/support/lazily.ts';
import { reportsAnswerOf } from '#test/support/reports-call.ts';
import { clientsOf, useTestStack } from '#test/support/stack.ts';

// What a run makes of evidence that is soundly pinned and odd, and of evidence that is lost, over whole functions.

const tenantId = 'tenant-aurora';
const stack = useTestStack();
const runs = lazily(() => openImprovementRuns(stack, tenantId));
beforeEach(() => stack.control('POST', 'reset'));
afterEach(async () => {
  await runs.choosePolicy(seeded().fixtures.reports.analysisPolicyId);
  stack.improvement.resume();
  await stack.improvement.settled();
});

const seeded = () => stack.seededTenants.get(tenantId)!;
const gate = (): string => runs.administration('spring-gate');

const held = () => runs.held('spring-gate');
/** The source whose scores Analytics compares. */
const source = () => held().sourceSet.sources[0]!;

interface Improved {
  readonly run: ImprovementRun;
  readonly orders: readonly RevisionOrder[];
  /** Of the source whose scores are compared. */
  readonly alignment: AlignmentReport;
}

/** A run of the gate at its end. */
async function improve(): Promise<Improved> {
  const key = await runs.analyze(gate());
  await stack.improvement.settled();
  const { improvementRunId } = key;
  const { sourceKey } = source();
  const page = await runs.caller.call(listRevisionOrders, {
    tenantId,
    path: { improvementRunId },
    query: '?limit=100',
  });
  const report = await runs.caller.call(readAlignmentReport, {
    tenantId,
    path: { improvementRunId, sourceKey },
  });
  return {
    run: await runs.read(key),
    orders: revisionOrderPage.parse(JSON.parse(page.text)).data,
    alignment: alignmentReport.parse(JSON.parse(report.text)),
  };
}

const onMeasure = (name: string, { orders }: Improved): readonly RevisionOrder[] =>
  orders.filter(({ observedMetric }) => observedMetric.name === name);

it('a policy of an earlier release asks for orders without the GUIDs that it demands where requirements have no mapping, and of a difference of pass rates for none: nothing is calculated, and the run names the omission [RP-031, RP-145, RP-150, RP-152, RP-159, RP-196, RP-199, RP-201]', async () => {
  const repair = {
    targetModule: 'blueprint',
    requestedAction: 'repair_crosswalk',
    reasonCodes: ['blueprint_coverage_defect'],
  } as const;
  const document = {
    ...{ id: `policy-${randomUUID()}`, version: '1', visibility: 'tenant', formulaVersion: 'alignment-v1' },
    triggers: [
      {
        ...{ ...repair, metric: 'alignment', requiredSubjects: ['sourceKeys', 'caseGuids'] },
        observed: { name: 'uncovered_requirements', unit: 'count' },
        threshold: { operator: 'gt', value: 0 },
      },
      {
        ...{ ...repair, metric: 'predicted_actual', requiredSubjects: ['sourceKeys'] },
        observed: { name: 'pass_rate_difference', unit: 'percent' },
        threshold: { operator: 'outside', value: 10 },
      },
    ],
  };
  const text = canonicalJson({ ...document, checksum: documentChecksum(document) });
  const records = createRecordsTable(clientsOf(stack).dynamo, localTableName('records'));
  await records.writeOnce({ kind: 'analysis-policy', id: document.id, tenantId }, { document: text });
  await runs.choosePolicy(document.id);
  const { crosswalkId, sourceKey } = source();
  const requirements = [requirementOf('a'), requirementOf('b')];
  const sha256 = await runs.change('content.alignment_crosswalk', crosswalkId, '/requirements', requirements);
  const { contentTestSpecId } = held().administration;
  await runs.change('content.alignment_sources', contentTestSpecId, '/sources/0/sha256', sha256);
  const improved = await improve();
  expect(improved.run).toMatchObject({
    ...{ analysisPolicyId: document.id, status: 'completed_with_omissions', omissions: ['predicted_actual'] },
  });
  expect(onMeasure('pass_rate_difference', improved)).toEqual([]);
  expect(improved.alignment.predictedActual).not.toBeNull();
  const orders = onMeasure('uncovered_requirements', improved);
  expect(orders.filter(({ sourceKeys }) => sourceKeys.includes(sourceKey))).toMatchObject([
    { observedMetric: { value: 2 }, requestedAction: 'repair_crosswalk', caseGuids: [], status: 'accepted' },
  ]);
});

describe('evidence that is changed after it was pinned', () => {
  const request = () => runs.request(gate());
  const spoil = () =>
    runs.change(
      'analytics.artifact',
      held().artifactOf('item_difficulty')!.artifactRef,
      '/populationCount',
      25,
    );

  it('makes a complete run 503, and a repetition of its analysis too [RP-154, RP-268, RP-293]', async () => {
    const asked = request();
    const { improvementRunId } = (await asked.succeed()).run;
    await stack.improvement.settled();
    await spoil();
    for (const reply of [await runs.ask(improvementRunId), await asked.send()])
      expect(reportsAnswerOf(reply)).toBe('503 dependency-incomplete analytics');
    await stack.control('POST', 'reset');
    expect(reportsAnswerOf(await runs.ask(improvementRunId))).toBe('200');
  });

  it('fails a run that waits for its worker, which can be read still and names what is lost [RP-145, RP-154, RP-155, RP-158, RP-166]', async () => {
    stack.improvement.pause();
    const asked = request();
    const { improvementRunId } = (await asked.succeed()).run;
    await spoil();
    stack.improvement.resume();
    await stack.improvement.settled();
    const lost = held().artifactOf('item_difficulty')!.artifactRef;
    for (const reply of [await runs.ask(improvementRunId), await asked.send()]) {
      const { run } = analyzed(reply);
      expect(run).toMatchObject({
        improvementRunId,
        status: 'failed',
        receipt: null,
        omissions: ['item_difficulty'],
      });
      expect(run.completedAt).not.toBeNull();
      expect(run.metricStatuses.map(({ status }) => status)).toEqual([
        'unknown',
        ...[1, 2, 3].map(() => 'available'),
      ]);
      expect(run.metricStatuses[0]).toMatchObject({
        artifactRef: lost,
        populationCount: null,
        sampleCount: null,
        reasonCode: 'owner_artifact_missing',
      });
      expect(run.sources).toContainEqual(
        expect.objectContaining({ service: 'analytics', resourceId: lost, status: 'unavailable' }),
      );
    }
    // What an owner that returns nothing holds is not lost.
    await stack.fault({ operation: operations.readAnalysisArtifact.id, kind: 'down', times: ALWAYS });
    expect(reportsAnswerOf(await runs.ask(improvementRunId))).toBe('503 dependency-unavailable analytics');
  });
});
