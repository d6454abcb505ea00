import {
  ConditionalCheckFailedException,
  CreateTableCommand,
  ExecuteStatementCommand,
  GetItemCommand,
  IdempotentParameterMismatchException,
  PutItemCommand,
  ScanCommand,
  TransactGetItemsCommand,
  TransactWriteItemsCommand,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestAws } from '#test/support/aws.ts';
import { startTestAws } from '#test/support/aws.ts';

/** Each test has partition keys of its own, so that their order does not matter. */
const TableName = 'local-settings';
const TTL_TABLE = 'local-control';
const SECOND = 1_700_000_000;

let test: TestAws;
let now = SECOND * 1000;
beforeAll(async () => {
  test = await startTestAws({ now: () => now });
});
afterAll(() => test.close());

const key = (pk: string, sk = '0') => ({ pk: { S: pk }, sk: { S: sk } });
const item = (pk: string, sk: string, n: number) => ({ ...key(pk, sk), n: { N: String(n) } });

async function read(pk: string, sk = '0') {
  const found = await test.dynamo.send(
    new GetItemCommand({ TableName, Key: key(pk, sk), ConsistentRead: true }),
  );
  return found.Item;
}

describe('the DynamoDB emulator, through the SDK client', () => {
  it('lets exactly one of 50 racing conditional puts win', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 50 }, (_, n) =>
        test.dynamo.send(
          new PutItemCommand({
            TableName,
            Item: item('race', '0', n),
            ConditionExpression: 'attribute_not_exists(pk)',
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        ),
      ),
    );
    const winner = outcomes.findIndex((outcome) => outcome.status === 'fulfilled');
    const lost = outcomes
      .filter((outcome) => outcome.status === 'rejected')
      .map(({ reason }) => reason as unknown);
    expect(lost).toHaveLength(49);
    for (const reason of lost) {
      expect(reason).toBeInstanceOf(ConditionalCheckFailedException);
      // Every loser sees the winner's item: a later GetItem might see another one.
      expect((reason as ConditionalCheckFailedException).Item).toEqual(item('race', '0', winner));
    }
    expect(await read('race')).toEqual(item('race', '0', winner));
  });

  it('refuses a member that it would have to ignore', async () => {
    await expect(
      test.dynamo.send(
        new CreateTableCommand({
          TableName: 'protected',
          DeletionProtectionEnabled: true,
          BillingMode: 'PAY_PER_REQUEST',
          AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
          KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
        }),
      ),
    ).rejects.toMatchObject({
      name: 'UnknownOperationException',
      message: expect.stringContaining('DeletionProtectionEnabled') as string,
    });
    await expect(
      test.dynamo.send(new ExecuteStatementCommand({ Statement: 'SELECT 1' })),
    ).rejects.toMatchObject({
      name: 'UnknownOperationException',
      message: expect.stringContaining('DynamoDB_20120810.ExecuteStatement') as string,
    });
  });
});

