import {
  DeleteItemCommand,
  PutItemCommand,
  TransactWriteItemsCommand,
  paginateScan,
} from '@aws-sdk/client-dynamodb';
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { GetQueueAttributesCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { GetParametersByPathCommand, PutParameterCommand } from '@aws-sdk/client-ssm';
import { expect, it } from 'vitest';
import { useTestAws } from '#test/support/aws.ts';
import { localBucketName, localQueueName, localQueueUrl } from '#shared/stage/local-stage.ts';

const TableName = 'local-settings';
const Bucket = localBucketName;
const test = useTestAws();

const itemOf = (pk: string, value: string) => ({ pk: { S: pk }, sk: { S: '0' }, value: { S: value } });
const putItem = (pk: string, value: string) =>
  test.dynamo.send(new PutItemCommand({ TableName, Item: itemOf(pk, value) }));
const putObject = (Key: string) =>
  test.s3.send(new PutObjectCommand({ Bucket, Key, Body: 'x', IfNoneMatch: '*' }));
const putParameter = (Name: string, Value: string) =>
  test.ssm.send(new PutParameterCommand({ Name, Value, Type: 'String', Overwrite: true }));
const queue = () => ({ QueueUrl: localQueueUrl(test.aws.url) });
const send = (MessageBody: string) => test.sqs.send(new SendMessageCommand({ ...queue(), MessageBody }));
const hasObject = (Key: string): Promise<boolean> =>
  test.s3.send(new GetObjectCommand({ Bucket, Key })).then(
    () => true,
    () => false,
  );

/** What can be seen from outside, but for what only errors tell. */
async function contents(): Promise<unknown> {
  const items = [];
  for await (const { Items } of paginateScan({ client: test.dynamo }, { TableName })) items.push(...Items!);
  const { Parameters } = await test.ssm.send(new GetParametersByPathCommand({ Path: '/local' }));
  const { Attributes } = await test.sqs.send(
    new GetQueueAttributesCommand({ ...queue(), AttributeNames: ['All'] }),
  );
  const objects = [await hasObject('kept'), await hasObject('added')];
  return { items, Parameters, Attributes, objects };
}

it('a snapshot brings back what was there, as often as wanted: changed, deleted, added', async () => {
  // Several pages of a scan.
  for (let n = 0; n < 12; n += 1) await putItem(`kept-${n}`, 'x'.repeat(200_000));
  await putParameter('/local/kept', 'first');
  await putObject('kept');
  await send('kept');
  const restore = await test.aws.snapshot();
  const start = await contents();
  for (const round of ['once', 'twice']) {
    await putItem('kept-0', 'changed');
    await test.dynamo.send(
      new TransactWriteItemsCommand({
        // In the second round it stands for another transaction.
        ClientRequestToken: 'token',
        TransactItems: [{ Put: { TableName, Item: itemOf('added', round) } }],
      }),
    );
    await test.dynamo.send(
      new DeleteItemCommand({ TableName, Key: { pk: { S: 'kept-1' }, sk: { S: '0' } } }),
    );
    await putParameter('/local/kept', 'second');
    await putParameter('/local/added', 'x');
    await putObject('added');
    await send('added');
    expect(await test.aws.queue(localQueueName).receive()).toMatchObject({ body: 'kept' });
    expect(await contents()).not.toStrictEqual(start);
    await restore();
    expect(await contents()).toStrictEqual(start);
  }
});
