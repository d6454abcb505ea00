import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { StoreOutage } from '#shared/kernel/store-calls.ts';
import { localTableName } from '#shared/stage/local-stage.ts';
import { useTestAws } from '#test/support/aws.ts';
import { createRequestCounts } from './request-counts.ts';

const TableName = localTableName('control');
const test = useTestAws();

it('counts every request once, however many are counted at a time, and lets the table delete the count', async () => {
  const add = createRequestCounts(test.dynamo, TableName);
  const sums = await Promise.all(Array.from({ length: 20 }, () => add('rate#a#1#0', 1_800_000_000)));
  expect(sums.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
  expect(await add('rate#b#1#0', 1_800_000_000)).toBe(1);
  const { Item } = await test.dynamo.send(
    new GetItemCommand({ TableName, Key: { id: { S: 'rate#a#1#0' } } }),
  );
  expect(Item).toEqual({ id: { S: 'rate#a#1#0' }, requests: { N: '20' }, purgeAt: { N: '1800000000' } });
});

it('believes no other item', async () => {
  const foreign = { id: { S: 'other' }, requests: { N: '1' } };
  const client = Object.assign(Object.create(test.dynamo) as typeof test.dynamo, {
    send: () => Promise.resolve({ Attributes: foreign }),
  });
  await expect(createRequestCounts(client, TableName)('rate#c#1#0', 1)).rejects.toThrow(StoreOutage);
});
