import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { localKeyAlias, localTableName } from '#shared/stage/local-stage.ts';
import { createDataKeyMaker } from '#shared/stores/kms.ts';
import { createWritableKeySettings } from '#shared/stores/settings-table.ts';
import { useTestAws } from '#test/support/aws.ts';
import { initKeyRing } from './administration.ts';
import { createKeyRing } from './create-key-ring.ts';
import type { KeyRecord } from './key-record.ts';
import type { KeyPurpose, KeyRing, KeyState } from './key-ring.ts';
import { READ_MS, REFRESH_MS } from './key-states.ts';

// What a container makes of the ring, and the table of the ring. A rotation from its beginning to its end is in test/contract/rotate-keys.test.ts;
// what warm functions do with a leaked key, or while they cannot read the ring, in test/contract/key-retirement.test.ts.

const T0 = Date.parse('2030-01-01T00:00:00.000Z');

const keyOf = (...context: readonly string[]) => Buffer.from(context.join(' ').padEnd(32));

/** A container over a ring in memory, whose keys k1, k2, … of each purpose are in these states. All have their material unless told otherwise. */
function container(purposes: readonly KeyPurpose[] = ['continuation']) {
  const state = {
    now: T0,
    keys: ['active'] as readonly KeyState[],
    /** What is wrapped of a key, as `<purpose> <kid>`. */
    wrap: (of: string): Pick<KeyRecord, 'wrappedKey'> => ({ wrappedKey: Buffer.from(of) }),
    /** How long keys are. */
    bytes: 32,
    /** Before a reading ends. */
    pause: (): Promise<unknown> => Promise.resolve(),
    calls: [] as string[],
  };
  const ring: KeyRing = createKeyRing({
    settings: {
      async list(purpose) {
        state.calls.push(`list ${purpose}`);
        const records = state.keys.map((one, at): KeyRecord => {
          const kid = `k${at + 1}`;
          return { purpose, kid, state: one, createdAt: T0, ...state.wrap(`${purpose} ${kid}`) };
        });
        await state.pause();
        return records;
      },
    },
    kms: {
      open(wrapped, { stage, purpose, kid }) {
        state.calls.push(`open ${Buffer.from(wrapped).toString()}`);
        return Promise.resolve(keyOf(stage, purpose, kid).subarray(0, state.bytes));
      },
    },
    stage: 'local',
    purposes,
    clock: () => state.now,
  });
  return { state, ring };
}

