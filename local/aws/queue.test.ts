import { describe, expect, it, vi } from 'vitest';
import { type Queue, createQueue } from '#local/aws/queue.ts';

const VISIBILITY_SECONDS = 60;

function open(): { readonly queue: Queue; readonly advance: (ms: number) => void } {
  let now = 1_700_000_000_000;
  const definition = { queueName: 'work', visibilityTimeoutSeconds: VISIBILITY_SECONDS };
  return { queue: createQueue(definition, undefined, () => now), advance: (ms) => void (now += ms) };
}

async function received(queue: Queue) {
  const message = await queue.receive();
  if (message === undefined) throw new Error('no message');
  return message;
}

/** Whether a promise has resolved by the time everything that is due has run. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.then(() => (settled = true));
  await new Promise((resolve) => setImmediate(resolve));
  return settled;
}

// What is received in vain, and who no longer wants to wait: local/stack/improvement.test.ts.
describe('a queue in its own process', () => {
  it('is idle only while no message is in sight or in somebody’s hands', async () => {
    const { queue } = open();
    await expect(queue.idle()).resolves.toBeUndefined();
    queue.send('a');
    const idle = queue.idle();
    queue.delete((await received(queue)).receiptHandle);
    queue.send('b');
    const last = await received(queue);
    expect(await isSettled(idle)).toBe(false);
    queue.delete(last.receiptHandle);
    expect(await isSettled(idle)).toBe(true);
  });

  it('brings a message back when its time is over, also to who waits', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const { queue, advance } = open();
      queue.send('a');
      const { receiptHandle } = await received(queue);
      const waiting = queue.receive();
      advance(VISIBILITY_SECONDS * 1000);
      vi.advanceTimersByTime(VISIBILITY_SECONDS * 1000);
      expect(await waiting).toMatchObject({ body: 'a', receiveCount: 2 });
      // The handle of the earlier receipt is void.
      queue.delete(receiptHandle);
      expect(queue.counts()).toEqual({ visible: 0, inFlight: 1 });
    } finally {
      vi.useRealTimers();
    }
  });
});
