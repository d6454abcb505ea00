import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { revisionOrderPage } from '#shared/contract/reports/revision-order.ts';
import { listRevisionOrders } from '#shared/contract/reports/routes/list-revision-orders.ts';
import type { RunRecord } from '#shared/improvement/records.ts';
import * as operations from '#shared/platform/operations.ts';
import type { GatewayReply } from '#test/support/gateway-call.ts';
import { openImprovementRuns } from '#test/support/improvement-runs.ts';
import { callsDuring, countedCalls, type RecordedCall } from '#test/support/platform-calls.ts';
import { reportsAnswerOf } from '#test/support/reports-call.ts';
import { lazily } from '#test/support/lazily.ts';
import { useTestStack } from '#test/support/stack.ts';

// How much a page of a run’s revision orders may rest on, over whole functions; with what a cursor goes: test/contract/lists.test.ts.

const tenantId = 'tenant-aurora';

const stack = useTestStack();
const runs = lazily(() => openImprovementRuns(stack, tenantId));
afterEach(() => stack.control('DELETE', 'faults'));

it('for a page without orders nothing is read but the list of sources [RP-278, RP-306]', async () => {
  const { improvementRunId } = await runs.analyze(runs.administration('spring-gate'));
  await stack.improvement.settled();
  const { id: operation } = operations.readAnalysisArtifact;
  await stack.fault({ operation, kind: 'down', times: 1_000 });
  const { result, calls } = await callsDuring(stack, () =>
    runs.caller.call(listRevisionOrders, { tenantId, path: { improvementRunId }, query: '?status=rejected' }),
  );
  expect(revisionOrderPage.parse(JSON.parse(result.text))).toMatchObject({ data: [], nextCursor: null });
  expect(calls.map((call) => call.operation)).toEqual([operations.readAlignmentSources.id]);
});

describe('a page of orders on many sources', { timeout: 240_000 }, () => {
  const SOURCES = 16;
  let large: RunRecord;
  let opened: readonly string[];
  beforeAll(async () => {
    const { generated, administrations } = stack.seededTenants.get(tenantId)!.platform.reports;
    const administrationId = runs.administration('large-sitting');
    const { contentTestSpecId } = administrations.find((one) => one.administrationId === administrationId)!;
    // Some of the sources, of a few requirements each, and no metric, so that the run is done with them soon.
    const sources = [];
    for (const source of generated.alignmentSources.get(contentTestSpecId)!().sources.slice(0, SOURCES)) {
      const { requirements } = generated.alignmentCrosswalks.get(source.crosswalkId)!();
      const few = requirements.slice(0, 220);
      const entity = 'content.alignment_crosswalk';
      sources.push({
        ...source,
        sha256: await runs.change(entity, source.crosswalkId, '/requirements', few),
      });
    }
    await runs.change('content.alignment_sources', contentTestSpecId, '/sources', sources);
    await runs.change('analytics.administration_analysis', administrationId, '/metrics', []);
    const key = await runs.analyze(administrationId);
    await stack.improvement.settled();
    const { run: whole, orders } = await runs.progress(key);
    large = whole;
    opened = orders.map(({ revisionOrderId }) => revisionOrderId);
  }, 240_000);

  const ask = (query: string, improvementRunId = large.improvementRunId): Promise<GatewayReply> =>
    runs.caller.call(listRevisionOrders, {
      tenantId,
      claims: {
        schoolSourcedIds: runs.caller
          .fixtures(tenantId)
          .schools.map(({ schoolSourcedId }) => schoolSourcedId),
      },
      path: { improvementRunId },
      query,
    });

  const artifactsOf = (calls: readonly RecordedCall[]): number => {
    const ids: readonly (string | null)[] = [
      operations.readAlignmentCrosswalk.id,
      operations.readAnalysisArtifact.id,
    ];
    return calls.filter(({ operation }) => ids.includes(operation)).length;
  };

  it('rests on twelve artifacts at most, and page by page every order is reached once [RP-001, RP-207, RP-208]', async () => {
    expect(opened.length).toBeGreaterThan(SOURCES);
    const ids: string[] = [];
    const artifacts: number[] = [];
    for (let cursor = ''; ;) {
      const { result, calls } = await callsDuring(stack, () => ask(`?limit=100${cursor}`));
      expect(reportsAnswerOf(result)).toBe('200');
      const { data, nextCursor } = revisionOrderPage.parse(JSON.parse(result.text));
      expect(data.length).toBeGreaterThan(0);
      expect(countedCalls(calls)).toBe(artifactsOf(calls) + 1);
      artifacts.push(artifactsOf(calls));
      ids.push(...data.map(({ revisionOrderId }) => revisionOrderId));
      if (nextCursor === null) break;
      cursor = `&cursor=${nextCursor}`;
    }
    expect(ids).toEqual(opened);
    expect(artifacts.length).toBeGreaterThan(1);
    expect(Math.max(...artifacts)).toBeLessThanOrEqual(12);
    expect(Math.max(...artifacts)).toBeGreaterThan(10);
  });

  it('takes what its budget says when all of its owners show it something else [RP-001]', async () => {
    for (const name of ['readAlignmentSources', 'readAlignmentCrosswalk', 'readAnalysisArtifact'] as const)
      await stack.fault({ operation: operations[name].id, kind: 'version_drift', times: 1_000 });
    const { result, calls } = await callsDuring(stack, () => ask('?limit=100'));
    expect(reportsAnswerOf(result)).toMatch(/^503 dependency-incomplete /);
    expect(countedCalls(calls)).toBeLessThanOrEqual(listRevisionOrders.budget.calls);
    expect(countedCalls(calls)).toBeGreaterThan(listRevisionOrders.budget.calls - 3);
  });

  it('is none under a policy that is not the one of the run: nothing is derived by another [RP-201, RP-278]', async () => {
    const { pins } = large;
    const orders = await runs.records.store.listOrders(large, { limit: 1 });
    const changed = { ...pins.analysisPolicy, checksum: 'f'.repeat(64) };
    for (const [improvementRunId, policy] of [
      ['run_of-another-checksum', changed],
      ['run_of-no-policy', { ...pins.analysisPolicy, id: 'policy-of-nobody' }],
    ] as const) {
      const record = await runs.records.store.createRun({
        ...large,
        improvementRunId,
        pins: { ...pins, analysisPolicy: policy },
      });
      expect(reportsAnswerOf(await ask('', improvementRunId))).toBe('200');
      const { revisionOrderId, evidence, targetModule } = orders[0]!;
      const lineage = `${improvementRunId.length}`.padStart(64, '0');
      await runs.records.store.openOrder(
        record,
        { revisionOrderId, evidence, targetModule, lineage },
        Date.now(),
      );
      expect(reportsAnswerOf(await ask('', improvementRunId))).toBe('503 dependency-incomplete unknown');
    }
  });
});
