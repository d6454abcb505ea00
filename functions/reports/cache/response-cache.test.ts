import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readAttemptReport, readReadiness } from '#shared/contract/reports/routes.ts';
import * as operations from '#shared/platform/operations.ts';
import { secret } from '#shared/platform/transport/secret.ts';
import { principalWith } from '#test/support/principal.ts';
import { wholeRelease } from '#test/support/release.ts';
import { createResponseCache } from './response-cache.ts';
import type { CachedReport, CacheUse, ResponseCacheOptions } from './response-cache.ts';

const KIB = 1024;

/** A cache with hands on its clocks; `entry` makes an entry of the present moment, with so many characters of text. */
function setup(bounds: Partial<Pick<ResponseCacheOptions, 'maxBytes' | 'maxEntryBytes'>> = {}) {
  const time = { now: 1_767_225_600_000, monotonic: 5_000 };
  const clock = () => ({ ...time });
  const cache = createResponseCache({ clock, random: randomBytes, ...bounds });
  const entry = (length = 10, etag?: string): CachedReport => ({
    template: {
      length,
      fill: () => {
        throw new Error('a cache does not write');
      },
    },
    validators: etag === undefined ? [] : [{ operation: operations.readForm, call: {}, etag }],
    composedAt: clock(),
  });
  const pass = (milliseconds: number): void => {
    time.now += milliseconds;
    time.monotonic += milliseconds;
  };
  return { cache, time, entry, pass };
}

it('keeps no answer that stands on more sources than one turn of calls confirms', () => {
  const { cache, entry } = setup();
  const on = (sources: number): CachedReport => ({
    ...entry(),
    validators: Array.from({ length: sources }, () => entry(1, '"v"').validators[0]!),
  });
  cache.set('most', on(128));
  cache.set('more', on(129));
  expect([cache.get('most') === undefined, cache.get('more') === undefined]).toEqual([false, true]);
});

describe('the age of an entry', () => {
  it.each([
    ['in its last millisecond', 29_999, 29_999, true],
    ['at thirty seconds', 30_000, 30_000, false],
    ['at thirty seconds of a clock that nobody sets', 0, 30_000, false],
    ['at thirty seconds after its container was frozen', 30_000, 0, false],
    ['when the clock was set back', -1, 0, false],
  ])('%s: %d ms and %d ms later it is there: %s [RP-336]', (_, wall, monotonic, there) => {
    const { cache, time, entry } = setup();
    const kept = entry();
    cache.set('key', kept);
    time.now += wall;
    time.monotonic += monotonic;
    expect(cache.get('key')).toBe(there ? kept : undefined);
  });

  it('is not renewed by use [RP-336]', () => {
    const { cache, entry, pass } = setup();
    cache.set('key', entry());
    pass(20_000);
    expect(cache.get('key')).toBeDefined();
    pass(10_000);
    expect(cache.get('key')).toBeUndefined();
  });

  it('counts from the composition, not from when it is kept [RP-336]', () => {
    const { cache, entry, pass } = setup();
    const composed = entry();
    pass(1_000);
    cache.set('key', composed);
    pass(29_000);
    expect(cache.get('key')).toBeUndefined();
  });

  it.each([
    ['read', ({ cache }: ReturnType<typeof setup>) => cache.get('another')],
    ['written', ({ cache, entry }: ReturnType<typeof setup>) => cache.set('another', entry(0))],
  ])('over, its text is gone as soon as anything is %s [RP-336]', (_, use) => {
    const parts = setup();
    parts.cache.set('key', parts.entry(1_000));
    parts.pass(29_999);
    use(parts);
    expect(parts.cache.bytes()).toBe(2_000);
    parts.pass(1);
    use(parts);
    expect(parts.cache.bytes()).toBe(0);
  });
});

