import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { localKeyAlias, localTableName } from '#shared/stage/local-stage.ts';
import { createDataKeyMaker, createDataKeyOpener } from '#shared/stores/kms.ts';
import { createKeySettings, createWritableKeySettings } from '#shared/stores/settings-table.ts';
import { startTestAws } from '#test/support/aws.ts';
import type { TestAws } from '#test/support/aws.ts';
import { changeKeys, initKeyRing } from './administration.ts';
import type { KeyAdministration } from './administration.ts';
import { createKeyRing } from './create-key-ring.ts';
import type { KeySettings } from './key-record.ts';
import type { KeyPurpose, KeyRing } from './key-ring.ts';
import {
  planReplace,
  planRetire,
  planRetireNow,
  READ_MS,
  REFRESH_MS,
  RETIRE_AFTER_MS,
} from './key-states.ts';

// What a container makes of the ring in its table and KMS. A rotation from its beginning to its end is in test/contract/rotate-keys.test.ts; what
// warm functions do with a leaked key, or while they cannot read the ring, in test/contract/key-retirement.test.ts.

const T0 = Date.parse('2030-01-01T00:00:00.000Z');
const TableName = localTableName('settings');

let test: TestAws;
let now: number;
let administration: KeyAdministration;
/** What containers have asked for. */
let calls: { list: KeyPurpose[]; open: string[] };
beforeEach(async () => {
  test = await startTestAws();
  now = T0;
  calls = { list: [], open: [] };
  administration = {
    settings: createWritableKeySettings(test.dynamo, TableName),
    kms: createDataKeyMaker(test.kms, localKeyAlias),
    stage: 'local',
    clock: () => now,
  };
  await initKeyRing(administration);
});
afterEach(() => test.close());

function container(
  purposes: readonly KeyPurpose[] = ['continuation'],
  list: KeySettings['list'] = (purpose) => createKeySettings(test.dynamo, TableName).list(purpose),
): KeyRing {
  const kms = createDataKeyOpener(test.kms);
  return createKeyRing({
    settings: {
      list(purpose) {
        calls.list.push(purpose);
        return list(purpose);
      },
    },
    kms: {
      open(wrapped, context) {
        calls.open.push(Object.values(context).join(' '));
        return kms.open(wrapped, context);
      },
    },
    stage: 'local',
    purposes,
    clock: () => now,
  });
}

const keyItem = (kid: string): Record<string, AttributeValue> => ({
  pk: { S: 'key#continuation' },
  sk: { S: kid },
});
const putKey = (kid: string, columns: Record<string, AttributeValue>) =>
  test.dynamo.send(new PutItemCommand({ TableName, Item: { ...keyItem(kid), ...columns } }));
const readKey = async (kid: string) =>
  (await test.dynamo.send(new GetItemCommand({ TableName, Key: keyItem(kid) }))).Item;

describe('a container', () => {
  it('reads the ring once for callers at the same time, and not again within thirty seconds', async () => {
    const ring = container();
    const keys = await Promise.all(Array.from({ length: 10 }, () => ring.active('continuation')));
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatchObject({ kid: 'k1' });
    expect(keys[0]?.key).toHaveLength(32);
    now += REFRESH_MS - 1;
    expect(await ring.open('continuation', 'k1')).toEqual(keys[0]?.key);
    expect(calls.list).toHaveLength(1);
    now += 1;
    await ring.active('continuation');
    expect(calls.list).toHaveLength(2);
    // It cannot tell the age of what it has when its clock was set back.
    now -= 3_600_000;
    await ring.active('continuation');
    expect(calls.list).toHaveLength(3);
    // Reading again does not mean unwrapping again.
    expect(calls.open).toEqual(['local continuation k1']);
  });

  it('asks only for its own purposes, each of which has another key', async () => {
    const ring = container(['idempotency', 'pseudonym']);
    const keys = [await ring.active('idempotency'), await ring.active('pseudonym')];
    expect(keys[0]?.key).not.toEqual(keys[1]?.key);
    expect(calls.open.sort()).toEqual(['local idempotency k1', 'local pseudonym k1']);
    await expect(ring.active('continuation')).rejects.toThrow('not made for continuation');
    await expect(ring.open('continuation', 'k1')).rejects.toThrow('not made for continuation');
  });

  it('opens nothing with a retired key, were its material still there [MA-061]', async () => {
    const before = await readKey('k1');
    await changeKeys(administration, 'continuation', planReplace);
    await changeKeys(administration, 'continuation', planRetireNow('k1'));
    expect(await readKey('k1')).not.toHaveProperty('wrappedKey');
    await putKey('k1', { ...before, state: { S: 'retired' } });
    expect(await container().open('continuation', 'k1')).toBeUndefined();
  });
});

