import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { err, ok } from '#shared/kernel/result.ts';
import { UsageError } from '../terminal/command.ts';
import type { Part } from './part.ts';
import { runParts } from './run-parts.ts';

const part = (end: () => ReturnType<Part['run']>) => (): Promise<Part> =>
  Promise.resolve({ about: 'a tool', run: end });
const ends = (ended: Awaited<ReturnType<Part['run']>>) => part(() => Promise.resolve(ended));
const parts = {
  sound: ends(ok({ tried: '3 things', differences: [] })),
  different: ends(ok({ tried: '3 things', differences: ['one is red', 'one is late'] })),
  absent: ends(err('there is no such tool')),
  broken: part(() => Promise.reject(new Error('it broke off'))),
  unloadable: () => Promise.reject(new Error('it does not load')),
};

describe('parts of the foreign tools', () => {
  let printed: string[];
  beforeEach(() => {
    printed = [];
    vi.spyOn(console, 'log').mockImplementation((line: string) => void printed.push(...line.split('\n')));
  });
  afterEach(() => void vi.restoreAllMocks());

  it('pass if no part finds a difference', async () => {
    expect(await runParts(parts, ['sound'], { all: false, mayBeAbsent: {} })).toStrictEqual(ok(undefined));
    expect(printed.at(-1)).toMatch(/^sound\s+3 things\s+0\s+0 s\s+passed$/u);
  });

  it.each(['different', 'absent', 'broken', 'unloadable'])('fail with a part that is %s', async (name) => {
    expect(await runParts(parts, ['sound', name], { all: false, mayBeAbsent: {} })).toStrictEqual(
      err('1 of 2 parts did not pass'),
    );
  });

  it('print every difference, and why a part did not run', async () => {
    await runParts(parts, Object.keys(parts), { all: false, mayBeAbsent: {} });
    expect(printed).toEqual(
      expect.arrayContaining([
        '  one is red',
        '  one is late',
        'absent did not run: there is no such tool',
        'broken failed: it broke off',
        'unloadable failed: it does not load',
      ]),
    );
  });

  it('may be absent with a reason, which they print', async () => {
    expect(
      await runParts(parts, ['absent'], { all: false, mayBeAbsent: { absent: 'no Java here' } }),
    ).toStrictEqual(ok(undefined));
    expect(printed).toContain('absent did not run: there is no such tool (accepted: no Java here)');
    expect(printed.at(-1)).toMatch(/not run$/u);
  });

  it('are named by an unknown name', async () => {
    const unknown = new UsageError(`unknown part "sund": expected ${Object.keys(parts).join(', ')}`);
    expect(await runParts(parts, ['sund'], { all: false, mayBeAbsent: {} })).toStrictEqual(err(unknown));
  });
});
