import { describe, expect, it } from 'vitest';
import { RATE_WINDOW_S } from '#shared/contract/tenant-rate.ts';
import { readAttemptEvidence } from '#shared/platform/operations.ts';
import { openWorlds } from '#test/lemmas/worlds.ts';
import type { GatewayReply } from '#test/support/gateway-call.ts';
import { useTestStack } from '#test/support/stack.ts';

// What a tenant whose owner gives no answer takes from another one, when a function has few executions. Lambda refuses what the pool lets wait.

const [SILENT, OTHER] = ['tenant-aurora', 'tenant-borealis'];
/** The time limit of an attempt: time passes here only in such steps. */
const ATTEMPT_MS = 5_000;
/** Longer than any test. */
const FOREVER_MS = 120_000;
const BOUND = 4;
const WINDOW_MS = RATE_WINDOW_S * 1_000;

/** A stack of which one tenant's QTI is silent, with clock and timers of its own. */
function setup(options: { readonly maxEnvironments: number; readonly requestsPerTenant?: number }) {
  const clock = { now: Math.floor(Date.now() / WINDOW_MS) * WINDOW_MS };
  const timers = new Set<{ readonly at: number; readonly fire: () => void }>();
  const stack = useTestStack({
    ...options,
    inProcess: () => ({
      now: () => clock.now,
      // A pause without a signal passes at once.
      sleep: (milliseconds, signal) =>
        new Promise<void>((resolve) => {
          if (signal === undefined) {
            resolve();
            return;
          }
          const timer = { at: clock.now + milliseconds, fire: resolve };
          timers.add(timer);
          signal.addEventListener('abort', () => {
            timers.delete(timer);
            resolve();
          });
        }),
    }),
  });
  const send = (tenantId: string, count: number): readonly Promise<GatewayReply>[] => {
    const worlds = openWorlds(stack);
    return Array.from({ length: count }, async () =>
      worlds.send('readReadiness', await worlds.request('readReadiness', tenantId)),
    );
  };
  return {
    send,
    /** What the tenant gets for so many requests, as far as it is there. */
    flood(count: number): readonly GatewayReply[] {
      const replies: GatewayReply[] = [];
      for (const reply of send(SILENT, count)) void reply.then((each) => replies.push(each));
      return replies;
    },
    async silence() {
      const { path } = await openWorlds(stack).request('readReadiness', SILENT);
      await stack.fault({
        ...{ operation: readAttemptEvidence.id, kind: 'latency', milliseconds: FOREVER_MS, times: 1_000 },
        path: readAttemptEvidence.path
          .replace('{tenantId}', SILENT)
          .replace('{attemptId}', path?.['attemptId'] ?? ''),
      });
    },
    /** How often the silent owner has been called. */
    async struck(): Promise<number> {
      const { faults } = (await stack.control('GET', 'faults')) as { faults: readonly { struck: number }[] };
      return faults[0]?.struck ?? 0;
    },
    /** Ends the attempts that are under way. */
    pass() {
      clock.now += ATTEMPT_MS;
      for (const timer of timers)
        if (timer.at <= clock.now) {
          timers.delete(timer);
          timer.fire();
        }
    },
  };
}

/** Waits for what has no signal of its own; a test that waits in vain runs out of time. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5));
}
const statuses = (replies: readonly GatewayReply[]) => replies.map(({ status }) => status);

describe('with more executions than a tenant’s bound', () => {
  const test = setup({ maxEnvironments: BOUND + 3, requestsPerTenant: BOUND });

  it('a tenant whose owner is silent holds no more of them than its bound, and another tenant keeps its answers meanwhile', async () => {
    await test.silence();
    const silent = test.flood(4 * BOUND);
    await until(async () => silent.length + (await test.struck()) === 4 * BOUND);
    const [refused, held] = [silent.length, await test.struck()];
    expect(new Set(statuses(silent))).toEqual(new Set([429]));
    // On a busy machine, a call of the table may end without a count, or count twice.
    expect(Math.abs(held - BOUND)).toBeLessThanOrEqual(1);
    for (let request = 0; request < BOUND; request += 1)
      expect(statuses(await Promise.all(test.send(OTHER, 1)))).toEqual([200]);
    expect(silent).toHaveLength(refused);
    for (const attempts of [1, 2]) {
      await until(async () => (await test.struck()) === attempts * held);
      test.pass();
    }
    await until(() => silent.length === 4 * BOUND);
    expect(new Set(statuses(silent.slice(refused)))).toEqual(new Set([503]));
  });
});

describe('with fewer executions', () => {
  const executions = 2;
  const test = setup({ maxEnvironments: executions });

  it('a tenant whose owner is silent holds them for three requests of two attempts; then its requests fail at once, and another tenant gets its answers', async () => {
    await test.silence();
    const silent = test.flood(6 * executions);
    await until(async () => (await test.struck()) === executions);
    let others: readonly GatewayReply[] = [];
    void Promise.all(test.send(OTHER, 4)).then((replies) => (others = replies));
    for (let attempts = 1; attempts <= 6; attempts += 1) {
      await until(async () => (await test.struck()) === attempts * executions);
      // The bound on requests does not help here: nothing is left for the others meanwhile.
      expect(others).toEqual([]);
      test.pass();
    }
    // No time passes any more.
    await until(() => silent.length === 6 * executions && others.length === 4);
    expect(statuses(others)).toEqual([200, 200, 200, 200]);
    expect(new Set(statuses(silent))).toEqual(new Set([503]));
    const again = test.flood(6);
    expect(statuses(await Promise.all(test.send(OTHER, 2)))).toEqual([200, 200]);
    await until(() => again.length === 6);
    expect(await test.struck()).toBe(6 * executions);
  });
});
