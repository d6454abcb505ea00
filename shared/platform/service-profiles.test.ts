import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createServiceProfiles, singleProfileOf } from './service-profiles.ts';
import type { ProfileParameters } from './service-profiles.ts';

const JWT = 'eyJhbGciOiJFUzI1NiJ9.e30.c2lnbmF0dXJl';
const parameters = (tenant: string, change: Partial<ProfileParameters> = {}): ProfileParameters => ({
  tenant,
  jwt: JWT,
  url: 'https://platform.example',
  ...change,
});

interface Store {
  reads: string[];
  answer: (tenantId: string) => Promise<ProfileParameters | undefined>;
}

function setup(store: Partial<Store> = {}, stage = 'production') {
  const clock = { now: 1_000 };
  const reads: string[] = [];
  const state: Store = { reads, answer: (tenantId) => Promise.resolve(parameters(tenantId)), ...store };
  const profiles = createServiceProfiles({
    reader: {
      read: (tenantId) => {
        reads.push(tenantId);
        return state.answer(tenantId);
      },
    },
    approvedHosts: ['platform.example', 'platform.example:8443'],
    stage,
    now: () => clock.now,
  });
  return { profiles, clock, state };
}

describe('createServiceProfiles', () => {
  it('gives the profile provisioned for the verified tenant [MA-008]', async () => {
    const { profiles } = setup();
    const resolved = await profiles.resolve('tenant-a');
    expect(resolved.ok && resolved.value.tenantId).toBe('tenant-a');
    expect(resolved.ok && resolved.value.baseUrl).toBe('https://platform.example');
    expect(resolved.ok && resolved.value.credential.reveal()).toBe(JWT);
  });

  it('refuses a profile whose own tenant is another one [MA-009]', async () => {
    const { profiles } = setup({ answer: () => Promise.resolve(parameters('tenant-b')) });
    expect(await profiles.resolve('tenant-a')).toEqual({
      ok: false,
      error: { kind: 'tenant-mismatch', transient: false },
    });
  });

  it('tells a missing profile from a store that does not answer', async () => {
    const missing = setup({ answer: () => Promise.resolve(undefined) });
    expect(await missing.profiles.resolve('t')).toEqual({
      ok: false,
      error: { kind: 'missing', transient: false },
    });
    const down = setup({ answer: () => Promise.reject(new Error('ThrottlingException')) });
    expect(await down.profiles.resolve('t')).toEqual({
      ok: false,
      error: { kind: 'unreachable', transient: true },
    });
  });

  it('keeps a profile for five minutes, each tenant its own', async () => {
    const { profiles, clock, state } = setup();
    await profiles.resolve('tenant-a');
    await profiles.resolve('tenant-b');
    clock.now += 5 * 60_000 - 1;
    const kept = await profiles.resolve('tenant-a');
    expect(kept.ok && kept.value.tenantId).toBe('tenant-a');
    expect(state.reads).toEqual(['tenant-a', 'tenant-b']);
    clock.now += 1;
    await profiles.resolve('tenant-a');
    expect(state.reads).toEqual(['tenant-a', 'tenant-b', 'tenant-a']);
  });

  it('never keeps a failure', async () => {
    const { profiles, state } = setup({ answer: () => Promise.resolve(undefined) });
    expect((await profiles.resolve('tenant-a')).ok).toBe(false);
    state.answer = (tenantId) => Promise.resolve(parameters(tenantId));
    expect((await profiles.resolve('tenant-a')).ok).toBe(true);
  });

  it('does not serve an expired profile when the store is down', async () => {
    const { profiles, clock, state } = setup();
    await profiles.resolve('tenant-a');
    clock.now += 5 * 60_000;
    state.answer = () => Promise.reject(new Error('down'));
    expect((await profiles.resolve('tenant-a')).ok).toBe(false);
  });

  it.each([
    ['https://platform.example/api/', 'production', 'https://platform.example/api'],
    ['https://PLATFORM.example:443', 'local', 'https://platform.example'],
    ['https://platform.example:8443', 'production', 'https://platform.example:8443'],
    ['https://platform.example:8444', 'production', undefined],
    ['https://platform.example.evil.example', 'production', undefined],
    ['https://evil.example', 'local', undefined],
    ['http://127.0.0.1:4012', 'local', 'http://127.0.0.1:4012'],
    ['http://localhost:4012/', 'local', 'http://localhost:4012'],
    ['http://[::1]:4012', 'local', 'http://[::1]:4012'],
    ['http://127.0.0.1:4012', 'production', undefined],
    ['http://platform.example', 'local', undefined],
    ['http://127.0.0.1.evil.example', 'local', undefined],
    ['https://user:pass@platform.example', 'production', undefined],
    ['https://platform.example?x=1', 'production', undefined],
    ['https://platform.example#x', 'production', undefined],
    ['ftp://platform.example', 'production', undefined],
    ['', 'production', undefined],
  ])('approves the address %j in stage %s as %j [MA-008]', async (url, stage, expected) => {
    const { profiles } = setup(
      { answer: (tenantId) => Promise.resolve(parameters(tenantId, { url })) },
      stage,
    );
    const resolved = await profiles.resolve('tenant-a');
    if (expected === undefined)
      expect(resolved).toEqual({ ok: false, error: { kind: 'invalid', transient: false } });
    else expect(resolved.ok && resolved.value.baseUrl).toBe(expected);
  });

  it.each(['', 'with space', 'line\r\nX-Injected: 1', 'ünicode'])(
    'refuses %j as a Bearer token',
    async (jwt) => {
      const { profiles } = setup({ answer: (tenantId) => Promise.resolve(parameters(tenantId, { jwt })) });
      expect(await profiles.resolve('tenant-a')).toEqual({
        ok: false,
        error: { kind: 'invalid', transient: false },
      });
    },
  );

  it('shows the credential only when asked for it [MA-007]', async () => {
    const { profiles } = setup();
    const resolved = await profiles.resolve('tenant-a');
    if (!resolved.ok) throw new Error('expected a profile');
    const profile = resolved.value;
    const shown = [
      JSON.stringify(profile),
      JSON.stringify({ ...profile.credential }),
      inspect(profile, { depth: 10, showHidden: true, getters: true }),
      inspect(profile.credential, { customInspect: false, showHidden: true }),
      String(profile.credential),
      Object.entries(profile.credential).join(),
    ];
    for (const text of shown) expect(text).not.toContain(JWT);
  });
});