describe('the bounds of the cache', () => {
  it('lets go of what was used longest ago', () => {
    const { cache, entry } = setup({ maxBytes: 6 * KIB });
    for (const key of ['a', 'b', 'c']) cache.set(key, entry(KIB));
    cache.get('a');
    cache.set('d', entry(KIB));
    expect(['a', 'b', 'c', 'd'].map((key) => cache.get(key) !== undefined)).toEqual([
      true,
      false,
      true,
      true,
    ]);
    expect(cache.bytes()).toBe(6 * KIB);
  });

  it('lets go of as many as a large one needs', () => {
    const { cache, entry } = setup({ maxBytes: 6 * KIB });
    for (const key of ['a', 'b', 'c']) cache.set(key, entry(KIB));
    cache.set('d', entry(2 * KIB));
    expect(['a', 'b', 'c', 'd'].map((key) => cache.get(key) !== undefined)).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });

  it('takes an entry up to its bound, and nothing in the place of a larger one', () => {
    const { cache, entry } = setup({ maxEntryBytes: 2 * KIB });
    cache.set('key', entry(KIB));
    expect(cache.get('key')).toBeDefined();
    cache.set('key', entry(KIB + 1));
    expect(cache.get('key')).toBeUndefined();
    expect(cache.bytes()).toBe(0);
    expect(cache.maxLength).toBe(KIB);
  });

  it('counts what confirms an entry with it', () => {
    const { cache, entry } = setup({ maxEntryBytes: 2 * KIB });
    cache.set('key', entry(KIB - 100, `"${'e'.repeat(200)}"`));
    expect(cache.bytes()).toBe(0);
  });

  it('keeps one entry under a key, and none that was dropped', () => {
    const { cache, entry } = setup();
    cache.set('key', entry(100));
    const second = entry(10);
    cache.set('key', second);
    expect(cache.get('key')).toBe(second);
    expect(cache.bytes()).toBe(20);
    cache.drop('key');
    cache.drop('key');
    expect(cache.get('key')).toBeUndefined();
    expect(cache.bytes()).toBe(0);
  });

  it('is a megabyte for an entry and sixteen for all of them, unless told otherwise', () => {
    const { cache, entry } = setup();
    cache.set('larger', entry(512 * KIB + 1));
    expect(cache.bytes()).toBe(0);
    for (let n = 0; n < 17; n += 1) cache.set(`key-${n}`, entry(512 * KIB));
    expect(cache.bytes()).toBe(16 * KIB * KIB);
    expect(cache.get('key-0')).toBeUndefined();
  });
});

describe('the key of an entry', () => {
  const profile = { tenantId: 'tenant-a', baseUrl: 'https://platform.example', credential: secret('one') };
  const principal = principalWith({ studentIds: ['student-1', 'student-2'], scopes: ['reports:read'] });
  const use: CacheUse = {
    profile,
    route: readAttemptReport,
    request: {
      principal,
      path: { attemptId: 'attempt-1' },
      query: { view: 'summary' },
      proved: wholeRelease.proved,
    },
  };
  const withPrincipal = (claims: Partial<typeof principal>): CacheUse => ({
    ...use,
    request: { ...use.request, principal: { ...principal, ...claims } },
  });
  const { cache } = setup();

  it.each<[string, CacheUse]>([
    ['tenant', { ...withPrincipal({ tenantId: 'tenant-b' }), profile: { ...profile, tenantId: 'tenant-b' } }],
    ['profile of another tenant', { ...use, profile: { ...profile, tenantId: 'tenant-b' } }],
    ['platform', { ...use, profile: { ...profile, baseUrl: 'https://platform.example/b' } }],
    ['credential of the profile', { ...use, profile: { ...profile, credential: secret('two') } }],
    ['subject', withPrincipal({ sub: 'user-2' })],
    ['role', withPrincipal({ role: 'Teacher' })],
    ['scope', withPrincipal({ scopes: ['reports:read', 'reports:write'] })],
    ['candidate fewer', withPrincipal({ studentIds: ['student-1'] })],
    ['class', withPrincipal({ classSourcedIds: ['student-1'] })],
    ['school', withPrincipal({ schoolSourcedIds: ['student-1'] })],
    ['administration', withPrincipal({ administrationIds: ['student-1'] })],
    ['method', { ...use, route: { ...readAttemptReport, method: 'POST' } }],
    ['route', { ...use, route: readReadiness }],
    ['id', { ...use, request: { ...use.request, path: { attemptId: 'attempt-2' } } }],
    ['id by its case alone', { ...use, request: { ...use.request, path: { attemptId: 'Attempt-1' } } }],
    ['view', { ...use, request: { ...use.request, query: { view: 'evidence' } } }],
    ['query', { ...use, request: { ...use.request, query: {} } }],
    ['proof of the release', { ...use, request: { ...use.request, proved: new Set(['C', 'D']) } }],
  ])('is another one for another %s [RP-337]', (_, other) => {
    expect(cache.keyOf(other)).not.toBe(cache.keyOf(use));
  });

  it('is the same one for the same authorization and request, whatever order they are said in [RP-337]', () => {
    const again = withPrincipal({ studentIds: ['student-2', 'student-1', 'student-2'] });
    const query = { limit: 25, sort: '-modifiedAt' };
    expect(cache.keyOf({ ...again, profile: { ...profile, credential: secret('one') } })).toBe(
      cache.keyOf(use),
    );
    expect(cache.keyOf({ ...use, request: { ...use.request, query } })).toBe(
      cache.keyOf({ ...use, request: { ...use.request, query: { sort: '-modifiedAt', limit: 25 } } }),
    );
  });

  it('is told to nobody: each container has its own, of a digest alone [RP-337]', () => {
    const key = cache.keyOf(use);
    expect(key).toMatch(/^[\w-]{43}$/);
    expect(setup().cache.keyOf(use)).not.toBe(key);
  });
});
