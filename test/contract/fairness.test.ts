import { randomUUID } from 'node:crypto';
import { afterEach, expect, it } from 'vitest';
import { localProblemsUrl } from '#local/stack/function-variables.ts';
import { RATE_WINDOW_S } from '#shared/contract/tenant-rate.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import type { OperationId } from '#shared/contract/routes.ts';
import { openWorlds } from '#test/lemmas/worlds.ts';
import type { GatewayReply } from '#test/support/gateway-call.ts';
import { useTestStack } from '#test/support/stack.ts';

const BOUND = 20;
const WINDOW_MS = RATE_WINDOW_S * 1_000;
/** The clock of the functions: three seconds of a window have passed. */
const clock = { now: Math.floor(Date.now() / WINDOW_MS) * WINDOW_MS + 3_000 };
const { sleep } = processRuntime();
/** Whether anything can be late: on a busy machine, and in a flood, all is. */
let isTimed = false;
const stack = useTestStack({
  requestsPerTenant: BOUND,
  inProcess: () => ({
    now: () => clock.now,
    sleep: (milliseconds, signal) =>
      signal === undefined || isTimed ? sleep(milliseconds, signal) : new Promise(() => undefined),
  }),
});

/** Of both services, with and without a key: all of them together have one bound. */
const mixed: readonly OperationId[] = ['readReadiness', 'startAdaptiveRun', 'readSelectionPolicy'];

/** What each of a tenant's requests gets, all sent at once. */
async function send(tenantId: string, count: number, of = mixed): Promise<readonly GatewayReply[]> {
  const worlds = openWorlds(stack);
  return Promise.all(
    Array.from({ length: count }, async (_, at) => {
      const operation = of[at % of.length]!;
      return worlds.send(operation, await worlds.request(operation, tenantId));
    }),
  );
}
const codes = (): readonly unknown[] =>
  stack.logs().map(({ line }) => (line as { readonly code?: string }).code);

afterEach(() => {
  stack.awsFaults.reset();
  isTimed = false;
  // Each test has a window of its own.
  clock.now += 2 * WINDOW_MS;
});

it('a tenant that floods the services gets its bound and clean 429s, and another one everything that it asks for', async () => {
  const [flood, school] = await Promise.all([
    send('tenant-aurora', 4 * BOUND),
    send('tenant-borealis', BOUND / 2),
  ]);
  expect(school.filter(({ status }) => status >= 300)).toEqual([]);
  const refused = flood.filter(({ status }) => status >= 300);
  const admitted = flood.length - refused.length;
  expect(admitted).toBeGreaterThanOrEqual(BOUND);
  // On a machine on which the emulator takes seconds, a call of the table may end without a count.
  expect(admitted).toBeLessThanOrEqual(1.2 * BOUND);
  for (const { status, headers, text } of refused) {
    expect([status, headers.get('content-type')]).toEqual([429, 'application/problem+json']);
    expect(JSON.parse(text)).toMatchObject({
      type: `${localProblemsUrl}/rate-limited`,
      retryable: true,
    });
    // Seven seconds are left, and up to two more spread the callers.
    expect(['7', '8', '9']).toContain(headers.get('retry-after'));
  }
  expect(codes()).toContain('TENANT_RATE_LIMITED');
});

it('a request that was refused is served in the next window under the same key, as if it were new; its repetitions count', async () => {
  const worlds = openWorlds(stack);
  const call = { ...(await worlds.request('startAdaptiveRun')), key: randomUUID() };
  await send('tenant-aurora', BOUND, ['readSelectionPolicy']);
  const before = stack.awsCalls('dynamodb', 'PutItem');
  expect((await worlds.send('startAdaptiveRun', call)).status).toBe(429);
  expect(stack.awsCalls('dynamodb', 'PutItem')).toBe(before);
  clock.now += WINDOW_MS;
  expect((await worlds.send('startAdaptiveRun', call)).status).toBe(201);
  await send('tenant-aurora', BOUND - 2, ['readSelectionPolicy']);
  // The last one that is admitted.
  expect(await worlds.send('startAdaptiveRun', call)).toMatchObject({ status: 201 });
  expect((await worlds.send('startAdaptiveRun', call)).status).toBe(429);
});

it.each(['hangs', 'throttles', 'is down'] as const)(
  'while the table of the counts %s, each container holds the bound by itself, and the log says that requests were not counted',
  async (how) => {
    const from = stack.logs().length;
    isTimed = true;
    stack.awsFaults.break('control', how, 'UpdateItem');
    const statuses: number[] = [];
    // One after the other: one container serves them all, and goes by what it has admitted itself.
    for (let sent = 0; sent < BOUND + 5; sent += 1)
      for (const { status } of await send('tenant-aurora', 1, ['readSelectionPolicy'])) statuses.push(status);
    expect(statuses).toEqual([
      ...Array.from({ length: BOUND }, () => 200),
      ...Array.from({ length: 5 }, () => 429),
    ]);
    expect(codes().slice(from)).toContain('REQUEST_UNCOUNTED');
  },
);
