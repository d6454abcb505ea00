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

  it('refuse two writes to one item', async () => {
    await expect(transact({ Put: put('tx-twice', 1) }, { Put: put('tx-twice', 2) })).rejects.toMatchObject({
      name: 'ValidationException',
    });
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
