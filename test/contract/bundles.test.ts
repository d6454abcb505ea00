import { createHash } from 'node:crypto';
import { globSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { analyzeRun, readReceipt, sweepRuns } from '#shared/contract/background.ts';
import { bundledFunctions } from '#shared/contract/functions.ts';
import { improvementRun } from '#shared/contract/reports/improvement-run.ts';
import { allOperations } from '#shared/platform/all-operations.ts';
import { answerOf } from '#test/lemmas/answers.ts';
import { openWorlds, operations } from '#test/lemmas/worlds.ts';
import { openImprovementRuns } from '#test/support/improvement-runs.ts';
import { lazily } from '#test/support/lazily.ts';
import { useTestStack } from '#test/support/stack.ts';

// The other contract tests run the sources in their own process. Here each function is the bundle that deploys, on a thread of its own, and has to
// do its work once.

const stack = useTestStack({ bundled: true });
const worlds = lazily(() => openWorlds(stack));
const improvement = lazily(() => openImprovementRuns(stack));

it('every handler is named by one row, and every row names one', () => {
  const handlers = globSync('functions/**/handler.ts', { cwd: new URL('../..', import.meta.url) });
  expect(handlers.sort()).toEqual(bundledFunctions.map(({ handler }) => handler as string).sort());
});

describe('the bundle', () => {
  it.each(operations)('of $operation serves a request', async ({ operation, route }) => {
    const reply = await worlds.send(operation, await worlds.request(operation));
    expect([reply.status, reply.text]).toEqual([route.success.status, expect.any(String)]);
    expect(route.success.schema.safeParse(JSON.parse(reply.text)).error?.issues ?? []).toEqual([]);
  });

  it.each(operations.filter(({ route }) => route.budget.calls > 0))(
    'of $operation returns a retryable problem of the platform while every owner is down, and serves the same request once they are back [MA-017, MA-219]',
    async ({ operation, route }) => {
      const request = await worlds.request(operation);
      for (const { id, method } of allOperations)
        await stack.fault({ operation: id, method, kind: 'down', times: 1_000 });
      const reply = await worlds.send(operation, request);
      await stack.control('DELETE', 'faults');
      const [problem, ...rest] = answerOf(route, reply);
      expect(problem).toMatch(/^424 upstream-unavailable|^503 dependency-unavailable/);
      expect(rest).toEqual(['retryable']);
      expect((await worlds.send(operation, request)).status).toBe(route.success.status);
    },
  );

  it('of the worker, the sweeper and the receipts do theirs: a run is left alone, swept, worked on, and its receipt read', async () => {
    const { administration, analyze, leaveAlone, read } = improvement;
    stack.improvement.pause();
    await stack.improvement.settled();
    // A container that has found the owners down does not call them for a while.
    await stack.killWorkers('analyzeImprovementRun');
    const run = await analyze(administration('spring-gate'));
    await stack.improvement.settled();
    await leaveAlone(run);
    stack.improvement.resume();
    await stack.improvement.sweep();
    await stack.improvement.settled();
    const { status, receipt } = improvementRun.parse(await read(run));
    expect(status).toMatch(/^completed/);
    const response = await fetch(receipt?.downloadUrl ?? '');
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(receipt?.sha256);
    const written = new Set(stack.logs().map(({ function: name }) => name));
    for (const { operationId } of [analyzeRun, sweepRuns, readReceipt])
      expect(written, operationId).toContain(operationId);
  });
});
