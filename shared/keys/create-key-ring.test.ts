import { describe, expect, it } from 'vitest';
import { initKeyRing, replaceKey, retireKeys, rotateKey } from './administration.ts';
import { createKeyRing } from './create-key-ring.ts';
import type { KeyPurpose, KeyRing } from './key-ring.ts';
import { keyPurposes } from './key-ring.ts';
import { PROMOTE_AFTER_MS, READ_MS, REFRESH_MS, RETIRE_AFTER_MS } from './key-states.ts';
import { createMemoryKeySettings, createMemoryKms } from '#test/support/memory-keys.ts';

const T0 = 1_700_000_000_000;

/** A stage with its ring, a clock to turn, counts of what is asked, and switches to let it fail. */
async function createStage() {
  const settings = createMemoryKeySettings();
  const kms = createMemoryKms();
  const calls = { list: [] as KeyPurpose[], open: [] as string[] };
  const down = { settings: false, kms: false };
  let now = T0;
  const administration = { settings, kms, stage: 'test', clock: () => now };
  await initKeyRing(administration);
  const container = (purposes: readonly KeyPurpose[] = keyPurposes, stage = 'test'): KeyRing =>
    createKeyRing({
      settings: {
        list: async (purpose) => {
          calls.list.push(purpose);
          if (down.settings) throw new Error('settings are down');
          return settings.list(purpose);
        },
      },
      kms: {
        open: async (wrapped, context) => {
          calls.open.push(`${context.purpose} ${context.kid}`);
          if (down.kms) throw new Error('KMS is down');
          return kms.open(wrapped, context);
        },
      },
      stage,
      purposes,
      clock: () => now,
    });
  return {
    administration,
    settings,
    kms,
    calls,
    down,
    container,
    pass: (milliseconds: number) => {
      now += milliseconds;
    },
  };
}

describe('a container', () => {
  it('reads the ring once for callers at the same time, and not again within thirty seconds', async () => {
    const { container, calls, pass } = await createStage();
    const ring = container(['continuation']);
    const keys = await Promise.all(Array.from({ length: 10 }, () => ring.active('continuation')));
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatchObject({ kid: 'k1' });
    expect(keys[0]?.key).toHaveLength(32);
    pass(REFRESH_MS - 1);
    expect(await ring.open('continuation', 'k1')).toEqual(keys[0]?.key);
    expect(calls.list).toHaveLength(1);
    pass(1);
    await ring.active('continuation');
    expect(calls.list).toHaveLength(2);
    // Reading again does not mean unwrapping again.
    expect(calls.open).toEqual(['continuation k1']);
  });

  it('reads again when its clock was set back: it cannot tell the age of what it has', async () => {
    const { container, calls, pass } = await createStage();
    const ring = container(['continuation']);
    await ring.active('continuation');
    pass(-3_600_000);
    await ring.active('continuation');
    expect(calls.list).toHaveLength(2);
  });

  it('asks only for its own purposes', async () => {
    const { container, calls } = await createStage();
    const ring = container(['idempotency', 'pseudonym']);
    await ring.active('idempotency');
    expect(calls.open.sort()).toEqual(['idempotency k1', 'pseudonym k1']);
    await expect(ring.active('continuation')).rejects.toThrow('not made for continuation');
    await expect(ring.open('continuation', 'k1')).rejects.toThrow('not made for continuation');
  });

  it('has another key for each purpose', async () => {
    const { container } = await createStage();
    const ring = container();
    const keys = await Promise.all(
      keyPurposes.map(async (purpose) => Buffer.from((await ring.active(purpose)).key).toString('hex')),
    );
    expect(new Set(keys).size).toBe(keyPurposes.length);
  });

  it('cannot open the keys of another stage', async () => {
    const { container } = await createStage();
    await expect(container(keyPurposes, 'production').active('continuation')).rejects.toThrow();
  });

  it('opens nothing with a retired key, were its material still there [MA-061]', async () => {
    const { administration, settings, kms } = await createStage();
    const material = new Map(
      (await settings.list('continuation')).map(({ kid, wrappedKey }) => [kid, wrappedKey]),
    );
    await replaceKey(administration, 'continuation');
    const ringWith = (state: 'opening' | 'retired'): KeyRing =>
      createKeyRing({
        settings: {
          list: async (purpose) =>
            (await settings.list(purpose)).map((record) => {
              const wrappedKey = material.get(record.kid);
              return wrappedKey === undefined ? record : { ...record, state, wrappedKey };
            }),
        },
        kms,
        stage: 'test',
        purposes: ['continuation'],
        clock: () => T0,
      });
    expect(await ringWith('opening').open('continuation', 'k1')).toHaveLength(32);
    expect(await ringWith('retired').open('continuation', 'k1')).toBeUndefined();
  });
});

