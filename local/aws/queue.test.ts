import { describe, expect, it, vi } from 'vitest';
import type { Queue } from '#local/aws/queue.ts';
import { createQueue } from '#local/aws/queue.ts';

const VISIBILITY_SECONDS = 60;

function open(maxReceiveCount = 3): { readonly queue: Queue; readonly advance: (ms: number) => void } {
  let now = 1_700_000_000_000;
  const clock = (): number => now;
  const dead = createQueue({ queueName: 'dead' }, undefined, clock);
  const queue = createQueue(
    {
      queueName: 'work',
      visibilityTimeoutSeconds: VISIBILITY_SECONDS,
      redrive: { deadLetterQueueName: 'dead', maxReceiveCount },
    },
    dead,
    clock,
  );
  return { queue, advance: (ms) => void (now += ms) };
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

describe('a queue in its own process', () => {
  it('is idle when nothing is in sight or in somebody’s hands', async () => {
    const { queue } = open();
    await expect(queue.idle()).resolves.toBeUndefined();
    queue.send('a');
    queue.send('b');
    const idle = queue.idle();
    queue.delete((await received(queue)).receiptHandle);
    const last = await received(queue);
    expect(await isSettled(idle)).toBe(false);
    queue.delete(last.receiptHandle);
    expect(await isSettled(idle)).toBe(true);
  });

  it('is not idle when its last message was followed by another one', async () => {
    const { queue } = open();
    queue.send('a');
    const idle = queue.idle();
    const { receiptHandle } = await received(queue);
    queue.delete(receiptHandle);
    queue.send('b');
    expect(await isSettled(idle)).toBe(false);
    queue.delete((await received(queue)).receiptHandle);
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

  it('moves what was received in vain as often as it may be to the dead letters', async () => {
    const { queue } = open(2);
    queue.send('poison');
    for (const receiveCount of [1, 2]) {
      const message = await received(queue);
      expect(message).toMatchObject({ body: 'poison', receiveCount });
      queue.release(message.receiptHandle);
    }
    expect(queue.counts()).toEqual({ visible: 0, inFlight: 0 });
    expect(queue.deadLetters()).toEqual(['poison']);
  });

  it('lets a receiver go who no longer wants to wait, and takes nothing for him', async () => {
    const { queue } = open();
    const leaving = new AbortController();
    const receiving = queue.receive(leaving.signal);
    leaving.abort();
    queue.send('a');
    expect(await receiving).toBeUndefined();
    expect(await queue.receive(leaving.signal)).toBeUndefined();
    expect(queue.counts()).toEqual({ visible: 1, inFlight: 0 });
  });
});
