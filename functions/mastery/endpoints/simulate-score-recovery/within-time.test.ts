import { describe, expect, it } from 'vitest';
import { mapWithinTime } from './within-time.ts';

/** A clock that only the work itself moves on. */
function workOf(milliseconds: readonly number[]) {
  let time = 1_000;
  const done: number[] = [];
  const work = (n: number): number => {
    time += milliseconds[n] ?? 0;
    done.push(n);
    return n * 2;
  };
  return { work, now: () => time, done };
}
const numbers = [0, 1, 2, 3];

describe('long work', () => {
  it('is done in order while there is time', async () => {
    const { work, now } = workOf([10, 10, 10, 10]);
    expect(await mapWithinTime(numbers, work, { now, until: 1_041 })).toEqual([0, 2, 4, 6]);
  });

  it.each([
    ['nothing when the time is over already', 1_000, [10], []],
    [
      'nothing that would end too late if it took as long as the longest before it',
      1_055,
      [10, 30, 5, 10],
      [0, 1],
    ],
    ['what ends just in time', 1_076, [10, 30, 5, 10], [0, 1, 2, 3]],
  ])('begins %s', async (_, until, milliseconds, expected) => {
    const { work, now, done } = workOf(milliseconds);
    const results = await mapWithinTime(numbers, work, { now, until });
    expect(done).toEqual(expected);
    expect(results).toEqual(expected.map((n) => n * 2));
  });

  it('lets others have their turn between two values', async () => {
    const { work, now } = workOf([]);
    const order: string[] = [];
    const other = new Promise<void>((resolve) =>
      setImmediate(() => {
        order.push('other');
        resolve();
      }),
    );
    await mapWithinTime(
      numbers,
      (n) => {
        order.push(`${n}`);
        return work(n);
      },
      { now, until: Infinity },
    );
    await other;
    expect(order.indexOf('other')).toBeLessThan(order.indexOf('3'));
  });
});