describe('a container', () => {
  const kid = fc.constantFrom('k1', 'k2', 'k3', 'k4', 'k9', 'k0', '', 'attacker', 'k1\u0000', '__proto__');
  const step = fc.record({
    pass: fc.constantFrom(0, 0, 1, REFRESH_MS - 1, REFRESH_MS, -1),
    keys: fc.option(
      fc.array(fc.constantFrom<KeyState>('pending', 'active', 'active', 'opening', 'retired'), {
        maxLength: 4,
      }),
    ),
    isDown: fc.constantFrom(false, false, false, true),
    /** What is asked for at the same time: keys to open with, or the one to seal with. */
    asked: fc.array(fc.oneof(fc.constant('active'), kid), { minLength: 1, maxLength: 4 }),
  });
  const down = () => Promise.reject(new Error('settings are down'));

  it('seals with the newest active key and opens with all but the retired ones, of a copy no older than thirty seconds; unknown keys cost one reading in that time, which all callers share [MA-061]', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 15 }), async (steps) => {
        const { state, ring } = container();
        let copy: { readonly at: number; readonly keys: readonly KeyState[] } | undefined;
        let soughtAt: number | undefined;
        const isRecent = (at = Infinity): boolean => at <= state.now && state.now - at < 30_000;
        for (const { pass, keys, isDown, asked } of steps) {
          state.now += pass;
          state.keys = keys ?? state.keys;
          state.pause = isDown ? down : () => Promise.resolve();
          const calls: string[] = [];
          /** Whether it succeeds. A key that was opened for the copy is not opened again. */
          const read = (): boolean => {
            calls.push('list continuation');
            if (isDown) return false;
            const isOpen = (key: KeyState | undefined) => key !== undefined && key !== 'retired';
            for (const [at, key] of state.keys.entries())
              if (isOpen(key) && !isOpen(copy?.keys[at])) calls.push(`open continuation k${at + 1}`);
            if (!state.keys.includes('active')) return false;
            copy = { at: state.now, keys: state.keys };
            return true;
          };
          const answer = (what: string): unknown => {
            if (copy === undefined) return 'none';
            const index = copy.keys.findIndex((key, at) => `k${at + 1}` === what && key !== 'retired');
            const newest = `k${copy.keys.lastIndexOf('active') + 1}`;
            if (what === 'active') return { kid: newest, key: keyOf('local', 'continuation', newest) };
            return index < 0 ? undefined : keyOf('local', 'continuation', what);
          };
          const isFresh = isRecent(copy?.at);
          const isRead = isFresh || read();
          const isUnknown = (what: string) => /^k[1-9]$/.test(what) && Number(what[1]) > copy!.keys.length;
          const known = asked.map((what) => (isRead ? answer(what) : 'failed'));
          const unknown = isRead && isFresh ? asked.map(isUnknown) : [];
          const isSought = unknown.includes(true) && !isRecent(soughtAt);
          const isFound = isSought && read();
          if (isSought) soughtAt = isFound ? state.now : undefined;
          const sought = (what: string) => (isFound ? answer(what) : 'failed');
          const expected = known.map((one, at) => (isSought && unknown[at] ? sought(asked[at]!) : one));

          state.calls = [];
          const answers = asked.map((what) =>
            (what === 'active' ? ring.active('continuation') : ring.open('continuation', what)).catch(
              () => 'failed',
            ),
          );
          expect(await Promise.all(answers)).toEqual(expected);
          expect(state.calls).toEqual(calls);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('asks only for its own purposes, each of which has another key', async () => {
    const { ring, state } = container(['idempotency', 'pseudonym']);
    for (const purpose of ['idempotency', 'pseudonym'] as const)
      expect(await ring.active(purpose)).toEqual({ kid: 'k1', key: keyOf('local', purpose, 'k1') });
    expect(new Set(state.calls)).toEqual(
      new Set(['idempotency', 'pseudonym'].flatMap((purpose) => [`list ${purpose}`, `open ${purpose} k1`])),
    );
    await expect(ring.active('continuation')).rejects.toThrow('not made for continuation');
    await expect(ring.open('continuation', 'k1')).rejects.toThrow('not made for continuation');
  });

  it('opens again what is wrapped anew, and takes no key without its material or of another length', async () => {
    const { ring, state } = container();
    await ring.active('continuation');
    state.wrap = (of) => ({ wrappedKey: Buffer.from(`${of} anew`) });
    state.now += REFRESH_MS;
    await ring.active('continuation');
    expect(state.calls.at(-1)).toBe('open continuation k1 anew');
    for (const [change, reason] of [
      [{ wrap: () => ({}) }, 'not there'],
      [{ wrap: () => ({ wrappedKey: Buffer.from('short') }), bytes: 16 }, 'not of 256 bits'],
    ] as const) {
      Object.assign(state, change);
      state.now += REFRESH_MS;
      await expect(ring.open('continuation', 'k1')).rejects.toThrow(reason);
    }
  });

  it('uses nothing of a reading in which it was frozen, and does not wait for its end', async () => {
    const { ring, state } = container();
    const frozen = Promise.withResolvers<undefined>();
    state.pause = () => frozen.promise;
    const before = ring.active('continuation');
    const refused = expect(before).rejects.toThrow('too slowly');
    state.keys = ['opening', 'active'];
    state.pause = () => Promise.resolve();
    state.now += 2 * READ_MS;
    expect((await ring.active('continuation')).kid).toBe('k2');
    state.now += REFRESH_MS;
    frozen.resolve(undefined);
    await refused;
    expect((await ring.active('continuation')).kid).toBe('k2');
  });
});

describe('the table of the ring', () => {
  const test = useTestAws();
  const TableName = localTableName('settings');
  const settings = () => createWritableKeySettings(test.dynamo, TableName);
  const init = (purpose: KeyPurpose) =>
    initKeyRing(
      {
        settings: settings(),
        kms: createDataKeyMaker(test.kms, localKeyAlias),
        stage: 'local',
        clock: () => T0,
      },
      [purpose],
    );

  it('has one active key per purpose at first, however often and at once they are made', async () => {
    for (let time = 0; time < 2; time += 1) await Promise.all([1, 2].map(() => init('cursor')));
    expect(await settings().list('cursor')).toMatchObject([{ kid: 'k1', state: 'active', activatedAt: T0 }]);
  });

  it('changes all keys of a step or none, each only in the expected state', async () => {
    await init('continuation');
    const move = { kind: 'move', purpose: 'continuation', at: T0 } as const;
    expect(
      await settings().write([
        { ...move, kid: 'k1', from: 'active', to: 'opening' },
        { ...move, kid: 'k2', from: 'pending', to: 'active' },
      ]),
    ).toBe(false);
    const [existing] = await settings().list('continuation');
    expect(await settings().write([{ kind: 'create', record: existing! }])).toBe(false);
    expect(await settings().list('continuation')).toEqual([existing]);
  });

  it.each([
    ['state', { state: { S: 'toString' }, createdAt: { S: '2030-01-01T00:00:00.000Z' } }],
    ['time', { state: { S: 'active' }, createdAt: { S: 'yesterday' } }],
  ])('takes no item for a key that by its %s is none', async (_column, columns) => {
    const Item = { pk: { S: 'key#pseudonym' }, sk: { S: 'k1' }, ...columns };
    await test.dynamo.send(new PutItemCommand({ TableName, Item }));
    await expect(settings().list('pseudonym')).rejects.toThrow(
      'settings: key#pseudonym k1 is not a key of the ring',
    );
  });
});
