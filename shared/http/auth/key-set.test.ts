import { errors, type FlattenedJWSInput } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { createTestIssuer, type TestIssuer } from '#test/support/lambda.ts';
import { problem } from '#shared/problems/registry.ts';
import { Refusal } from '../refusal.ts';
import { createKeySet } from './key-set.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const unused: FlattenedJWSInput = { payload: '', signature: '' };

let first: TestIssuer;
let second: TestIssuer;
beforeAll(async () => {
  first = await createTestIssuer('key-1');
  second = await createTestIssuer('key-2');
});

/** A key set over an issuer that a test switches. */
function setUp(): {
  readonly clock: { now: number };
  readonly issuer: { answer: () => Response | Promise<Response>; asked: number };
  readonly lines: unknown[];
  readonly find: (kid: string) => Promise<unknown>;
} {
  const clock = { now: Date.UTC(2026, 0, 31) };
  const issuer = { answer: (): Response | Promise<Response> => keys(first), asked: 0 };
  const lines: unknown[] = [];
  /** Nothing takes too long, unless a test says so. */
  const time = { late: new Promise<void>(() => undefined) };
  const keySet = createKeySet({
    url: 'https://issuer.example/keys',
    fetch: async (url) => {
      expect(url).toBe('https://issuer.example/keys');
      issuer.asked += 1;
      return issuer.answer();
    },
    now: () => clock.now,
    sleep: () => time.late,
    outage: problem('reports', 'dependency-unavailable', 503, { dependency: 'unknown' }),
  });
  return {
    clock,
    issuer,
    lines,
    find: (kid) => keySet({ alg: 'ES256', kid }, unused, (code, fields) => lines.push([code, fields])),
  };
}

const keys = (...issuers: readonly TestIssuer[]): Response =>
  new Response(JSON.stringify({ keys: issuers.flatMap(({ jwks }) => jwks.keys) }));
const down = (): Promise<Response> => Promise.reject(new TypeError('https://issuer.example is down'));

describe('the key set', () => {
  it('is read once for many requests, also when they come at the same time', async () => {
    const { issuer, find, clock } = setUp();
    await Promise.all([find('key-1'), find('key-1'), find('key-1')]);
    clock.now += 9 * MINUTE;
    await find('key-1');
    expect(issuer.asked).toBe(1);
    clock.now += MINUTE;
    await find('key-1');
    expect(issuer.asked).toBe(2);
  });

  it('is read again when a token names an unknown key, at most every 30 s', async () => {
    const { issuer, find, clock } = setUp();
    await find('key-1');
    issuer.answer = () => keys(first, second);
    clock.now += 29_999;
    await expect(find('key-2')).rejects.toBeInstanceOf(errors.JWKSNoMatchingKey);
    expect(issuer.asked).toBe(1);
    clock.now += 1;
    await expect(find('key-2')).resolves.toBeDefined();
    for (let n = 0; n < 5; n += 1)
      await expect(find(`made-up-${n}`)).rejects.toBeInstanceOf(errors.JWKSNoMatchingKey);
    expect(issuer.asked).toBe(2);
  });

  it('serves its last known keys for 24 hours of an outage and no longer', async () => {
    const { issuer, find, clock, lines } = setUp();
    await find('key-1');
    issuer.answer = down;
    clock.now += 24 * HOUR - 1;
    await expect(find('key-1')).resolves.toBeDefined();
    expect(lines).toEqual([
      ['KEY_SET_UNREACHABLE', { error: 'TypeError', knownKeysAgeSeconds: 24 * 3600 - 1 }],
    ]);
    clock.now += 1;
    await expect(find('key-1')).rejects.toBeInstanceOf(Refusal);
    issuer.answer = () => keys(first);
    clock.now += 30_000;
    await expect(find('key-1')).resolves.toBeDefined();
  });

  it('asks once in an outage, not at every request, and calls no key unknown: the issuer may have rotated', async () => {
    for (const [kid, later] of [
      ['key-1', HOUR],
      ['key-2', 30_000],
    ] as const) {
      const { issuer, find, clock } = setUp();
      await find('key-1');
      issuer.answer = down;
      clock.now += later;
      for (let n = 0; n < 5; n += 1)
        if (kid === 'key-1') await find(kid);
        else await expect(find(kid)).rejects.toBeInstanceOf(Refusal);
      // Once at first; twice for the one question of the outage.
      expect(issuer.asked).toBe(3);
    }
  });

  it('asks twice before it gives up', async () => {
    const { issuer, find, clock } = setUp();
    await find('key-1');
    clock.now += 10 * MINUTE;
    issuer.answer = () => {
      issuer.answer = () => keys(first, second);
      return down();
    };
    await expect(find('key-2')).resolves.toBeDefined();
    expect(issuer.asked).toBe(3);
    clock.now += 10 * MINUTE;
    issuer.answer = down;
    for (let n = 0; n < 3; n += 1) await expect(find(`made-up-${n}`)).rejects.toBeInstanceOf(Refusal);
    expect(issuer.asked).toBe(5);
  });

  it.each<readonly [string, () => Response]>([
    ['another status', () => new Response('{"keys":[]}', { status: 500 })],
    ['a redirect', () => new Response(null, { status: 302, headers: { location: 'https://other.example' } })],
    ['no JSON', () => new Response('<html>')],
    ['no set', () => new Response('null')],
    ['an emptied set', () => new Response('{"keys":[]}')],
    ['a set that is no list', () => new Response('{"keys":{}}')],
    ['repeated members', () => new Response('{"keys":[{"kty":"EC"}],"keys":[{"kty":"EC"}]}')],
    ['too much', () => new Response(`{"keys":[{"kty":"EC"}],"x":"${'x'.repeat(300_000)}"}`)],
  ])('keeps its known keys when the issuer answers %s', async (_, answer) => {
    const { issuer, find, clock } = setUp();
    issuer.answer = answer;
    await expect(find('key-1')).rejects.toBeInstanceOf(Refusal);
    issuer.answer = () => keys(first);
    await find('key-1');
    issuer.answer = answer;
    clock.now += HOUR;
    await expect(find('key-1')).resolves.toBeDefined();
  });
});