describe('transactions', () => {
  const put = (pk: string, n: number, condition?: string) => ({
    Put: {
      TableName,
      Item: item(pk, '0', n),
      ...(condition === undefined ? {} : { ConditionExpression: condition }),
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
    },
  });

  it('carry out all writes or none, and say per item why not', async () => {
    await test.dynamo.send(new PutItemCommand({ TableName, Item: item('tx-old', '0', 1) }));
    const reason: unknown = await test.dynamo
      .send(
        new TransactWriteItemsCommand({
          TransactItems: [put('tx-new', 1), put('tx-old', 2, 'attribute_not_exists(pk)')],
        }),
      )
      .catch((thrown: unknown) => thrown);
    expect(reason).toBeInstanceOf(TransactionCanceledException);
    expect((reason as TransactionCanceledException).CancellationReasons).toEqual([
      { Code: 'None' },
      {
        Code: 'ConditionalCheckFailed',
        Message: 'The conditional request failed',
        Item: item('tx-old', '0', 1),
      },
    ]);
    expect(await read('tx-new')).toBeUndefined();

    await test.dynamo.send(
      new TransactWriteItemsCommand({
        TransactItems: [
          put('tx-new', 1, 'attribute_not_exists(pk)'),
          {
            Update: {
              TableName,
              Key: key('tx-old'),
              UpdateExpression: 'SET n = :n',
              ExpressionAttributeValues: { ':n': { N: '9' } },
            },
          },
          {
            ConditionCheck: {
              TableName,
              Key: key('tx-none'),
              ConditionExpression: 'attribute_not_exists(pk)',
            },
          },
        ],
      }),
    );
    const { Responses } = await test.dynamo.send(
      new TransactGetItemsCommand({
        TransactItems: ['tx-new', 'tx-old', 'tx-none'].map((pk) => ({ Get: { TableName, Key: key(pk) } })),
      }),
    );
    expect(Responses?.map((response) => response.Item?.['n']?.N)).toEqual(['1', '9', undefined]);
  });

  it('put back what was written when a later write fails', async () => {
    await test.dynamo.send(
      new PutItemCommand({ TableName, Item: { ...key('tx-full'), x: { S: 'x'.repeat(300 * 1024) } } }),
    );
    await test.dynamo.send(new PutItemCommand({ TableName, Item: item('tx-kept', '0', 1) }));
    const outgrow = {
      Update: {
        TableName,
        Key: key('tx-full'),
        UpdateExpression: 'SET y = :y',
        ExpressionAttributeValues: { ':y': { S: 'y'.repeat(200 * 1024) } },
      },
    };
    await expect(
      test.dynamo.send(
        new TransactWriteItemsCommand({ TransactItems: [put('tx-fresh', 1), put('tx-kept', 2), outgrow] }),
      ),
    ).rejects.toMatchObject({
      CancellationReasons: [{ Code: 'None' }, { Code: 'None' }, { Code: 'ValidationError' }],
    });
    expect(await read('tx-fresh')).toBeUndefined();
    expect(await read('tx-kept')).toEqual(item('tx-kept', '0', 1));
  });

  it('happen once for one client token, and refuse another request under it', async () => {
    const increment = (by: string) =>
      new TransactWriteItemsCommand({
        ClientRequestToken: 'token-1',
        TransactItems: [
          {
            Update: {
              TableName,
              Key: key('tx-token'),
              UpdateExpression: 'ADD n :by',
              ExpressionAttributeValues: { ':by': { N: by } },
            },
          },
        ],
      });
    await test.dynamo.send(increment('1'));
    await test.dynamo.send(increment('1'));
    expect((await read('tx-token'))?.['n']).toEqual({ N: '1' });
    await expect(test.dynamo.send(increment('2'))).rejects.toBeInstanceOf(
      IdempotentParameterMismatchException,
    );
  });

  it('refuse two writes to one item', async () => {
    await expect(
      test.dynamo.send(
        new TransactWriteItemsCommand({ TransactItems: [put('tx-twice', 1), put('tx-twice', 2)] }),
      ),
    ).rejects.toMatchObject({ name: 'ValidationException' });
  });
});

describe('time to live', () => {
  const expiring = (id: string, purgeAt: { N: string } | { S: string }) =>
    test.dynamo.send(new PutItemCommand({ TableName: TTL_TABLE, Item: { id: { S: id }, purgeAt } }));

  it('sweeps only what has expired, and only when called', async () => {
    await expiring('past', { N: String(SECOND - 1) });
    await expiring('this-second', { N: String(SECOND) });
    await expiring('future', { N: String(SECOND + 60) });
    await expiring('text', { S: String(SECOND - 1) });
    await expiring('mistake', { N: String(SECOND - 6 * 365 * 86_400) });
    const ids = async () =>
      (await test.dynamo.send(new ScanCommand({ TableName: TTL_TABLE }))).Items?.map(
        (row) => row['id']?.S,
      ).sort();
    expect(await ids()).toEqual(['future', 'mistake', 'past', 'text', 'this-second']);
    expect(await test.aws.sweepExpired()).toBe(1);
    expect(await ids()).toEqual(['future', 'mistake', 'text', 'this-second']);
    now = (SECOND + 61) * 1000;
    expect(await test.aws.sweepExpired()).toBe(2);
    expect(await ids()).toEqual(['mistake', 'text']);
  });
});
