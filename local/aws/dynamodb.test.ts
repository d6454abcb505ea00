import {
  BatchWriteItemCommand,
  ConditionalCheckFailedException,
  CreateTableCommand,
  DeleteItemCommand,
  DeleteTableCommand,
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  ExecuteStatementCommand,
  GetItemCommand,
  IdempotentParameterMismatchException,
  PutItemCommand,
  QueryCommand,
  ResourceNotFoundException,
  RestoreTableToPointInTimeCommand,
  ScanCommand,
  TransactGetItemsCommand,
  TransactWriteItemsCommand,
  TransactionCanceledException,
  UpdateItemCommand,
  UpdateTimeToLiveCommand,
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
  it('gives back every attribute type as it was put', async () => {
    const all = {
      ...key('types'),
      bytes: { B: Uint8Array.of(0, 255, 7) },
      flag: { BOOL: true },
      none: { NULL: true },
      list: { L: [{ N: '1.5' }, { S: 'é' }] },
      map: { M: { deep: { S: '' } } },
      names: { SS: ['a', 'b'] },
      big: { N: '12345678901234567890123456789012345678' },
    };
    await test.dynamo.send(new PutItemCommand({ TableName, Item: all }));
    expect(await read('types')).toEqual(all);
    expect(await read('types', 'other')).toBeUndefined();
  });

  it('queries one partition in the order of its sort keys, page by page, by prefix and backwards', async () => {
    await test.dynamo.send(
      new BatchWriteItemCommand({
        RequestItems: {
          [TableName]: ['b2', 'a1', 'b1'].map((sk) => ({ PutRequest: { Item: item('query', sk, 1) } })),
        },
      }),
    );
    await test.dynamo.send(new PutItemCommand({ TableName, Item: item('query-other', 'a0', 1) }));
    const base = {
      TableName,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': { S: 'query' } },
    };
    const first = await test.dynamo.send(new QueryCommand({ ...base, Limit: 2 }));
    const second = await test.dynamo.send(
      new QueryCommand({ ...base, Limit: 2, ExclusiveStartKey: first.LastEvaluatedKey }),
    );
    const sortKeys = (items: readonly Record<string, { S?: string | undefined }>[] = []) =>
      items.map((row) => row['sk']?.S);
    expect(sortKeys(first.Items as never)).toEqual(['a1', 'b1']);
    expect(sortKeys(second.Items as never)).toEqual(['b2']);
    expect(second.LastEvaluatedKey).toBeUndefined();
    const prefixed = await test.dynamo.send(
      new QueryCommand({
        TableName,
        KeyConditionExpression: 'pk = :pk AND begins_with(sk, :b)',
        ExpressionAttributeValues: { ':pk': { S: 'query' }, ':b': { S: 'b' } },
        ScanIndexForward: false,
      }),
    );
    expect(sortKeys(prefixed.Items as never)).toEqual(['b2', 'b1']);
  });

  it('updates under a condition and returns what is asked for', async () => {
    await test.dynamo.send(new PutItemCommand({ TableName, Item: item('update', '0', 1) }));
    const updated = await test.dynamo.send(
      new UpdateItemCommand({
        TableName,
        Key: key('update'),
        UpdateExpression: 'SET #n = #n + :one, created = if_not_exists(created, :one) REMOVE gone',
        ConditionExpression: 'attribute_exists(pk) AND #n < :limit',
        ExpressionAttributeNames: { '#n': 'n' },
        ExpressionAttributeValues: { ':one': { N: '1' }, ':limit': { N: '5' } },
        ReturnValues: 'ALL_NEW',
      }),
    );
    expect(updated.Attributes).toEqual({ ...item('update', '0', 2), created: { N: '1' } });
    const deleted = await test.dynamo.send(
      new DeleteItemCommand({ TableName, Key: key('update'), ReturnValues: 'ALL_OLD' }),
    );
    expect(deleted.Attributes?.['n']).toEqual({ N: '2' });
    expect(await read('update')).toBeUndefined();
  });

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

  it('returns the old item with a failed condition only when asked, and only if there is one', async () => {
    await test.dynamo.send(new PutItemCommand({ TableName, Item: item('old', '0', 7) }));
    const failing = {
      TableName,
      Key: key('old'),
      ConditionExpression: 'n = :other',
      ExpressionAttributeValues: { ':other': { N: '8' } },
    };
    const failure = async (write: Promise<unknown>) => {
      const reason: unknown = await write.catch((thrown: unknown) => thrown);
      expect(reason).toBeInstanceOf(ConditionalCheckFailedException);
      return (reason as ConditionalCheckFailedException).Item;
    };
    expect(await failure(test.dynamo.send(new DeleteItemCommand(failing)))).toBeUndefined();
    expect(
      await failure(
        test.dynamo.send(
          new DeleteItemCommand({ ...failing, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }),
        ),
      ),
    ).toEqual(item('old', '0', 7));
    expect(
      await failure(
        test.dynamo.send(
          new UpdateItemCommand({ ...failing, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }),
        ),
      ),
    ).toEqual(item('old', '0', 7));
    expect(
      await failure(
        test.dynamo.send(
          new UpdateItemCommand({
            ...failing,
            Key: key('old', 'absent'),
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        ),
      ),
    ).toBeUndefined();
  });

  it('takes an item of 400 KB and refuses one that is larger', async () => {
    // Names and values count: pk + 4, sk + 1, and the one-letter attribute.
    const largest = 400 * 1024 - ('pk'.length + 'size'.length + 'sk'.length + 1 + 1);
    const put = (length: number) =>
      test.dynamo.send(
        new PutItemCommand({ TableName, Item: { ...key('size'), x: { S: 'x'.repeat(length) } } }),
      );
    await put(largest);
    await expect(put(largest + 1)).rejects.toMatchObject({
      name: 'ValidationException',
      message: 'Item size has exceeded the maximum allowed size',
    });
  });

  it('refuses tables and keys that do not exist', async () => {
    await expect(
      test.dynamo.send(new GetItemCommand({ TableName: 'nowhere', Key: key('a') })),
    ).rejects.toBeInstanceOf(ResourceNotFoundException);
    await expect(
      test.dynamo.send(new GetItemCommand({ TableName, Key: { pk: { S: 'a' } } })),
    ).rejects.toMatchObject({ name: 'ValidationException' });
    await expect(
      test.dynamo.send(new PutItemCommand({ TableName, Item: { pk: { S: 'a' } } })),
    ).rejects.toMatchObject({ name: 'ValidationException' });
  });

  it('creates tables on demand', async () => {
    await test.dynamo.send(
      new CreateTableCommand({
        TableName: 'made-by-test',
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
        KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      }),
    );
    const described = await test.dynamo.send(new DescribeTableCommand({ TableName: 'made-by-test' }));
    expect(described.Table?.KeySchema).toEqual([{ AttributeName: 'id', KeyType: 'HASH' }]);
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

  it('is described, and switched per table', async () => {
    const describeTable = async (name: string) =>
      (await test.dynamo.send(new DescribeTimeToLiveCommand({ TableName: name }))).TimeToLiveDescription;
    expect(await describeTable(TTL_TABLE)).toEqual({ TimeToLiveStatus: 'ENABLED', AttributeName: 'purgeAt' });
    expect(await describeTable('local-records')).toEqual({ TimeToLiveStatus: 'DISABLED' });
    const specification = { Enabled: true, AttributeName: 'until' };
    const update = new UpdateTimeToLiveCommand({
      TableName: 'local-records',
      TimeToLiveSpecification: specification,
    });
    expect((await test.dynamo.send(update)).TimeToLiveSpecification).toEqual(specification);
    expect(await describeTable('local-records')).toEqual({
      TimeToLiveStatus: 'ENABLED',
      AttributeName: 'until',
    });
    await expect(test.dynamo.send(update)).rejects.toMatchObject({ name: 'ValidationException' });
  });
});

describe('point-in-time recovery', () => {
  const target = `${TableName}-restored`;
  const restore = (at: number, into = target) =>
    test.dynamo.send(
      new RestoreTableToPointInTimeCommand({
        SourceTableName: TableName,
        TargetTableName: into,
        RestoreDateTime: new Date(at),
      }),
    );

  it('restores the items of a second into another table, which takes a while and has no settings', async () => {
    const put = (sk: string, n: number) =>
      test.dynamo.send(new PutItemCommand({ TableName, Item: item('history', sk, n) }));
    const erase = (sk: string) =>
      test.dynamo.send(new DeleteItemCommand({ TableName, Key: key('history', sk) }));
    await put('changed', 1);
    await put('deleted', 1);
    await put('gone', 1);
    await erase('gone');
    await test.dynamo.send(
      new TransactWriteItemsCommand({
        TransactItems: [{ Put: { TableName, Item: item('history', 'both', 1) } }],
      }),
    );
    await test.dynamo.send(
      new BatchWriteItemCommand({
        RequestItems: { [TableName]: [{ PutRequest: { Item: item('history', 'batch', 1) } }] },
      }),
    );
    const at = now;
    now += 1000;
    await put('changed', 2);
    await put('added', 2);
    await erase('deleted');

    await expect(restore(at)).rejects.toThrow('outside of the restorable window');
    now += 5 * 60_000;
    const { ContinuousBackupsDescription: backups } = await test.dynamo.send(
      new DescribeContinuousBackupsCommand({ TableName }),
    );
    expect(backups?.PointInTimeRecoveryDescription?.LatestRestorableDateTime).toStrictEqual(
      new Date(at + 1000),
    );
    await restore(at);
    await expect(test.dynamo.send(new ScanCommand({ TableName: target }))).rejects.toThrow(
      ResourceNotFoundException,
    );
    const states = [];
    while (states.at(-1) !== 'ACTIVE') {
      const { Table } = await test.dynamo.send(new DescribeTableCommand({ TableName: target }));
      states.push(Table?.TableStatus);
    }
    expect(states).toStrictEqual(['CREATING', 'CREATING', 'ACTIVE']);
    const { Items } = await test.dynamo.send(
      new QueryCommand({
        TableName: target,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': { S: 'history' } },
      }),
    );
    expect(Items).toStrictEqual(['batch', 'both', 'changed', 'deleted'].map((sk) => item('history', sk, 1)));
    await expect(restore(at)).rejects.toThrow('already exists');

    await expect(test.dynamo.send(new DeleteTableCommand({ TableName }))).rejects.toThrow('protected');
    const { ContinuousBackupsDescription: second } = await test.dynamo.send(
      new DescribeContinuousBackupsCommand({ TableName: target }),
    );
    expect(second?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus).toBe('DISABLED');
    await test.dynamo.send(new DeleteTableCommand({ TableName: target }));
  });
});
