import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '#shared/platform/operations.ts';
import { callsDuring, countedCalls, depthOf, slowDown, withinBudget } from '#test/support/platform-calls.ts';
import { openReportsCaller } from '#test/support/reports-call.ts';
import { startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';
import { subjects } from './fault-table.ts';
import { openReads, somebody } from './sound-reads.ts';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack.close());

/** How many reads of a route wait for one another when its owners agree and nothing is kept. */
const waves: Readonly<Record<string, number>> = {
  readAttemptReport: 3,
  readReadiness: 2,
  listCandidateReports: 2,
  readClassCohort: 1,
  readSchoolGradeCohort: 1,
  readEquivalence: 2,
};

describe.each(subjects)('$route.operationId', (subject) => {
  const { route } = subject;

  it('reads its owners in as few waves as their answers depend on each other', async () => {
    const { send } = await openReads(stack, openReportsCaller(stack), subject);
    await slowDown(stack, 150);
    const { result, calls } = await callsDuring(stack, () => send(somebody()));
    await stack.control('DELETE', 'faults');
    expect(result.status).toBe(200);
    expect(depthOf(calls)).toBe(waves[route.operationId]);
    expect(withinBudget(route, calls)).toEqual({ calls: 0, depth: 0 });
  });

  it('stays within its budget when a kept answer is outdated and its owners do not come to agree', async () => {
    const { send } = await openReads(stack, openReportsCaller(stack), subject);
    const asking = somebody();
    const { calls: usual } = await callsDuring(stack, () => send(asking));
    for (const { id: operation } of [operations.readSettledRecord, operations.readFormEquivalence])
      await stack.fault({ operation, method: 'GET', kind: 'version_drift', times: 100 });
    const { calls } = await callsDuring(stack, () => send(asking));
    await stack.control('DELETE', 'faults');
    expect(countedCalls(calls)).toBeGreaterThanOrEqual(countedCalls(usual));
    expect(Math.max(0, countedCalls(calls) - route.budget.calls)).toBe(0);
  });
});