describe('the single-profile form', () => {
  const approvedHosts = ['p.example', 'platform.example'];
  const single = singleProfileOf({
    PLATFORM_TENANT: 'tenant-a',
    PLATFORM_JWT: JWT,
    PLATFORM_URL: 'https://p.example',
  });

  it('serves its own tenant and no other [MA-009]', async () => {
    const profiles = createServiceProfiles({ single, approvedHosts, stage: 'production', now: () => 0 });
    expect((await profiles.resolve('tenant-a')).ok).toBe(true);
    expect(await profiles.resolve('tenant-b')).toEqual({
      ok: false,
      error: { kind: 'tenant-mismatch', transient: false },
    });
  });

  it('leaves other tenants to the store', async () => {
    const reader = { read: (tenantId: string) => Promise.resolve(parameters(tenantId)) };
    const profiles = createServiceProfiles({
      single,
      reader,
      approvedHosts,
      stage: 'production',
      now: () => 0,
    });
    const own = await profiles.resolve('tenant-a');
    const other = await profiles.resolve('tenant-b');
    expect(own.ok && own.value.baseUrl).toBe('https://p.example');
    expect(other.ok && other.value.baseUrl).toBe('https://platform.example');
  });

  it.each([
    ['supported', true],
    ['Supported', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('says by RESULTS_KC_COMPONENTS = %j alone whether Results takes KC components', async (value, takes) => {
    const resultsKcComponents = singleProfileOf({
      PLATFORM_TENANT: 'tenant-a',
      PLATFORM_JWT: JWT,
      RESULTS_KC_COMPONENTS: value,
    })?.resultsKcComponents;
    const profiles = createServiceProfiles({
      single: parameters('tenant-a', { resultsKcComponents }),
      approvedHosts,
      stage: 'production',
      now: () => 0,
    });
    const resolved = await profiles.resolve('tenant-a');
    expect(resolved.ok && resolved.value.takesKcComponents).toBe(takes);
  });

  it('is absent without tenant or credential, and useless without an address', async () => {
    expect(singleProfileOf({ PLATFORM_TENANT: 'tenant-a' })).toBeUndefined();
    expect(singleProfileOf({ PLATFORM_JWT: JWT })).toBeUndefined();
    const noUrl = singleProfileOf({ PLATFORM_TENANT: 'tenant-a', PLATFORM_JWT: JWT });
    const profiles = createServiceProfiles({
      single: noUrl,
      approvedHosts,
      stage: 'production',
      now: () => 0,
    });
    expect(await profiles.resolve('tenant-a')).toEqual({
      ok: false,
      error: { kind: 'invalid', transient: false },
    });
  });

  it('with neither form, no tenant has a profile', async () => {
    const profiles = createServiceProfiles({ approvedHosts, stage: 'production', now: () => 0 });
    expect(await profiles.resolve('tenant-a')).toEqual({
      ok: false,
      error: { kind: 'missing', transient: false },
    });
  });
});
