import { describe, expect, it } from 'vitest';
import type { KeyAdministration } from './administration.ts';
import { initKeyRing, replaceKey, retireKeyNow, retireKeys, rotateKey } from './administration.ts';
import { keyPurposes } from './key-ring.ts';
import { RETIRE_AFTER_MS } from './key-states.ts';
import { createMemoryKeySettings, createMemoryKms } from '#test/support/memory-keys.ts';

const T0 = 1_700_000_000_000;

function createAdministration(): KeyAdministration & { pass: (milliseconds: number) => void } {
  let now = T0;
  return {
    settings: createMemoryKeySettings(),
    kms: createMemoryKms(),
    stage: 'test',
    clock: () => now,
    pass: (milliseconds) => {
      now += milliseconds;
    },
  };
}

describe('initKeyRing', () => {
  it('gives every purpose an active key, once', async () => {
    const administration = createAdministration();
    const created = { kind: 'create', kid: 'k1', state: 'active' };
    expect(await initKeyRing(administration)).toEqual(
      keyPurposes.map((purpose) => ({ purpose, done: [created], waiting: [] })),
    );
    const before = await administration.settings.list('pseudonym');
    expect(before).toMatchObject([{ kid: 'k1', state: 'active', createdAt: T0, activatedAt: T0 }]);
    expect((await initKeyRing(administration)).flatMap(({ done }) => done)).toEqual([]);
    expect(await administration.settings.list('pseudonym')).toEqual(before);
  });

  it('makes one key when two run at the same time', async () => {
    const administration = createAdministration();
    await Promise.all([initKeyRing(administration), initKeyRing(administration)]);
    expect(await administration.settings.list('continuation')).toHaveLength(1);
  });
});

describe('a life of a key', () => {
  it('leaves its times, and nothing to unwrap at its end', async () => {
    const administration = createAdministration();
    await initKeyRing(administration);
    administration.pass(1000);
    await replaceKey(administration, 'continuation');
    administration.pass(RETIRE_AFTER_MS);
    expect(await retireKeys(administration, 'continuation')).toMatchObject({
      value: { done: [{ kid: 'k1', to: 'retired' }] },
    });
    const [first, second] = await administration.settings.list('continuation');
    expect(first).toEqual({
      purpose: 'continuation',
      kid: 'k1',
      state: 'retired',
      createdAt: T0,
      activatedAt: T0,
      openingAt: T0 + 1000,
      retiredAt: T0 + 1000 + RETIRE_AFTER_MS,
    });
    expect(second).toMatchObject({ kid: 'k2', state: 'active', activatedAt: T0 + 1000 });
  });

  it('can be cut short after a leak', async () => {
    const administration = createAdministration();
    await initKeyRing(administration);
    await replaceKey(administration, 'idempotency');
    expect(await retireKeyNow(administration, 'idempotency', 'k2')).toMatchObject({
      error: { kind: 'not-opening' },
    });
    expect(await retireKeyNow(administration, 'idempotency', 'k1')).toMatchObject({ ok: true });
    const states = (await administration.settings.list('idempotency')).map(({ state }) => state);
    expect(states).toEqual(['retired', 'active']);
  });
});

describe('two administrators', () => {
  it('who rotate at the same time make one pending key; the other one is told', async () => {
    const administration = createAdministration();
    await initKeyRing(administration);
    const outcomes = await Promise.all([
      rotateKey(administration, 'continuation'),
      rotateKey(administration, 'continuation'),
    ]);
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
    expect(outcomes.find(({ ok }) => !ok)).toEqual({ ok: false, error: { kind: 'overtaken' } });
    expect(await administration.settings.list('continuation')).toHaveLength(2);
  });
});
