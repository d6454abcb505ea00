import { describe, expect, it } from 'vitest';
import { err, ok } from '#shared/kernel/result.ts';
import { repeat, retryAfterOf } from './repeat.ts';
import type { Attempted } from './repeat.ts';

function refusal(retryAfterSeconds?: number, mayRepeat = true): Attempted<string> {
  return { failure: 'refused', mayRepeat, retryAfterSeconds };
}

async function tried(refusals: Attempted<string>[]): Promise<readonly [result: unknown, waits: number[]]> {
  const waits: number[] = [];
  const result = await repeat<string, string>(
    () => {
      const next = refusals.shift();
      return Promise.resolve(next === undefined ? ok('given') : err(next));
    },
    {
      sleep: (milliseconds) => {
        waits.push(milliseconds);
        return Promise.resolve();
      },
      random: () => 0.5,
      onRetry: () => undefined,
    },
  );
  return [result, waits];
}

const refused = { ok: false, error: 'refused' };
const given = { ok: true, value: 'given' };

describe('repeat', () => {
  it('waits longer each time, and never less than it was told', async () => {
    expect(await tried([refusal(), refusal(3), refusal()])).toStrictEqual([given, [250, 3000, 1000]]);
  });

  it('tries five times', async () => {
    expect(await tried(Array.from({ length: 5 }, () => refusal()))).toStrictEqual([
      refused,
      [250, 500, 1000, 2000],
    ]);
  });

  it('does not repeat what must not be repeated', async () => {
    expect(await tried([refusal(1, false)])).toStrictEqual([refused, []]);
  });

  it('begins no wait that goes beyond a minute in all, and so never asks sooner than it was told', async () => {
    expect(await tried([refusal(61)])).toStrictEqual([refused, []]);
    expect(await tried([refusal(30), refusal(30), refusal(1)])).toStrictEqual([refused, [30_000, 30_000]]);
  });
});

describe('retryAfterOf', () => {
  it.each([
    ['5', 5],
    ['0', 0],
    [undefined, undefined],
    ['', undefined],
    ['-1', undefined],
    ['1e3', undefined],
    ['Wed, 21 Oct 2026 07:28:00 GMT', undefined],
  ])('reads %j', (text, seconds) => {
    expect(retryAfterOf(new Headers(text === undefined ? {} : { 'Retry-After': text }))).toBe(seconds);
  });
});
