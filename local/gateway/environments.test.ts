import { describe, expect, it, vi } from 'vitest';
import { duringTests } from '#test/support/lazily.ts';
import { startTestGateway } from '#test/support/test-gateway.ts';
import type { Environment } from './environment.ts';
import { createFunctionPool } from './function-pool.ts';

/** Starts a timer in its first invocation, and says in every one whether the timer has fired. */
const timer = `
let fired = 0;
let started = false;
export const handler = async (event) => {
  if (!started) setInterval(() => { fired += 1; console.log('FIRED'); }, 1).unref();
  started = true;
  if (event === 'await') await new Promise((resolve) => setTimeout(resolve, 20));
  return fired;
};`;

describe('an environment', () => {
  const gateway = duringTests(() =>
    startTestGateway({
      functions: { timer, spin: timer },
      routes: [],
      timeoutSeconds: 60,
      limit: 1,
    }),
  );
  const none = new AbortController().signal;
  const ask = (event: string, name = 'timer') => gateway.pool.invoke(name, event, 'id', none);

  it('is frozen between two invocations: what was due then happens in the next one', async () => {
    await ask('start');
    const fired = (): number => gateway.output.split('timer: FIRED').length - 1;
    const before = fired();
    // Another thread is at work meanwhile, for many periods of the timer.
    for (let n = 0; n < 5; n += 1) await ask('await', 'spin');
    // It may fire while the response is on its way.
    expect(fired() - before).toBeLessThanOrEqual(2);
    await ask('await');
    await expect.poll(fired).toBeGreaterThan(before + 2);
  });

  it('can be ended while it is frozen', async () => {
    await ask('start');
    expect(await gateway.pool.kill('timer')).toBe(0);
    expect(await ask('start')).toEqual({ kind: 'answered', value: 0 });
  });
});

it('an environment that stays idle ends, and one that is used or busy does not', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const killed: number[] = [];
  let ends = Promise.withResolvers<undefined>();
  let started = 0;
  const start = (): Environment => {
    started += 1;
    const number = started;
    let isBusy = false;
    return {
      alive: true,
      get busy() {
        return isBusy;
      },
      invoke: () => {
        isBusy = true;
        const done = ends.promise.then(() => void (isBusy = false));
        return { outcome: done.then(() => ({ kind: 'answered', value: number })), done };
      },
      kill: () => Promise.resolve(void killed.push(number)),
    };
  };
  const definition = { name: 'f', bundleUrl: '', memoryMb: 128, timeoutSeconds: 1, variables: {} };
  const pool = createFunctionPool([definition], 1, () => () => undefined, start, 100);
  const ask = () => pool.invoke('f', '', '', new AbortController().signal);

  ends.resolve(undefined);
  expect(await ask()).toEqual({ kind: 'answered', value: 1 });
  vi.advanceTimersByTime(99);
  expect(await ask()).toEqual({ kind: 'answered', value: 1 });
  vi.advanceTimersByTime(99);
  ends = Promise.withResolvers();
  const busy = ask();
  vi.advanceTimersByTime(1000);
  ends.resolve(undefined);
  expect(await busy).toEqual({ kind: 'answered', value: 1 });
  expect(killed).toEqual([]);
  vi.advanceTimersByTime(100);
  expect(killed).toEqual([1]);
  expect(await ask()).toEqual({ kind: 'answered', value: 2 });
  vi.useRealTimers();
});
