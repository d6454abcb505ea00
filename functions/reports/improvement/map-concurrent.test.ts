import { describe, expect, it } from 'vitest';
import { mapConcurrent } from './map-concurrent.ts';

const always = (): boolean => true;

/** Work that ends when it is told to. */
function heldWork() {
  const begun: number[] = [];
  const ends = new Map<number, { readonly end: () => void; readonly fail: (error: Error) => void }>();
  return {
    begun,
    work: (value: number): Promise<void> =>
      new Promise((resolve, reject) => {
        begun.push(value);
        ends.set(value, { end: resolve, fail: reject });
      }),
    end: (value: number): void => ends.get(value)?.end(),
    fail: (value: number, message: string): void => ends.get(value)?.fail(new Error(message)),
  };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('mapConcurrent', () => {
  it('begins values in their order, and no more at once than it may', async () => {
    const { begun, work, end } = heldWork();
    const all = mapConcurrent(2, [0, 1, 2, 3], always, work);
    for (const [value, expected] of [
      [1, [0, 1]],
      [0, [0, 1, 2]],
      [2, [0, 1, 2, 3]],
    ] as const) {
      await turn();
      expect(begun).toEqual(expected);
      end(value);
    }
    await turn();
    end(3);
    expect(await all).toBe(true);
  });

  it('leaves out what it has not begun when it should not continue', async () => {
    const begun: number[] = [];
    const shouldContinue = (): Promise<boolean> => Promise.resolve(begun.length < 3);
    const work = (value: number): Promise<void> => {
      begun.push(value);
      return Promise.resolve();
    };
    expect(await mapConcurrent(1, [0, 1, 2, 3, 4], shouldContinue, work)).toBe(false);
    expect(begun).toEqual([0, 1, 2]);
    expect(await mapConcurrent(1, [], () => false, work)).toBe(true);
  });

  it('begins nothing after a failure, and throws it once the rest has ended', async () => {
    const { begun, work, end, fail } = heldWork();
    let isThrown = false;
    const all = mapConcurrent(2, [0, 1, 2, 3], always, work).catch((error: unknown) => {
      isThrown = true;
      return error;
    });
    await turn();
    fail(0, 'broken');
    await turn();
    expect({ begun, isThrown }).toEqual({ begun: [0, 1], isThrown: false });
    end(1);
    expect(await all).toEqual(new Error('broken'));
    expect(begun).toEqual([0, 1]);
  });
});
