import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { Log } from '#shared/observability/logger.ts';
import { createServiceProfiles } from './service-profiles.ts';
import type {
  ProfileParameters,
  ProfileReader,
  ServiceProfiles,
  ServiceProfilesOptions,
  StoredProfile,
} from './service-profiles.ts';

const JWT = 'eyJhbGciOiJFUzI1NiJ9.e30.c2lnbmF0dXJl';
const parameters = (tenant: string, change: Partial<ProfileParameters> = {}): ProfileParameters => ({
  PLATFORM_TENANT: tenant,
  PLATFORM_JWT: JWT,
  PLATFORM_URL: 'https://platform.example',
  ...change,
});

/** A credential, wrapped: what KMS opens here is the text itself. */
const stored = (tenant: string, change: Partial<ProfileParameters> = {}): StoredProfile => {
  const { PLATFORM_JWT = '', ...facts } = parameters(tenant, change);
  return {
    parameters: JSON.parse(JSON.stringify(facts)) as Record<string, string>,
    wrappedCredential: Buffer.from(PLATFORM_JWT),
  };
};

/** Profiles over a store and a KMS that a test switches, with the calls that they got. */
function setup(options: Partial<ServiceProfilesOptions> = {}) {
  const clock = { now: 1_000_000 };
  const reads: string[] = [];
  const opened: string[] = [];
  const lines: unknown[] = [];
  const store = {
    read: (tenantId: string): ReturnType<ProfileReader['read']> => Promise.resolve(stored(tenantId)),
    open: (wrapped: Uint8Array): ReturnType<ProfileReader['open']> =>
      Promise.resolve(Buffer.from(wrapped).toString()),
  };
  const profiles = createServiceProfiles({
    reader: {
      read: (tenantId) => {
        reads.push(tenantId);
        return store.read(tenantId);
      },
      open: (wrapped) => {
        opened.push(Buffer.from(wrapped).toString());
        return store.open(wrapped);
      },
    },
    approvedHosts: ['platform.example', 'platform.example:8443'],
    stage: 'production',
    now: () => clock.now,
    // In the middle of what spreads.
    random: () => Uint8Array.of(128, 0, 0, 0),
    ...options,
  });
  const log: Log = (code, fields) => void lines.push({ code, ...fields });
  return { profiles, clock, store, reads, opened, lines, log };
}

const down = () => Promise.reject(Object.assign(new Error('down'), { name: 'ThrottlingException' }));
const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];

/** The address of a tenant's profile, or why there is none. */
async function addressOf(profiles: ServiceProfiles, tenantId = 'tenant-a', log?: Log): Promise<string> {
  const resolved = await profiles.resolve(tenantId, log);
  if (!resolved.ok) return resolved.error;
  expect(resolved.value.tenantId).toBe(tenantId);
  return resolved.value.baseUrl;
}
const addressWith = (change: Partial<ProfileParameters>, stage = 'production'): Promise<string> =>
  addressOf(
    setup({ stage, reader: { ...opener, read: (tenant) => Promise.resolve(stored(tenant, change)) } })
      .profiles,
  );
