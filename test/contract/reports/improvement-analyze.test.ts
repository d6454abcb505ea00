import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { analysisPolicy } from '#shared/contract/reports/analysis-policy.ts';
import { improvementRun, runMetrics, type ImprovementRun } from '#shared/contract/reports/improvement-run.ts';
import { analyzeAdministration as route } from '#shared/contract/reports/routes/analyze-administration.ts';
import { listRevisionOrders } from '#shared/contract/reports/routes/list-revision-orders.ts';
import { readAlignmentReport } from '#shared/contract/reports/routes/read-alignment-report.ts';
import { readImprovementRun } from '#shared/contract/reports/routes/read-improvement-run.ts';
import { localTenantIds } from '#local/seeds/tenants.ts';
import * as operations from '#shared/platform/operations.ts';
import { analyzed, openImprovementRuns } from '#test/support/improvement-runs.ts';
import type { Analysis, ImprovementRuns } from '#test/support/improvement-runs.ts';
import { callsDuring, countedCalls, slowDown, takenBy } from '#test/support/platform-calls.ts';
import { openPublishedContract } from '#test/support/published-contract.ts';
import { fetchReceipt } from '#test/support/receipts.ts';
import { useTestStack } from '#test/support/stack.ts';

// What an analysis begins, how its run is seen to go on, and what a repetition gives, over whole functions.

const stack = useTestStack();
const tenants = new Map<string, ImprovementRuns>();
beforeEach(() => stack.control('POST', 'reset'));
afterEach(() => workOn());

const AURORA = 'tenant-aurora';

function of(tenantId: string): ImprovementRuns {
  const runs = tenants.get(tenantId) ?? openImprovementRuns(stack, tenantId);
  tenants.set(tenantId, runs);
  return runs;
}
/** A request to analyze one of a tenant's administrations, by its name in the seed. */
const request = (name: string, { tenantId = AURORA, key = undefined as string | undefined } = {}): Analysis =>
  of(tenantId).request(of(tenantId).administration(name), key);

/** The run as it is now, held against the published document. */
async function shown({ improvementRunId }: ImprovementRun, tenantId = AURORA): Promise<ImprovementRun> {
  const reply = await of(tenantId).ask(improvementRunId);
  openPublishedContract('reports')(readImprovementRun, reply);
  expect(reply.headers.get('cache-control')).toBe('no-store, no-transform');
  return improvementRun.parse(JSON.parse(reply.text));
}

async function workOn(): Promise<void> {
  stack.improvement.resume();
  await stack.improvement.settled();
}

/** What of a run never changes, however far it is. */
function identityOf(run: ImprovementRun): object {
  const { improvementRunId, administrationId, contentTestSpecId, contentTestSpecVersion, sourceKeys } = run;
  const { analysisPolicyId, analysisPolicyVersion, formulaVersion, metricStatuses, createdAt } = run;
  return {
    ...{ improvementRunId, administrationId, contentTestSpecId, contentTestSpecVersion, sourceKeys },
    ...{ analysisPolicyId, analysisPolicyVersion, formulaVersion, metricStatuses, createdAt },
  };
}

