import { describe, expect, it } from 'vitest';
import { parseRetryAfter, retryDelay } from './retry.ts';

it('spreads retries over a tenth of a second, from when the owner asked for them', () => {
  expect([retryDelay(undefined, 0), retryDelay(undefined, 0.5)]).toEqual([0, 50]);
  expect([retryDelay(3_000, 0), retryDelay(3_000, 0.5)]).toEqual([3_000, 3_050]);
});

describe('parseRetryAfter', () => {
  const now = Date.UTC(2026, 0, 31, 9, 30, 0);
  it.each([
    ['0', 0],
    ['120', 120_000],
    ['Sat, 31 Jan 2026 09:30:05 GMT', 5_000],
    ['Sat, 31 Jan 2026 09:29:00 GMT', 0],
    ['1.5', undefined],
    ['-1', undefined],
    ['soon', undefined],
    ['9999999999', undefined],
    ['2026-01-31T09:30:05Z', undefined],
    [null, undefined],
  ])('reads %j', (header, expected) => {
    expect(parseRetryAfter(header, now)).toBe(expected);
  });
});
