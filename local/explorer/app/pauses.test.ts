import { describe, expect, it } from 'vitest';
import { pauses, pausing } from './pauses.ts';

const LONG = 3_600_000;

describe('pausing', () => {
  it('shows what it waits for and how long, and rejects with a sentence when the person stops it', async () => {
    const before = Date.now();
    const wait = pausing(() => 'Results does not respond')(LONG, undefined);
    const [pause] = pauses.get();
    expect(pause?.why).toBe('Results does not respond');
    expect(pause?.until).toBeGreaterThanOrEqual(before + LONG);
    pause?.stop();
    await expect(wait).rejects.toThrow('You have stopped the wait');
    expect(pauses.get()).toEqual([]);
  });

  it('ends with its view, and leaves the waits of others', async () => {
    const controller = new AbortController();
    const wait = pausing(() => 'of a view that is left')(LONG, controller.signal);
    const other = pausing(() => 'of another one')(LONG, undefined);
    controller.abort(new Error('the view is left'));
    await expect(wait).rejects.toThrow('the view is left');
    expect(pauses.get().map(({ why }) => why)).toEqual(['of another one']);
    pauses.get()[0]?.stop();
    await expect(other).rejects.toThrow();
  });

  it('says nothing of a wait that is over before anyone has read of it', async () => {
    const wait = pausing(() => 'short')(1, undefined);
    expect(pauses.get()).toEqual([]);
    await wait;
  });
});