describe.each(localTenantIds)('%s', (tenantId) => {
  it('begins a run of what the owners have published, by the released policy [RP-006, RP-007, RP-141, RP-142, RP-143, RP-144, RP-146, RP-147, RP-148, RP-149, RP-157, RP-259, RP-266, RP-290, RP-294]', async () => {
    stack.improvement.pause();
    const administrationId = of(tenantId).administration('spring-gate');
    const { administration, sourceSet, artifactOf } = of(tenantId).held('spring-gate');
    const { result: reply, calls } = await callsDuring(stack, () =>
      request('spring-gate', { tenantId }).send(),
    );
    openPublishedContract('reports')(route, reply);
    const { run, replayed } = analyzed(reply);
    expect(replayed).toBe(false);
    expect(run.improvementRunId).toMatch(/^run_[0-9a-f-]{36}$/);
    const policy = analysisPolicy.parse(stack.seededTenants.get(tenantId)!.analysisPolicy.document);
    expect(run).toMatchObject({
      object: 'improvement_run',
      administrationId,
      contentTestSpecId: administration.contentTestSpecId,
      contentTestSpecVersion: administration.contentTestSpecVersion,
      status: 'queued',
      analysisPolicyId: policy.id,
      analysisPolicyVersion: policy.version,
      formulaVersion: 'alignment-v1',
      namedSourceCount: sourceSet.sources.length,
      sourceKeys: sourceSet.sources.map(({ sourceKey }) => sourceKey),
      ...{ alignmentRecordCount: 0, revisionOrderCount: 0, blockedOrderCount: 0 },
      ...{ omissions: [], receipt: null, completedAt: null },
    });
    expect(sourceSet.sources.length).toBeGreaterThan(1);
    expect(run.metricStatuses.map(({ metric }) => metric)).toEqual(runMetrics);
    for (const shown of run.metricStatuses) {
      const { artifactRef, populationCount, sampleCount, formulaVersion } = artifactOf(shown.metric)!;
      const about = { artifactRef, populationCount, sampleCount, formulaVersion };
      expect(shown).toMatchObject({ status: 'available', ...about });
    }
    expect(run.sources.map(({ service, status }) => `${service} ${status}`)).toEqual([
      'unknown current',
      'blueprint current',
      ...run.metricStatuses.map(() => 'analytics current'),
    ]);
    expect(run.sources.slice(1).map(({ resourceId }) => resourceId)).toEqual([
      sourceSet.sourceSetId,
      ...run.metricStatuses.map(({ artifactRef }) => artifactRef),
    ]);
    expect(new Set(calls.map((call) => call.tenantId))).toEqual(new Set([tenantId]));
    expect(calls.every(({ method }) => method === 'GET')).toBe(true);
    const read = await shown(run, tenantId);
    expect(identityOf(read)).toEqual(identityOf(run));
    // Its claims are compared with what the run has recorded: Administration is not asked.
    const about = ({ sources }: ImprovementRun) => sources.map((one) => [one.service, one.resourceId]);
    expect(about(read)).toEqual(about(run).slice(1));
  });
});

describe('a repetition', () => {
  it('gives the same run as it is then, and says that it is one [RP-142, RP-287, RP-293]', async () => {
    stack.improvement.pause();
    const analysis = request('spring-gate');
    const first = await analysis.succeed();
    const second = await analysis.succeed();
    await workOn();
    const third = await analysis.succeed();
    expect([first, second, third].map(({ replayed }) => replayed)).toEqual([false, true, true]);
    expect([first, second, third].map(({ run }) => run.status)).toEqual(['queued', 'queued', 'completed']);
    for (const { run } of [second, third]) expect(identityOf(run)).toEqual(identityOf(first.run));
    expect(third.run.receipt).not.toBeNull();
    expect(third.run.requestId).not.toBe(first.run.requestId);
    await fetchReceipt(third.run.receipt!);
    expect(identityOf(third.run)).toEqual(identityOf(await shown(first.run)));
  });

  it('gives the run of its pins, whatever the owners publish and release afterwards [RP-142, RP-144, RP-146, RP-293]', async () => {
    stack.improvement.pause();
    const analysis = request('spring-gate');
    const first = await analysis.succeed();
    const { administrationId } = first.run;
    await of(AURORA).publishLater(administrationId);
    await of(AURORA).change('administration.administration', administrationId, '/status', 'reopened');
    await of(AURORA).choosePolicy('a-policy-of-tomorrow');
    const second = await analysis.succeed();
    expect(second.replayed).toBe(true);
    expect(identityOf(second.run)).toEqual(identityOf(first.run));
    await of(AURORA).choosePolicy(first.run.analysisPolicyId);
  });

  it('under another key, on another administration or in another tenant is another run [RP-142, RP-292]', async () => {
    const key = randomUUID();
    const given = [
      await request('spring-gate', { key }).succeed(),
      await request('spring-gate').succeed(),
      await request('school-gate', { key }).succeed(),
      await request('spring-gate', { key, tenantId: 'tenant-borealis' }).succeed(),
    ];
    expect(given.map(({ replayed }) => replayed)).toEqual(given.map(() => false));
    expect(new Set(given.map(({ run }) => run.improvementRunId)).size).toBe(given.length);
  });

  it('twenty times at once is one run, and one of each order at its receiver [RP-292, RP-293]', async () => {
    const analysis = request('spring-gate');
    const before = (await of(AURORA).records.items()).length;
    stack.improvement.pause();
    const given = await Promise.all(Array.from({ length: 20 }, () => analysis.succeed()));
    expect(new Set(given.map(({ run }) => run.improvementRunId)).size).toBe(1);
    expect(given.filter(({ replayed }) => !replayed)).toHaveLength(1);
    // The run, its pins, and its place among the open ones.
    expect((await of(AURORA).records.items()).length).toBe(before + 3);
    await workOn();
    const [{ run } = given[0]!] = given;
    const { orders } = await of(AURORA).progress({
      tenantId: AURORA,
      improvementRunId: run.improvementRunId,
    });
    // Whoever asks a receiver again, since its answer came too late, is told that it has the order.
    for (const { status } of orders) expect(['accepted', 'replayed']).toContain(status);
    await of(AURORA).endedWell(run.administrationId, {
      tenantId: AURORA,
      improvementRunId: run.improvementRunId,
    });
  }, 60_000);
});