describe('failure', () => {
  it('is a ring without an active key', async () => {
    await putKey('k1', { ...(await readKey('k1')), state: { S: 'pending' } });
    await expect(container().active('continuation')).rejects.toThrow('no active key for continuation');
  });

  it.each([
    ['state', { state: { S: 'toString' }, createdAt: { S: '2030-01-01T00:00:00.000Z' } }],
    ['time', { state: { S: 'active' }, createdAt: { S: 'yesterday' } }],
  ])('is also an item that by its %s is no key', async (_column, columns) => {
    await putKey('k1', columns);
    await expect(container().active('continuation')).rejects.toThrow(
      'settings: key#continuation k1 is not a key of the ring',
    );
  });
});

describe('a container that was frozen while it read', () => {
  /** A ring whose readings do not end until `thaw`, unless they begin after it. */
  function slowRing() {
    const frozen = Promise.withResolvers<undefined>();
    let holds = true;
    const ring = container(undefined, async (purpose) => {
      const isHeld = holds;
      const records = await administration.settings.list(purpose);
      if (isHeld) await frozen.promise;
      return records;
    });
    return {
      ring,
      pass: (milliseconds: number) => {
        holds = false;
        now += milliseconds;
      },
      thaw: () => frozen.resolve(undefined),
    };
  }

  it('uses nothing of that reading', async () => {
    const { ring, pass, thaw } = slowRing();
    const before = ring.active('continuation');
    const refused = expect(before).rejects.toThrow('too slowly');
    await changeKeys(administration, 'continuation', planReplace);
    pass(REFRESH_MS);
    thaw();
    await refused;
    expect((await ring.active('continuation')).kid).toBe('k2');
  });

  it('does not wait for that reading', async () => {
    const { ring, pass } = slowRing();
    void ring.active('continuation');
    pass(2 * READ_MS);
    expect((await ring.active('continuation')).kid).toBe('k1');
  });
});

describe('a rotation', () => {
  it('at once, after a leak, is met by one refresh on the unknown key', async () => {
    const stale = container();
    await stale.active('continuation');
    await changeKeys(administration, 'continuation', planReplace);
    const sealedWith = await container().active('continuation');
    expect(sealedWith.kid).toBe('k2');
    calls.list.length = 0;
    const opened = await Promise.all([1, 2, 3].map(() => stale.open('continuation', 'k2')));
    expect(opened).toEqual([1, 2, 3].map(() => sealedWith.key));
    expect(calls.list).toHaveLength(1);
  });

  it('changes all keys of a step or none, each only in the expected state', async () => {
    const move = { kind: 'move', purpose: 'continuation', at: now } as const;
    const { settings } = administration;
    expect(
      await settings.write([
        { ...move, kid: 'k1', from: 'active', to: 'opening' },
        { ...move, kid: 'k2', from: 'pending', to: 'active' },
      ]),
    ).toBe(false);
    const [existing] = await settings.list('continuation');
    expect(await settings.write([{ kind: 'create', record: existing! }])).toBe(false);
    expect(await settings.list('continuation')).toEqual([existing]);
  });
});

it('the first keys are one active key per purpose, however often and at once they are made', async () => {
  const empty = await startTestAws();
  const settings = createWritableKeySettings(empty.dynamo, TableName);
  for (let time = 0; time < 2; time += 1)
    await Promise.all([1, 2].map(() => initKeyRing({ ...administration, settings }, ['cursor'])));
  expect(await settings.list('cursor')).toMatchObject([{ kid: 'k1', state: 'active', activatedAt: T0 }]);
  await empty.close();
});

describe('an unknown key id', () => {
  it('costs one refresh, however many callers bring however many of them', async () => {
    const ring = container();
    await ring.active('continuation');
    now += 1000;
    calls.list.length = 0;
    const opened = await Promise.all(
      Array.from({ length: 20 }, (_, n) => ring.open('continuation', `k${n + 2}`)),
    );
    expect(opened.every((key) => key === undefined)).toBe(true);
    await ring.open('continuation', 'k50');
    expect(calls.list).toHaveLength(1);
    now += 30_000;
    await ring.open('continuation', 'k50');
    expect(calls.list).toHaveLength(2);
  });

  it('costs none when the ring was read for this very call, or the key is known to be retired', async () => {
    expect(await container().open('continuation', 'k99')).toBeUndefined();
    expect(calls.list).toHaveLength(1);
    await changeKeys(administration, 'continuation', planReplace);
    now += RETIRE_AFTER_MS;
    await changeKeys(administration, 'continuation', planRetire);
    const ring = container();
    await ring.active('continuation');
    expect(await ring.open('continuation', 'k1')).toBeUndefined();
    expect(calls.list).toHaveLength(2);
  });

  it('of a form that was never issued costs none', async () => {
    const ring = container();
    await ring.active('continuation');
    for (const kid of ['', 'k0', 'attacker', 'k1\u0000', '__proto__'])
      expect(await ring.open('continuation', kid)).toBeUndefined();
    expect(calls.list).toHaveLength(1);
  });

  it('is asked for again when that refresh failed: a good token is not taken for a false one', async () => {
    const ring = container();
    await ring.active('continuation');
    await changeKeys(administration, 'continuation', planReplace);
    test.aws.faults.throttle('Query', 1);
    await expect(ring.open('continuation', 'k2')).rejects.toThrow();
    expect(await ring.open('continuation', 'k2')).toBeDefined();
  });
});