const opener: Pick<ProfileReader, 'open'> = {
  open: (wrapped) => Promise.resolve(Buffer.from(wrapped).toString()),
};
const ADDRESS = 'https://platform.example';
/** Lets a read that is under way behind a request end. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('createServiceProfiles', () => {
  it('keeps a profile for a minute, each tenant its own, and reads it again behind a request after half of that [MA-008]', async () => {
    const { profiles, clock, reads, opened } = setup();
    for (const tenant of ['tenant-a', 'tenant-b']) await addressOf(profiles, tenant);
    clock.now += 30 * SECOND - 1;
    for (const tenant of ['tenant-a', 'tenant-b']) await addressOf(profiles, tenant);
    expect(reads).toEqual(['tenant-a', 'tenant-b']);
    clock.now += 1;
    await addressOf(profiles);
    await settle();
    expect(reads).toEqual(['tenant-a', 'tenant-b', 'tenant-a']);
    // That read began a minute ago.
    clock.now += MINUTE;
    await Promise.all([addressOf(profiles), addressOf(profiles)]);
    expect(reads).toHaveLength(4);
    // KMS opens a credential once.
    expect(opened).toHaveLength(2);
  });

  it('does not wait for the read behind a request, whose answer takes effect at the next one', async () => {
    const { profiles, clock, store } = setup();
    await addressOf(profiles);
    clock.now += 45 * SECOND;
    let answer: ((profile: undefined) => void) | undefined;
    store.read = () => new Promise((resolve) => (answer = resolve));
    expect(await addressOf(profiles)).toBe(ADDRESS);
    store.read = () => Promise.resolve(undefined);
    answer?.(undefined);
    await settle();
    expect(await addressOf(profiles)).toBe('missing');
  });

  it('lets every answer of the store take effect at once: none, a damaged item, another host, a changed fact', async () => {
    const { profiles, clock, store, lines, log } = setup();
    const invalid = { code: 'PROFILE_INVALID' };
    for (const [answer, expected] of [
      [undefined, 'missing'],
      ['invalid', 'invalid'],
      [stored('tenant-b'), 'missing'],
      [stored('tenant-a', { PLATFORM_URL: 'https://elsewhere.example' }), 'invalid'],
      [stored('tenant-a', { PLATFORM_URL: `${ADDRESS}/v2` }), `${ADDRESS}/v2`],
    ] as const) {
      store.read = () => Promise.resolve(stored('tenant-a'));
      clock.now += MINUTE;
      expect(await addressOf(profiles)).toBe(ADDRESS);
      clock.now += MINUTE;
      store.read = () => Promise.resolve(answer);
      expect(await addressOf(profiles, 'tenant-a', log)).toBe(expected);
    }
    expect(lines).toEqual([invalid, invalid]);
    store.read = () => Promise.resolve(stored('tenant-a', { PLATFORM_JWT: 'of.another.tenant' }));
    store.open = () => Promise.resolve(undefined);
    clock.now += MINUTE;
    expect(await addressOf(profiles)).toBe('invalid');
    // Nothing is kept of what must not be served.
    store.open = down;
    clock.now += 5 * SECOND;
    expect(await addressOf(profiles)).toBe('unreachable');
  });

  it('reads what cannot be used once per pause of at most five seconds, so that a repair binds within them', async () => {
    const { profiles, clock, store, reads, opened, lines, log } = setup();
    store.open = () => Promise.resolve(undefined);
    const [begun, seconds] = [clock.now, [] as number[]];
    let requests = 0;
    for (; clock.now < begun + 20 * SECOND; clock.now += 250) {
      const before = reads.length;
      requests += 1;
      expect(await addressOf(profiles, 'tenant-a', log)).toBe('invalid');
      if (reads.length > before) seconds.push((clock.now - begun) / SECOND);
    }
    expect(seconds).toEqual([0, 1.25, 3.75, 8.75, 13.75, 18.75]);
    expect(opened).toHaveLength(reads.length);
    // Each of them fails for it.
    expect(lines).toEqual(Array.from({ length: requests }, () => ({ code: 'PROFILE_INVALID' })));
    // Other tenants are read.
    store.open = (wrapped) => Promise.resolve(Buffer.from(wrapped).toString());
    expect(await addressOf(profiles, 'tenant-b')).toBe(ADDRESS);
    clock.now = begun + 23.75 * SECOND;
    expect(await addressOf(profiles)).toBe(ADDRESS);
    // The next damage begins with the first pause.
    store.read = () => Promise.resolve('invalid');
    clock.now += MINUTE;
    expect(await addressOf(profiles)).toBe('invalid');
    store.read = (tenantId) => Promise.resolve(stored(tenantId));
    clock.now += 1.25 * SECOND;
    expect(await addressOf(profiles)).toBe(ADDRESS);
  });

  it('after each pause serves the last profile at once and reads behind the request, but not long after', async () => {
    const { profiles, clock, store, reads } = setup();
    await addressOf(profiles);
    clock.now += MINUTE;
    store.read = down;
    expect(await addressOf(profiles)).toBe(ADDRESS);
    store.read = () => new Promise(() => undefined);
    clock.now += 2 * SECOND;
    expect(await Promise.all([addressOf(profiles), addressOf(profiles)])).toEqual([ADDRESS, ADDRESS]);
    expect(reads).toHaveLength(3);
    // The store is back, and the profile has been removed meanwhile: a container that was idle must not go on with it.
    store.read = () => Promise.resolve(undefined);
    clock.now += MINUTE;
    expect(await addressOf(profiles)).toBe('missing');
  });

  it('writes one line per failed read while it serves the last profile, and one per request that fails', async () => {
    const { profiles, clock, store, reads, lines, log } = setup();
    const resolve = (logged?: Log) => addressOf(profiles, 'tenant-a', logged);
    await resolve();
    clock.now += MINUTE;
    store.read = down;
    // A caller without a log does not use up the line.
    await Promise.all([resolve(), resolve(log), resolve(log)]);
    expect(lines).toEqual([{ code: 'PROFILE_UNREADABLE', error: 'ThrottlingException', ageSeconds: 60 }]);
    for (let request = 0; request < 5; request += 1) await resolve(log);
    expect(lines).toHaveLength(1);
    clock.now += 2 * SECOND;
    for (let request = 0; request < 5; request += 1) await resolve(log);
    expect([reads.length, lines.length]).toEqual([3, 2]);
    clock.now += 4 * HOUR;
    expect(await Promise.all([resolve(log), resolve(log)])).toEqual(['unreachable', 'unreachable']);
    expect(lines).toHaveLength(4);
  });

  it('serves the last profile for up to four hours while the store gives no answer, and says so', async () => {
    const { profiles, clock, store, lines, log } = setup();
    await addressOf(profiles);
    store.read = down;
    clock.now += MINUTE;
    expect(await addressOf(profiles, 'tenant-a', log)).toBe(ADDRESS);
    expect(lines).toEqual([{ code: 'PROFILE_UNREADABLE', error: 'ThrottlingException', ageSeconds: 60 }]);
    clock.now += 4 * HOUR - MINUTE - 1;
    expect(await addressOf(profiles)).toBe(ADDRESS);
    clock.now += 1;
    expect(await addressOf(profiles, 'tenant-a', log)).toBe('unreachable');
    expect(lines.at(-1)).toMatchObject({ ageSeconds: null });
    // A clock that was set back makes the age unknown.
    clock.now -= 24 * HOUR;
    expect(await addressOf(profiles)).toBe('unreachable');
  });

  it('counts the four hours from the last answer, which may be a read behind a request', async () => {
    const { profiles, clock, store } = setup();
    await addressOf(profiles);
    clock.now += 45 * SECOND;
    await addressOf(profiles);
    await settle();
    store.read = down;
    clock.now += 4 * HOUR - 1;
    expect(await addressOf(profiles)).toBe(ADDRESS);
  });

  it('a KMS that denies access or is down closes no tenant whose credential is known, and is not asked for its bytes again', async () => {
    const { profiles, clock, store, opened } = setup();
    await addressOf(profiles);
    store.open = () => Promise.reject(Object.assign(new Error('denied'), { name: 'AccessDeniedException' }));
    clock.now += 24 * HOUR;
    expect(await addressOf(profiles)).toBe(ADDRESS);
    expect(opened).toEqual([JWT]);
    // A credential that was replaced meanwhile cannot be opened: the last one serves.
    store.read = (tenantId) => Promise.resolve(stored(tenantId, { PLATFORM_JWT: 'a.new.one' }));
    clock.now += MINUTE;
    expect(await addressOf(profiles)).toBe(ADDRESS);
    expect(await addressOf(profiles, 'tenant-b')).toBe('unreachable');
  });

  it('never serves a credential beyond its own end without a new read', async () => {
    const { profiles, clock, store } = setup();
    const credentialExpiresAt = clock.now + 2 * MINUTE;
    store.read = (tenantId) => Promise.resolve({ ...stored(tenantId), credentialExpiresAt });
    await addressOf(profiles);
    store.read = down;
    clock.now = credentialExpiresAt - 1;
    expect(await addressOf(profiles)).toBe(ADDRESS);
    clock.now += 1;
    expect(await addressOf(profiles)).toBe('unreachable');
  });

  it('waits longer after each failed read, up to a minute, while requests go on with the last profile at once', async () => {
    const { profiles, clock, store, reads } = setup();
    await addressOf(profiles);
    clock.now += MINUTE;
    store.read = down;
    const [begun, seconds] = [clock.now, [] as number[]];
    for (; clock.now < begun + 5 * MINUTE; clock.now += 250) {
      const before = reads.length;
      expect(await Promise.all([addressOf(profiles), addressOf(profiles)])).toEqual([ADDRESS, ADDRESS]);
      if (reads.length > before) seconds.push((clock.now - begun) / SECOND);
    }
    const pauses = seconds.slice(1).map((at, index) => at - (seconds[index] ?? 0));
    expect(pauses).toEqual([1.25, 2.5, 5, 10, 20, 40, 60, 60, 60]);
    store.read = (tenantId) => Promise.resolve(stored(tenantId));
    clock.now += MINUTE;
    await addressOf(profiles);
    store.read = down;
    clock.now += MINUTE;
    await addressOf(profiles);
    const after = reads.length;
    clock.now += 1.5 * SECOND;
    await addressOf(profiles);
    expect(reads).toHaveLength(after + 1);
  });

  it('tries again at each request where there is nothing to serve', async () => {
    const { profiles, store, reads } = setup();
    store.read = down;
    expect(await addressOf(profiles)).toBe('unreachable');
    store.read = (tenantId) => Promise.resolve(stored(tenantId));
    expect(await addressOf(profiles)).toBe(ADDRESS);
    expect(reads).toHaveLength(2);
  });

  it('a read that a freeze of the container has cut is no failure of the store, and a later read goes its own way', async () => {
    const { profiles, clock, store, reads } = setup();
    await addressOf(profiles);
    clock.now += 45 * SECOND;
    let cut: ((error: Error) => void) | undefined;
    let late: ((profile: StoredProfile) => void) | undefined;
    store.read = () => new Promise((_, reject) => (cut = reject));
    await addressOf(profiles);
    clock.now += HOUR;
    store.read = () => Promise.resolve(undefined);
    cut?.(new DOMException('too late', 'TimeoutError'));
    await settle();
    expect(await addressOf(profiles)).toBe('missing');
    // A slow read of an earlier state does not replace a later one.
    store.read = () => new Promise((resolve) => (late = resolve));
    const slow = addressOf(profiles);
    clock.now += 10 * SECOND;
    store.read = () => Promise.resolve(undefined);
    expect(await addressOf(profiles)).toBe('missing');
    late?.(stored('tenant-a'));
    await slow;
    const before = reads.length;
    expect(await addressOf(profiles)).toBe('missing');
    expect(reads).toHaveLength(before + 1);
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

describe('a credential that the platform refuses', () => {
  /** Whether a request that arrives now, and is refused, may be repeated. */
  async function refused({ profiles, clock }: ReturnType<typeof setup>): Promise<boolean | string> {
    const receivedAt = clock.now;
    const resolved = await profiles.resolve('tenant-a');
    if (!resolved.ok) return resolved.error;
    clock.now += 100;
    return profiles.forget(resolved.value, receivedAt);
  }

  it('is read anew before it is used again, at most once in 30 seconds; only the request that has read it is not worth a repetition [MA-218]', async () => {
    const test = setup();
    const { clock, reads, opened } = test;
    await addressOf(test.profiles);
    clock.now += SECOND;
    expect(await refused(test)).toBe(true);
    expect(reads).toHaveLength(1);
    // The other owners may well accept it, so it is sent on.
    for (let seconds = 0; seconds < 29; seconds += 1) {
      expect(await refused(test)).toBe(seconds > 0);
      clock.now += SECOND - 100;
    }
    expect(reads).toHaveLength(2);
    clock.now += SECOND;
    expect(await refused(test)).toBe(true);
    expect(await refused(test)).toBe(false);
    // One of them behind the request that found the last read half a minute old.
    expect(reads).toHaveLength(4);
    expect(opened).toEqual([JWT]);
  });

  it('is replaced by the next request once an operator has stored another one, which may be refused in turn', async () => {
    const test = setup();
    await addressOf(test.profiles);
    test.clock.now += SECOND;
    expect(await refused(test)).toBe(true);
    test.store.read = (tenantId) => Promise.resolve(stored(tenantId, { PLATFORM_JWT: 'a.new.one' }));
    const next = await test.profiles.resolve('tenant-a');
    expect(next.ok && next.value.credential.reveal()).toBe('a.new.one');
    test.clock.now += SECOND;
    expect(await refused(test)).toBe(true);
    expect(test.reads).toHaveLength(2);
    await addressOf(test.profiles);
    expect(test.reads).toHaveLength(3);
  });

  it('is not served from memory while it cannot be read anew, whatever its age', async () => {
    const test = setup();
    await addressOf(test.profiles);
    test.clock.now += SECOND;
    expect(await refused(test)).toBe(true);
    test.store.read = down;
    expect(await addressOf(test.profiles)).toBe('unreachable');
    const before = test.reads.length;
    expect(await addressOf(test.profiles)).toBe('unreachable');
    expect(test.reads).toHaveLength(before);
    test.store.read = (tenantId) => Promise.resolve(stored(tenantId));
    test.clock.now += 2 * SECOND;
    expect(await addressOf(test.profiles)).toBe(ADDRESS);
  });

  it('is read once more when the read under way began before the refusal', async () => {
    const test = setup();
    const { profiles, clock, store } = test;
    await addressOf(profiles);
    clock.now += 45 * SECOND;
    let answer: ((profile: StoredProfile) => void) | undefined;
    store.read = () => new Promise((resolve) => (answer = resolve));
    expect(await refused(test)).toBe(true);
    const next = profiles.resolve('tenant-a');
    store.read = (tenantId) => Promise.resolve(stored(tenantId, { PLATFORM_JWT: 'a.new.one' }));
    answer?.(stored('tenant-a'));
    const resolved = await next;
    expect(resolved.ok && resolved.value.credential.reveal()).toBe('a.new.one');
  });
});
