import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { localKeyAlias } from '#shared/stage/local-stage.ts';
import { initKeyRing, replaceKey, retireKeys, rotateKey } from '#shared/keys/administration.ts';
import { createKeyRing } from '#shared/keys/create-key-ring.ts';
import type { KeyRing } from '#shared/keys/key-ring.ts';
import { PROMOTE_AFTER_MS, REFRESH_MS, RETIRE_AFTER_MS } from '#shared/keys/key-states.ts';
import type { TestAws } from '#test/support/aws.ts';
import { startTestAws } from '#test/support/aws.ts';
import { createDataKeyMaker, createDataKeyOpener } from './kms.ts';
import { createKeySettings, createWritableKeySettings } from './settings-table.ts';

const T0 = Date.parse('2030-01-01T00:00:00.000Z');
const TableName = 'local-settings';

let test: TestAws;
let now: number;
beforeEach(async () => {
  test = await startTestAws();
  now = T0;
});
afterEach(() => test.close());

const clock = () => now;
const administration = () => ({
  settings: createWritableKeySettings(test.dynamo, TableName),
  kms: createDataKeyMaker(test.kms, localKeyAlias),
  stage: 'local',
  clock,
});
const container = (stage = 'local'): KeyRing =>
  createKeyRing({
    settings: createKeySettings(test.dynamo, TableName),
    kms: createDataKeyOpener(test.kms),
    stage,
    purposes: ['continuation'],
    clock,
  });

describe('the key ring over DynamoDB and KMS', () => {
  it('seals with the new key after a rotation, opens with the previous one, and not with a retired one', async () => {
    await initKeyRing(administration());
    const old = await container().active('continuation');
    expect(old.key).toHaveLength(32);
    await rotateKey(administration(), 'continuation');
    now += PROMOTE_AFTER_MS;
    await rotateKey(administration(), 'continuation');
    const ring = container();
    expect((await ring.active('continuation')).kid).toBe('k2');
    expect(await ring.open('continuation', 'k1')).toEqual(old.key);
    now += RETIRE_AFTER_MS;
    await retireKeys(administration(), 'continuation');
    expect(await ring.open('continuation', 'k1')).toBeUndefined();
    expect((await ring.active('continuation')).kid).toBe('k2');
  });

  it('stores states and times in the clear and keys only wrapped', async () => {
    await initKeyRing(administration());
    now += 1000;
    await replaceKey(administration(), 'continuation');
    now += RETIRE_AFTER_MS;
    await retireKeys(administration(), 'continuation');
    const read = async (kid: string) =>
      (
        await test.dynamo.send(
          new GetItemCommand({ TableName, Key: { pk: { S: 'key#continuation' }, sk: { S: kid } } }),
        )
      ).Item;
    expect(await read('k1')).toEqual({
      pk: { S: 'key#continuation' },
      sk: { S: 'k1' },
      state: { S: 'retired' },
      createdAt: { S: '2030-01-01T00:00:00.000Z' },
      activatedAt: { S: '2030-01-01T00:00:00.000Z' },
      openingAt: { S: '2030-01-01T00:00:01.000Z' },
      retiredAt: { S: '2030-01-02T00:10:01.000Z' },
    });
    const active = await container().active('continuation');
    const wrapped = (await read('k2'))?.['wrappedKey']?.B;
    expect(Buffer.from(wrapped!).includes(Buffer.from(active.key))).toBe(false);
  });

  it('binds a wrapped key to its stage, purpose and id: an item moved elsewhere opens nothing', async () => {
    await initKeyRing(administration());
    await expect(container('prod').active('continuation')).rejects.toMatchObject({
      name: 'InvalidCiphertextException',
    });
    const settings = createKeySettings(test.dynamo, TableName);
    const [foreign] = await settings.list('idempotency');
    await test.dynamo.send(
      new PutItemCommand({
        TableName,
        Item: {
          pk: { S: 'key#continuation' },
          sk: { S: 'k1' },
          state: { S: 'active' },
          createdAt: { S: '2030-01-01T00:00:00.000Z' },
          wrappedKey: { B: foreign!.wrappedKey! },
        },
      }),
    );
    await expect(container().active('continuation')).rejects.toMatchObject({
      name: 'InvalidCiphertextException',
    });
  });

  it('throws while KMS or the table is down and works again afterwards', async () => {
    await initKeyRing(administration());
    const ring = container();
    test.aws.faults.unavailable('kms', 1);
    await expect(ring.active('continuation')).rejects.toThrow();
    expect((await ring.active('continuation')).kid).toBe('k1');
    now += REFRESH_MS;
    test.aws.faults.throttle('Query', 1);
    await expect(ring.active('continuation')).rejects.toMatchObject({
      name: 'ProvisionedThroughputExceededException',
    });
    expect((await ring.active('continuation')).kid).toBe('k1');
  });
});

describe('changes of the settings table', () => {
  it('are all made or none, each only to a key in the expected state', async () => {
    await initKeyRing(administration());
    const settings = createWritableKeySettings(test.dynamo, TableName);
    const written = await settings.write([
      { kind: 'move', purpose: 'continuation', kid: 'k1', from: 'active', to: 'opening', at: now },
      { kind: 'move', purpose: 'continuation', kid: 'k2', from: 'pending', to: 'active', at: now },
    ]);
    expect(written).toBe(false);
    expect(await settings.list('continuation')).toMatchObject([{ kid: 'k1', state: 'active' }]);
    const [existing] = await settings.list('continuation');
    expect(await settings.write([{ kind: 'create', record: existing! }])).toBe(false);
  });

  it('make one successor when twenty administrators rotate at the same time', async () => {
    await initKeyRing(administration());
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, () => rotateKey(administration(), 'continuation')),
    );
    const created = outcomes.flatMap((outcome) => (outcome.ok ? outcome.value.done : []));
    expect(created).toHaveLength(1);
    expect(await createKeySettings(test.dynamo, TableName).list('continuation')).toHaveLength(2);
  });

  it('throw when the table does not answer or does not exist', async () => {
    test.aws.faults.throttle('TransactWriteItems', 1);
    await expect(initKeyRing(administration())).rejects.toMatchObject({
      name: 'ProvisionedThroughputExceededException',
    });
    await expect(createKeySettings(test.dynamo, 'nowhere').list('continuation')).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
    });
  });
});

describe('an item that is not a key', () => {
  it.each([
    ['state', { state: { S: 'asleep' }, createdAt: { S: '2030-01-01T00:00:00.000Z' } }],
    ['inherited state', { state: { S: 'toString' }, createdAt: { S: '2030-01-01T00:00:00.000Z' } }],
    ['time', { state: { S: 'active' }, createdAt: { S: 'yesterday' } }],
  ])('by its %s is a defect, not a key', async (_, columns) => {
    await test.dynamo.send(
      new PutItemCommand({
        TableName,
        Item: { pk: { S: 'key#continuation' }, sk: { S: 'k1' }, ...columns },
      }),
    );
    await expect(createKeySettings(test.dynamo, TableName).list('continuation')).rejects.toThrow(
      'settings: key#continuation k1 is not a key of the ring',
    );
  });
});
