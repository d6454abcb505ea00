import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { processRuntime } from './process-runtime.ts';

const { sleep } = processRuntime();

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Whether a promise has settled, once everything that is due has run. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.then(() => (settled = true));
  await vi.advanceTimersByTimeAsync(0);
  return settled;
}

describe('sleep', () => {
  it('waits its time, and no longer', async () => {
    const slept = sleep(100);
    await vi.advanceTimersByTimeAsync(99);
    expect(await isSettled(slept)).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await isSettled(slept)).toBe(true);
  });

  it('ends at once when its signal is aborted, before or meanwhile, and leaves no timer behind', async () => {
    const controller = new AbortController();
    const slept = sleep(100, controller.signal);
    expect(await isSettled(slept)).toBe(false);
    controller.abort();
    expect(await isSettled(slept)).toBe(true);
    expect(await isSettled(sleep(100, controller.signal))).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('does not listen to a signal any longer than it waits', async () => {
    const controller = new AbortController();
    const remove = vi.spyOn(controller.signal, 'removeEventListener');
    const slept = sleep(100, controller.signal);
    await vi.advanceTimersByTimeAsync(100);
    expect(await isSettled(slept)).toBe(true);
    expect(remove).toHaveBeenCalledTimes(1);
  });
});
