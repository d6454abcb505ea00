import { describe, expect, it } from 'vitest';
import { parseRetryAfter, retryDelay } from './retry.ts';

describe('retryDelay', () => {
  it('spreads over a window that doubles up to its bound', () => {
    expect(retryDelay(1, undefined, 0)).toBe(0);
    expect(retryDelay(1, undefined, 0.5)).toBe(50);
    expect(retryDelay(2, undefined, 0.5)).toBe(100);
    expect(retryDelay(10, undefined, 0.5)).toBe(1_000);
  });

  it('never comes back before the owner asked for it', () => {
    expect(retryDelay(1, 3_000, 0)).toBe(3_000);
    expect(retryDelay(1, 3_000, 0.5)).toBe(3_050);
  });
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
