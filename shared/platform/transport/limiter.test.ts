import { describe, expect, it } from 'vitest';
import { createLimiter } from './limiter.ts';

describe('createLimiter', () => {
  it('runs at most the maximum at once, the rest in order of arrival', async () => {
    const limit = createLimiter(2);
    const started: number[] = [];
    const release: (() => void)[] = [];
    let running = 0;
    let most = 0;
    const all = [0, 1, 2, 3, 4].map((index) =>
      limit(async () => {
        started.push(index);
        running += 1;
        most = Math.max(most, running);
        await new Promise<void>((resolve) => release.push(resolve));
        running -= 1;
      }),
    );
    while (started.length < 5) {
      release.shift()?.();
      await new Promise(setImmediate);
    }
    for (const finish of release) finish();
    await Promise.all(all);
    expect(started).toEqual([0, 1, 2, 3, 4]);
    expect(most).toBe(2);
  });

  it('gives the place back when work fails', async () => {
    const limit = createLimiter(1);
    await expect(limit(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    await expect(limit(() => Promise.resolve('next'))).resolves.toBe('next');
  });

  it('refuses a maximum that lets nothing through', () => {
    expect(() => createLimiter(0)).toThrow(RangeError);
  });
});
