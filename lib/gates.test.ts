import { describe, expect, it } from 'vitest';
import { gates, isOpen, parseGates, readGates } from './gates.ts';

describe('parseGates', () => {
  it.each([
    ['', []],
    ['A', ['A']],
    ['A,D', ['A', 'D']],
    ['A,B,C,D,E,F', [...gates]],
  ])('reads %j', (text, open) => {
    expect(parseGates(text)).toStrictEqual({ ok: true, value: new Set(open) });
  });

  it.each([
    ['G', /"G" is no gate; known are A, B, C, D, E, F/],
    ['a', /"a" is no gate/],
    ['A, D', /" D" is no gate/],
    ['A,', /"" is no gate/],
    [',', /"" is no gate/],
    ['AD', /"AD" is no gate/],
    ['all', /"all" is no gate/],
    ['A,A', /gate A is named twice/],
  ])('refuses %j and says why', (text, message) => {
    expect(parseGates(text)).toStrictEqual({ ok: false, error: expect.stringMatching(message) as string });
  });
});

describe('readGates', () => {
  const read = (
    flags: Readonly<Record<string, string>>,
    proved: readonly (typeof gates)[number][] = [],
  ): ReturnType<typeof readGates> =>
    readGates('prod', () => Promise.resolve(new Map(Object.entries(flags))), new Set(proved));

  it('opens what is flagged and proved; a gate without a flag is closed', async () => {
    expect(await read({ A: 'open', B: 'closed' }, ['A', 'B', 'C'])).toStrictEqual({
      ok: true,
      value: new Set(['A']),
    });
    expect(await read({})).toStrictEqual({ ok: true, value: new Set() });
  });

  it('asks below the path of the stage', async () => {
    const asked: string[] = [];
    await readGates(
      'staging',
      (path) => {
        asked.push(path);
        return Promise.resolve(new Map());
      },
      new Set(),
    );
    expect(asked).toStrictEqual(['/staging/gates']);
  });

  it.each([
    ['a flag set by hand', { A: 'open' }, /gates\/A is "open" without a verified manifest/],
    ['another value', { A: 'true' }, /gates\/A is neither "open" nor "closed"/],
    ['another name', { a: 'closed' }, /gates\/a is no gate/],
  ])('refuses %s, with a hint at -c gates=', async (_, flags, message) => {
    const result = await read(flags);
    expect(result).toStrictEqual({ ok: false, error: expect.stringMatching(message) as string });
    expect(result).toStrictEqual({ ok: false, error: expect.stringContaining('-c gates=') as string });
  });

  it('takes no answer for an error, never for "all closed"', async () => {
    const result = await readGates(
      'prod',
      () => Promise.reject(new Error('The security token has expired')),
      new Set(),
    );
    expect(result).toStrictEqual({
      ok: false,
      error: expect.stringMatching(
        /^the gates of prod cannot be read from SSM \(The security token has expired\); .*-c gates=/,
      ) as string,
    });
  });
});

describe('isOpen', () => {
  it('needs every gate of the route', () => {
    expect(isOpen({ gates: [] }, new Set())).toBe(true);
    expect(isOpen({ gates: ['A', 'B'] }, new Set(['A']))).toBe(false);
    expect(isOpen({ gates: ['A', 'B'] }, new Set(['A', 'B', 'F']))).toBe(true);
  });
});
