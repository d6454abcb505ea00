import { describe, expect, it } from 'vitest';
import { mapWithinTime } from './within-time.ts';

describe('long work', () => {
  it.each([
    ['all of it in order while there is time', 1_041, [10, 10, 10, 10], 4],
    ['nothing when the time is over already', 1_000, [10], 0],
    [
      'nothing that would end too late if it took as long as the longest before it',
      1_055,
      [10, 30, 5, 10],
      2,
    ],
    ['what ends just in time', 1_076, [10, 30, 5, 10], 4],
  ])('does %s', async (_, until, milliseconds, expected) => {
    /** A clock that only the work itself moves. */
    let time = 1_000;
    const work = (length: number): number => (time += length);
    const results = await mapWithinTime(milliseconds, work, { now: () => time, until });
    const ends = milliseconds.map(
      (_length, n) => 1_000 + milliseconds.slice(0, n + 1).reduce((a, b) => a + b, 0),
    );
    expect(results).toEqual(ends.slice(0, expected));
  });

  it('lets others have their turn between two values', async () => {
    const order: string[] = [];
    setImmediate(() => order.push('other'));
    await mapWithinTime(['0', '1', '2'], (n) => order.push(n), { now: () => 0, until: Infinity });
    expect(order.indexOf('other')).toBeLessThan(order.indexOf('2'));
  });
});