describe('the budget', () => {
  /** Who is not named by the administration itself costs the most. */
  const byClass = () => ({ claims: { classSourcedIds: of(AURORA).caller.fixtures(AURORA).classes } });

  it('of an analysis is what one takes whose owners agree late, and a repetition takes less [RP-001]', async () => {
    stack.improvement.pause();
    const analysis = request('spring-gate');
    const { id: operation } = operations.readAnalysisArtifact;
    await stack.fault({ operation, kind: 'version_drift' });
    await slowDown(stack);
    const first = await callsDuring(stack, () => analysis.send(byClass()));
    expect(analyzed(first.result).run.status).toBe('queued');
    expect(takenBy(first.calls)).toEqual(route.budget);
    const again = await callsDuring(stack, () => analysis.send(byClass()));
    expect(analyzed(again.result).replayed).toBe(true);
    expect(takenBy(again.calls)).toEqual({ calls: 6, depth: 2 });
  });

  const evidence = ['readAlignmentSources', 'readAlignmentCrosswalk', 'readAnalysisArtifact'] as const;

  it.each([
    // The list of sources and four metrics.
    [readImprovementRun, '', { calls: 5, depth: 1 }],
    [readAlignmentReport, '', { calls: 3, depth: 1 }],
    // Four metrics, three crosswalks, two comparisons and the list of sources; of a larger page: revision-order-pages.test.ts.
    [listRevisionOrders, '?limit=100', { calls: 10, depth: 1 }],
  ] as const)(
    'of $operationId is what it takes where all evidence is shown amiss, twice what it takes otherwise: it is read side by side [RP-001, RP-268]',
    async (row, query, calm) => {
      const { run } = await request('spring-gate').succeed();
      await stack.improvement.settled();
      const [sourceKey = ''] = of(AURORA).caller.fixtures(AURORA).sourceKeys;
      const path = {
        improvementRunId: run.improvementRunId,
        ...(row === readAlignmentReport ? { sourceKey } : {}),
      };
      const read = () =>
        callsDuring(stack, () =>
          of(AURORA).caller.call(row, { path, query, tenantId: AURORA, ...byClass() }),
        );
      await slowDown(stack);
      expect(takenBy((await read()).calls)).toEqual(calm);
      for (const kind of ['version_drift', 'status'] as const) {
        await stack.control('DELETE', 'faults');
        for (const name of evidence)
          // Each of them is gone once, or has other bytes in every answer.
          await stack.fault({
            operation: operations[name].id,
            kind,
            ...(kind === 'status' ? { status: 404, times: 1 } : { times: 1_000 }),
          });
        const { result, calls } = await read();
        expect(result.status).toBe(kind === 'status' ? 200 : 503);
        if (kind === 'version_drift') expect(countedCalls(calls)).toBe(2 * calm.calls);
      }
      expect(2 * calm.calls).toBeLessThanOrEqual(row.budget.calls);
      expect(2 * calm.depth).toBeLessThanOrEqual(row.budget.depth);
    },
  );
});