describe('failure', () => {
  it.each(['settings', 'kms'] as const)('of %s is thrown to its callers and forgotten', async (part) => {
    const { container, down } = await createStage();
    const ring = container(['continuation']);
    down[part] = true;
    const outcomes = await Promise.allSettled([ring.active('continuation'), ring.open('continuation', 'k1')]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    down[part] = false;
    expect((await ring.active('continuation')).kid).toBe('k1');
  });

  it('of KMS does not touch a container that has unwrapped its keys', async () => {
    const { container, down, pass } = await createStage();
    const ring = container(['continuation']);
    await ring.active('continuation');
    down.kms = true;
    pass(REFRESH_MS);
    expect((await ring.active('continuation')).kid).toBe('k1');
  });

  it('of the settings is not hidden behind keys that may be retired by now', async () => {
    const { container, down, pass } = await createStage();
    const ring = container(['continuation']);
    await ring.active('continuation');
    down.settings = true;
    pass(REFRESH_MS);
    await expect(ring.active('continuation')).rejects.toThrow('settings are down');
    down.settings = false;
    await expect(ring.active('continuation')).resolves.toBeDefined();
  });

  it('is also a ring without an active key, until there is one', async () => {
    const settings = createMemoryKeySettings();
    const kms = createMemoryKms();
    const options = { settings, kms, stage: 'test', clock: () => T0 };
    const ring = createKeyRing({ ...options, purposes: ['continuation'] });
    await expect(ring.active('continuation')).rejects.toThrow('no active key for continuation');
    await initKeyRing(options);
    expect((await ring.active('continuation')).kid).toBe('k1');
  });
});

describe('a container that was frozen while it read', () => {
  /** A ring whose next reading never ends until it is told to. */
  async function createSlowStage() {
    const stage = await createStage();
    const held: (() => void)[] = [];
    let holds = true;
    const ring = createKeyRing({
      ...stage.administration,
      settings: {
        list: async (purpose) => {
          const records = await stage.settings.list(purpose);
          if (holds) await new Promise<void>((resolve) => held.push(resolve));
          return records;
        },
      },
      purposes: ['continuation'],
    });
    return {
      ...stage,
      ring,
      pass: (milliseconds: number) => {
        holds = false;
        stage.pass(milliseconds);
      },
      thaw: () => {
        for (const resolve of held) resolve();
      },
    };
  }

  it('uses nothing of that reading', async () => {
    const { ring, administration, pass, thaw } = await createSlowStage();
    const before = ring.active('continuation');
    await replaceKey(administration, 'continuation');
    pass(REFRESH_MS);
    thaw();
    await expect(before).rejects.toThrow('too slowly');
    expect((await ring.active('continuation')).kid).toBe('k2');
  });

  it('does not wait for that reading', async () => {
    const { ring, pass } = await createSlowStage();
    void ring.active('continuation');
    pass(2 * READ_MS);
    expect((await ring.active('continuation')).kid).toBe('k1');
  });
});

describe('rotation', () => {
  it('never leaves a container with a token that it cannot open, and ends with the old key gone', async () => {
    const { administration, container, pass } = await createStage();
    const early = container(['continuation']);
    const old = await early.active('continuation');

    await rotateKey(administration, 'continuation');
    pass(REFRESH_MS);
    // The successor is known before anyone seals with it.
    expect(await early.open('continuation', 'k2')).toBeDefined();
    expect((await early.active('continuation')).kid).toBe('k1');

    pass(PROMOTE_AFTER_MS - REFRESH_MS);
    await rotateKey(administration, 'continuation');
    const late = container(['continuation']);
    expect((await late.active('continuation')).kid).toBe('k2');
    expect(await late.open('continuation', 'k1')).toEqual(old.key);
    pass(REFRESH_MS);
    expect((await early.active('continuation')).kid).toBe('k2');
    expect(await early.open('continuation', 'k1')).toEqual(old.key);

    pass(RETIRE_AFTER_MS);
    await retireKeys(administration, 'continuation');
    expect(await late.open('continuation', 'k1')).toBeUndefined();
    expect(await early.open('continuation', 'k1')).toBeUndefined();
    expect((await early.active('continuation')).kid).toBe('k2');
  });

  it('at once, after a leak, is met by one refresh on the unknown key', async () => {
    const { administration, container, calls } = await createStage();
    const stale = container(['continuation']);
    await stale.active('continuation');
    await replaceKey(administration, 'continuation');
    const sealedWith = await container(['continuation']).active('continuation');
    expect(sealedWith.kid).toBe('k2');
    calls.list.length = 0;
    expect(await stale.open('continuation', 'k2')).toEqual(sealedWith.key);
    expect(calls.list).toHaveLength(1);
  });
});

describe('an unknown key id', () => {
  it('costs one refresh, however many callers bring however many of them', async () => {
    const { container, calls, pass } = await createStage();
    const ring = container(['continuation']);
    await ring.active('continuation');
    pass(1000);
    calls.list.length = 0;
    const opened = await Promise.all(
      Array.from({ length: 20 }, (_, n) => ring.open('continuation', `k${n + 2}`)),
    );
    expect(opened.every((key) => key === undefined)).toBe(true);
    await ring.open('continuation', 'k50');
    expect(calls.list).toHaveLength(1);
    pass(30_000);
    await ring.open('continuation', 'k50');
    expect(calls.list).toHaveLength(2);
  });

  it('costs none when the ring was read for this very call', async () => {
    const { container, calls } = await createStage();
    expect(await container(['continuation']).open('continuation', 'k99')).toBeUndefined();
    expect(calls.list).toHaveLength(1);
  });

  it.each(['', 'k0', 'attacker', 'k1\u0000', '__proto__'])(
    'of a form that was never issued (%j) costs none',
    async (kid) => {
      const { container, calls } = await createStage();
      const ring = container(['continuation']);
      await ring.active('continuation');
      expect(await ring.open('continuation', kid)).toBeUndefined();
      expect(calls.list).toHaveLength(1);
    },
  );

  it('costs none when the key is known to be retired', async () => {
    const { administration, container, calls, pass } = await createStage();
    await replaceKey(administration, 'continuation');
    pass(RETIRE_AFTER_MS);
    await retireKeys(administration, 'continuation');
    const ring = container(['continuation']);
    await ring.active('continuation');
    expect(await ring.open('continuation', 'k1')).toBeUndefined();
    expect(calls.list).toHaveLength(1);
  });

  it('is asked for again when that refresh failed: a good token is not taken for a false one', async () => {
    const { administration, container, down } = await createStage();
    const ring = container(['continuation']);
    await ring.active('continuation');
    await replaceKey(administration, 'continuation');
    down.settings = true;
    await expect(ring.open('continuation', 'k2')).rejects.toThrow('settings are down');
    down.settings = false;
    expect(await ring.open('continuation', 'k2')).toBeDefined();
  });
});
