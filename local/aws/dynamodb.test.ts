import {
  CreateTableCommand,
  ExecuteStatementCommand,
  GetItemCommand,
  IdempotentParameterMismatchException,
  PutItemCommand,
  ScanCommand,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import type { TransactWriteItem } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { createDynamoDb } from '#local/aws/dynamodb.ts';
import { unrestricted } from '#local/aws/wire.ts';
import { useTestAws } from '#test/support/aws.ts';

/** Each test has partition keys of its own, so that their order does not matter. */
const TableName = 'local-settings';
const SECOND = 1_700_000_000;
const isNew = 'attribute_not_exists(pk)';

let now = SECOND * 1000;
const test = useTestAws({ now: () => now });

const key = (pk: string) => ({ pk: { S: pk }, sk: { S: '0' } });
const item = (pk: string, n: number) => ({ ...key(pk), n: { N: String(n) } });
const put = (pk: string, n: number, ConditionExpression?: string) => ({
  ...{ TableName, Item: item(pk, n), ConditionExpression },
  ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
});
const update = (pk: string, UpdateExpression: string, value: { N: string } | { S: string }) => ({
  Update: { TableName, Key: key(pk), UpdateExpression, ExpressionAttributeValues: { ':v': value } },
});
const read = async (pk: string) =>
  (await test.dynamo.send(new GetItemCommand({ TableName, Key: key(pk) }))).Item;
const transact = (...TransactItems: TransactWriteItem[]) =>
  test.dynamo.send(new TransactWriteItemsCommand({ TransactItems }));

// That one of many racing writers wins: shared/stores/records-table.test.ts.
describe('the DynamoDB emulator, through the SDK client', () => {
  it('refuses a member that it would have to ignore', async () => {
    const create = new CreateTableCommand({
      TableName: 'protected',
      DeletionProtectionEnabled: true,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    });
    await expect(test.dynamo.send(create)).rejects.toThrow('DeletionProtectionEnabled');
    const statement = new ExecuteStatementCommand({ Statement: 'SELECT 1' });
    await expect(test.dynamo.send(statement)).rejects.toThrow('DynamoDB_20120810.ExecuteStatement');
  });
});

describe('transactions', () => {
  it('carry out all writes or none, and say per item why not', async () => {
    await transact({ Put: put('tx-old', 1) });
    await expect(transact({ Put: put('tx-new', 1) }, { Put: put('tx-old', 2, isNew) })).rejects.toMatchObject(
      {
        name: 'TransactionCanceledException',
        CancellationReasons: [{ Code: 'None' }, { Code: 'ConditionalCheckFailed', Item: item('tx-old', 1) }],
      },
    );
    expect(await read('tx-new')).toBeUndefined();

    await transact({ Put: put('tx-new', 1, isNew) }, update('tx-old', 'SET n = :v', { N: '9' }), {
      ConditionCheck: { TableName, Key: key('tx-none'), ConditionExpression: isNew },
    });
    expect(await read('tx-new')).toEqual(item('tx-new', 1));
    expect(await read('tx-old')).toEqual(item('tx-old', 9));
    expect(await read('tx-none')).toBeUndefined();
  });

  it('put back what was written when a later write fails', async () => {
    const large = { ...key('tx-full'), x: { S: 'x'.repeat(300 * 1024) } };
    await transact({ Put: { TableName, Item: large } }, { Put: put('tx-kept', 1) });
    const outgrow = update('tx-full', 'SET y = :v', { S: 'y'.repeat(200 * 1024) });
    await expect(
      transact({ Put: put('tx-fresh', 1) }, { Put: put('tx-kept', 2) }, outgrow),
    ).rejects.toMatchObject({
      CancellationReasons: [{ Code: 'None' }, { Code: 'None' }, { Code: 'ValidationError' }],
    });
    expect(await read('tx-fresh')).toBeUndefined();
    expect(await read('tx-kept')).toEqual(item('tx-kept', 1));
  });

  it('happen once for one client token, and refuse another request under it', async () => {
    const increment = (by: string) =>
      test.dynamo.send(
        new TransactWriteItemsCommand({
          ClientRequestToken: 'token-1',
          TransactItems: [update('tx-token', 'ADD n :v', { N: by })],
        }),
      );
    await increment('1');
    await increment('1');
    expect(await read('tx-token')).toEqual(item('tx-token', 1));
    await expect(increment('2')).rejects.toBeInstanceOf(IdempotentParameterMismatchException);
  });

  it('refuse more than 100 writes, and more than 4 MB together', async () => {
    const puts = (count: number, bytes: number) =>
      transact(
        ...Array.from({ length: count }, (_, n) => ({
          Put: { TableName, Item: { ...key(`tx-many-${n}`), x: { S: 'x'.repeat(bytes) } } },
        })),
      );
    await puts(100, 1);
    await expect(puts(101, 1)).rejects.toMatchObject({ name: 'ValidationException' });
    await puts(10, 399 * 1024);
    await expect(puts(11, 399 * 1024)).rejects.toThrow('4 MB');
  });

  it('refuse two writes to one item', async () => {
    await expect(transact({ Put: put('tx-twice', 1) }, { Put: put('tx-twice', 2) })).rejects.toMatchObject({
      name: 'ValidationException',
    });
  });
});

describe('a table under load', () => {
  let clock = 0;
  const contended = async () => {
    const db = createDynamoDb(() => clock, true);
    await db.createTable({ tableName: TableName, partitionKey: 'pk', sortKey: 'sk' });
    return {
      close: () => db.close(),
      call: (name: string, input: object) =>
        Promise.resolve(db.operations.get(name)!({ ...input }, unrestricted)),
    };
  };
  const large = (pk: string, sk: string) => ({
    TableName,
    Item: { pk: { S: pk }, sk: { S: sk }, x: { S: 'x'.repeat(100 * 1024) } },
  });

  it('refuses what exceeds the units of a partition in one second, and no other partition', async () => {
    const { call, close } = await contended();
    const writes = Array.from({ length: 10 }, (_, n) => call('PutItem', large('hot', String(n))));
    for (const answer of await Promise.all(writes)) expect(answer.ok).toBe(true);
    const refused = { ok: false, error: { type: 'ProvisionedThroughputExceededException' } };
    expect(await call('PutItem', large('hot', '10'))).toMatchObject(refused);
    expect(await call('TransactWriteItems', { TransactItems: [{ Put: large('hot', '10') }] })).toMatchObject({
      error: { extra: { CancellationReasons: [{ Code: 'ProvisionedThroughputExceeded' }] } },
    });
    expect(await call('PutItem', large('cold', '0'))).toMatchObject({ ok: true });
    const readHot = { TableName, Key: { pk: { S: 'hot' }, sk: { S: '0' } }, ConsistentRead: true };
    expect(await call('GetItem', readHot)).toMatchObject({ ok: true });
    clock += 1000;
    expect(await call('PutItem', large('hot', '10'))).toMatchObject({ ok: true });
    // 101 KB are 26 units of 4 KB.
    for (let n = 0; n < 116; n += 1) expect(await call('GetItem', readHot)).toMatchObject({ ok: true });
    expect(await call('GetItem', readHot)).toMatchObject(refused);
    await close();
  });

  it('refuses a write to an item that a transaction is at work on, and the token of a transaction that runs', async () => {
    const { call, close } = await contended();
    const first = {
      TransactItems: [{ Put: put('busy', 1) }, { Put: put('other', 1) }],
      ClientRequestToken: 't',
    };
    const running = call('TransactWriteItems', first);
    expect(await call('TransactWriteItems', first)).toMatchObject({
      error: { type: expect.stringMatching(/TransactionInProgressException$/) as string },
    });
    const second = { TransactItems: [{ Put: put('free', 2) }, { Put: put('busy', 2) }] };
    const answers = await Promise.all([
      call('TransactWriteItems', second),
      call('PutItem', { TableName, Item: item('busy', 3) }),
    ]);
    expect(answers).toMatchObject([
      { error: { extra: { CancellationReasons: [{ Code: 'None' }, { Code: 'TransactionConflict' }] } } },
      { error: { type: expect.stringMatching(/TransactionConflictException$/) as string } },
    ]);
    expect(await running).toMatchObject({ ok: true });
    expect(await call('TransactWriteItems', second)).toMatchObject({ ok: true });
    await close();
  });
});

it('the sweep of what has expired takes only that, and only when it is called', async () => {
  for (const [id, purgeAt] of Object.entries({
    past: { N: String(SECOND - 1) },
    'this-second': { N: String(SECOND) },
    future: { N: String(SECOND + 60) },
    text: { S: String(SECOND - 1) },
    mistake: { N: String(SECOND - 6 * 365 * 86_400) },
  }))
    await test.dynamo.send(
      new PutItemCommand({ TableName: 'local-control', Item: { id: { S: id }, purgeAt } }),
    );
  const ids = async () => {
    const { Items } = await test.dynamo.send(new ScanCommand({ TableName: 'local-control' }));
    return Items?.map((row) => row['id']?.S).sort();
  };
  expect(await ids()).toEqual(['future', 'mistake', 'past', 'text', 'this-second']);
  expect(await test.aws.sweepExpired()).toBe(1);
  expect(await ids()).toEqual(['future', 'mistake', 'text', 'this-second']);
  now = (SECOND + 61) * 1000;
  expect(await test.aws.sweepExpired()).toBe(2);
  expect(await ids()).toEqual(['mistake', 'text']);
});
