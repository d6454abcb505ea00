import {
  DeleteItemCommand,
  DescribeTimeToLiveCommand,
  PutItemCommand,
  TransactWriteItemsCommand,
  UpdateTimeToLiveCommand,
  paginateScan,
} from '@aws-sdk/client-dynamodb';
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { GetQueueAttributesCommand, ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { GetParametersByPathCommand, PutParameterCommand } from '@aws-sdk/client-ssm';
import { beforeAll, describe, expect, it } from 'vitest';
import { useTestAws } from '#test/support/aws.ts';
import { localBucketName, localQueueUrl } from '#shared/stage/local-stage.ts';
import type { Restore } from './wire.ts';

const TableName = 'local-settings';
const Bucket = localBucketName;

const test = useTestAws();
let restore: Restore;
let start: unknown;
beforeAll(async () => {
  // Several pages of a scan.
  for (let n = 0; n < 12; n += 1) await put(`kept-${n}`, 'x'.repeat(200_000));
  await test.ssm.send(new PutParameterCommand({ Name: '/local/kept', Value: 'first', Type: 'String' }));
  await test.s3.send(new PutObjectCommand({ Bucket, Key: 'kept', Body: 'first', IfNoneMatch: '*' }));
  await send('kept');
  restore = await test.aws.snapshot();
  start = await contents();
});

const put = (pk: string, value: string) =>
  test.dynamo.send(
    new PutItemCommand({ TableName, Item: { pk: { S: pk }, sk: { S: '0' }, value: { S: value } } }),
  );
const queue = () => ({ QueueUrl: localQueueUrl(test.aws.url) });
const send = (MessageBody: string) => test.sqs.send(new SendMessageCommand({ ...queue(), MessageBody }));

/** What can be seen from outside, but for what only errors tell. */
async function contents(): Promise<unknown> {
  const items = [];
  for await (const { Items } of paginateScan({ client: test.dynamo }, { TableName })) items.push(...Items!);
  const { Parameters } = await test.ssm.send(new GetParametersByPathCommand({ Path: '/local' }));
  const { TimeToLiveDescription } = await test.dynamo.send(new DescribeTimeToLiveCommand({ TableName }));
  const { Attributes } = await test.sqs.send(
    new GetQueueAttributesCommand({ ...queue(), AttributeNames: ['All'] }),
  );
  return { items, Parameters, TimeToLiveDescription, Attributes };
}

describe('a snapshot', () => {
  it('brings back what was there, as often as wanted: changed, deleted, added', async () => {
    for (const round of ['once', 'twice']) {
      await put('kept-0', 'changed');
      await put('added', round);
      await test.dynamo.send(
        new DeleteItemCommand({ TableName, Key: { pk: { S: 'kept-1' }, sk: { S: '0' } } }),
      );
      await test.dynamo.send(
        new UpdateTimeToLiveCommand({
          TableName,
          TimeToLiveSpecification: { AttributeName: 'expiry', Enabled: true },
        }),
      );
      await test.ssm.send(new PutParameterCommand({ Name: '/local/kept', Value: 'second', Overwrite: true }));
      await test.ssm.send(new PutParameterCommand({ Name: '/local/added', Value: 'x', Type: 'String' }));
      await send('added');
      const taken = await test.sqs.send(new ReceiveMessageCommand({ ...queue(), MaxNumberOfMessages: 10 }));
      expect(taken.Messages?.map(({ Body }) => Body)).toStrictEqual(['kept', 'added']);
      expect(await contents()).not.toStrictEqual(start);
      await restore();
      expect(await contents()).toStrictEqual(start);
    }
  });

  it('forgets objects and transactions that have come since', async () => {
    const transaction = (pk: string) =>
      test.dynamo.send(
        new TransactWriteItemsCommand({
          ClientRequestToken: 'token',
          TransactItems: [{ Put: { TableName, Item: { pk: { S: pk }, sk: { S: '0' } } } }],
        }),
      );
    await test.s3.send(new PutObjectCommand({ Bucket, Key: 'added', Body: 'x', IfNoneMatch: '*' }));
    await transaction('first');
    await restore();
    await expect(test.s3.send(new GetObjectCommand({ Bucket, Key: 'added' }))).rejects.toThrow(
      'Access Denied',
    );
    const kept = await test.s3.send(new GetObjectCommand({ Bucket, Key: 'kept' }));
    expect(await kept.Body?.transformToString()).toBe('first');
    // The token stood for another transaction before.
    await transaction('second');
    await restore();
  });
});
