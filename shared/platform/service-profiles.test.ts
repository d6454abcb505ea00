import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createServiceProfiles } from './service-profiles.ts';
import type { ProfileParameters, ServiceProfiles, ServiceProfilesOptions } from './service-profiles.ts';

const JWT = 'eyJhbGciOiJFUzI1NiJ9.e30.c2lnbmF0dXJl';
const parameters = (tenant: string, change: Partial<ProfileParameters> = {}): ProfileParameters => ({
  PLATFORM_TENANT: tenant,
  PLATFORM_JWT: JWT,
  PLATFORM_URL: 'https://platform.example',
  ...change,
});

/** Profiles over a store that a test switches, with the tenants that it was asked for. */
function setup(options: Partial<ServiceProfilesOptions> = {}) {
  const clock = { now: 1_000 };
  const reads: string[] = [];
  const store = {
    answer: (tenantId: string): Promise<ProfileParameters> => Promise.resolve(parameters(tenantId)),
  };
  const profiles = createServiceProfiles({
    reader: {
      read: (tenantId) => {
        reads.push(tenantId);
        return store.answer(tenantId);
      },
    },
    approvedHosts: ['platform.example', 'platform.example:8443'],
    stage: 'production',
    now: () => clock.now,
    ...options,
  });
  return { profiles, clock, store, reads };
}

/** The address of a tenant's profile, or why there is none. */
async function addressOf(profiles: ServiceProfiles, tenantId = 'tenant-a'): Promise<string> {
  const resolved = await profiles.resolve(tenantId);
  if (!resolved.ok) return resolved.error;
  expect(resolved.value.tenantId).toBe(tenantId);
  return resolved.value.baseUrl;
}
const addressWith = (change: Partial<ProfileParameters>, stage = 'production'): Promise<string> =>
  addressOf(
    setup({ stage, reader: { read: (tenant) => Promise.resolve(parameters(tenant, change)) } }).profiles,
  );

describe('createServiceProfiles', () => {
  it('keeps a profile for five minutes, each tenant its own [MA-008]', async () => {
    const { profiles, clock, reads } = setup();
    for (const tenant of ['tenant-a', 'tenant-b']) await addressOf(profiles, tenant);
    clock.now += 5 * 60_000 - 1;
    for (const tenant of ['tenant-a', 'tenant-b']) await addressOf(profiles, tenant);
    expect(reads).toEqual(['tenant-a', 'tenant-b']);
    clock.now += 1;
    await addressOf(profiles);
    expect(reads).toEqual(['tenant-a', 'tenant-b', 'tenant-a']);
  });

  it('tells a missing profile from a store that does not answer, and keeps no failure', async () => {
    const { profiles, store } = setup();
    const sound = store.answer;
    store.answer = () => Promise.resolve({});
    expect(await addressOf(profiles)).toBe('missing');
    store.answer = () => Promise.reject(new Error('ThrottlingException'));
    expect(await addressOf(profiles)).toBe('unreachable');
    store.answer = sound;
    expect(await addressOf(profiles)).toBe('https://platform.example');
  });

  it('does not serve an expired profile when the store is down', async () => {
    const { profiles, clock, store } = setup();
    await addressOf(profiles);
    clock.now += 5 * 60_000;
    store.answer = () => Promise.reject(new Error('down'));
    expect(await addressOf(profiles)).toBe('unreachable');
  });

  it.each([
    ['https://platform.example/api/', 'production', 'https://platform.example/api'],
    ['https://PLATFORM.example:443', 'local', 'https://platform.example'],
    ['https://platform.example:8443', 'production', 'https://platform.example:8443'],
    ['http://127.0.0.1:4012', 'local', 'http://127.0.0.1:4012'],
    ['http://localhost:4012/', 'local', 'http://localhost:4012'],
    ['http://[::1]:4012', 'local', 'http://[::1]:4012'],
    ...[
      'https://platform.example:8444',
      'https://platform.example.evil.example',
      'https://evil.example',
      'http://platform.example',
      'http://127.0.0.1.evil.example',
      'https://user:pass@platform.example',
      'https://platform.example?x=1',
      'https://platform.example#x',
      'ftp://platform.example',
      '',
    ].map((url) => [url, 'local', 'invalid']),
    ['http://127.0.0.1:4012', 'production', 'invalid'],
  ])('approves the address %j in stage %s as %j [MA-008]', async (url, stage, expected) => {
    expect(await addressWith({ PLATFORM_URL: url }, stage)).toBe(expected);
  });

  it.each(['', 'with space', 'line\r\nX-Injected: 1', 'ünicode'])(
    'refuses %j as a Bearer token',
    async (jwt) => {
      expect(await addressWith({ PLATFORM_JWT: jwt })).toBe('invalid');
    },
  );

  it('shows the credential only when asked for it [MA-007]', async () => {
    const resolved = await setup().profiles.resolve('tenant-a');
    if (!resolved.ok) throw new Error('expected a profile');
    const profile = resolved.value;
    expect(profile.credential.reveal()).toBe(JWT);
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
  const environment = { PLATFORM_TENANT: 'tenant-a', PLATFORM_JWT: JWT };
  const single = { ...environment, PLATFORM_URL: 'https://platform.example/single' };

  it('serves its own tenant, and leaves the others to the store if there is one [MA-009]', async () => {
    for (const [options, other] of [
      [{ single }, 'https://platform.example'],
      [{ single, reader: undefined }, 'missing'],
    ] as const) {
      const { profiles } = setup(options);
      expect(await addressOf(profiles)).toBe('https://platform.example/single');
      expect(await addressOf(profiles, 'tenant-b')).toBe(other);
    }
    expect(await addressOf(setup({ reader: undefined }).profiles)).toBe('missing');
  });

  it.each([
    ['supported', true],
    ['Supported', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('says by RESULTS_KC_COMPONENTS = %j alone whether Results takes KC components', async (value, takes) => {
    const { profiles } = setup({ single: parameters('tenant-a', { RESULTS_KC_COMPONENTS: value }) });
    const resolved = await profiles.resolve('tenant-a');
    expect(resolved.ok && resolved.value.takesKcComponents).toBe(takes);
  });

  it('is absent without tenant or credential, and useless without an address', async () => {
    const alone = (single: ProfileParameters) => addressOf(setup({ single, reader: undefined }).profiles);
    expect(await alone({ PLATFORM_TENANT: 'tenant-a' })).toBe('missing');
    expect(await alone({ PLATFORM_JWT: JWT })).toBe('missing');
    expect(await alone(environment)).toBe('invalid');
  });
});

it('refuses a stored profile whose own tenant is another one [MA-009]', async () => {
  expect(await addressWith({ PLATFORM_TENANT: 'tenant-b' })).toBe('missing');
});
