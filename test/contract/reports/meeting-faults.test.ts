import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { readPackage } from '#shared/platform/operations.ts';
import { ALWAYS } from '#test/lemmas/faults.ts';
import { openReportsWorld, reportsFlows } from '#test/lemmas/faults-reports.ts';
import type { ReportsWorld } from '#test/lemmas/faults-reports.ts';
import { startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';

// A fault of CASE for a container that has not kept a framework; every other fault: test/lemmas.

let stack: TestStack;
let world: ReportsWorld;
beforeAll(async () => {
  stack = await startTestStack();
  world = await openReportsWorld(stack);
});
afterEach(async () => {
  await stack.control('DELETE', 'faults');
});
afterAll(() => stack.close());

it.each([
  [{ kind: 'down' }, '503 dependency-unavailable case'],
  [{ kind: 'malformed' }, '503 dependency-unavailable case'],
  [{ kind: 'wrong_tenant' }, '503 dependency-unavailable case'],
  [{ kind: 'status', status: 404 }, '503 dependency-incomplete case'],
  [{ kind: 'stale' }, '503 dependency-incomplete case'],
])(
  'a CASE framework that the container has not kept is not kept from a bad answer: %o, %s [RP-017, RP-089, RP-233]',
  async (fault, expected) => {
    const flow = reportsFlows.find(({ route }) => route.operationId === 'readAttemptReport')!;
    const { send } = await (await flow.open(world))(undefined);
    await stack.killWorkers('readAttemptReport');
    const { id: operation, method } = readPackage;
    await stack.fault({ operation, method, times: ALWAYS, ...fault });
    expect(await send()).toMatchObject({ sentence: expected });
    await stack.control('DELETE', 'faults');
    expect(await send()).toMatchObject({ sentence: '200' });
  },
);
