import {
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs';
import type { ReceiveMessageCommandInput } from '@aws-sdk/client-sqs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSqs } from '#local/aws/sqs.ts';
import type { TestAws } from '#test/support/aws.ts';
import { startTestAws } from '#test/support/aws.ts';

const VISIBILITY_SECONDS = 60;
const queues = [
  { queueName: 'dead' },
  {
    queueName: 'work',
    visibilityTimeoutSeconds: VISIBILITY_SECONDS,
    redrive: { deadLetterQueueName: 'dead', maxReceiveCount: 3 },
  },
];

let test: TestAws;
const now = 1_700_000_000_000;
beforeEach(async () => {
  test = await startTestAws({ queues, now: () => now });
});
afterEach(() => test.close());

const urlOf = (name: string) => `${test.aws.url}/000000000000/${name}`;
const send = (MessageBody: string, name = 'work') =>
  test.sqs.send(new SendMessageCommand({ QueueUrl: urlOf(name), MessageBody }));
const receive = async (input: Partial<ReceiveMessageCommandInput> = {}, name = 'work') =>
  (await test.sqs.send(new ReceiveMessageCommand({ QueueUrl: urlOf(name), ...input }))).Messages ?? [];
const remove = (ReceiptHandle: string | undefined, name = 'work') =>
  test.sqs.send(new DeleteMessageCommand({ QueueUrl: urlOf(name), ReceiptHandle }));
const counts = async (name = 'work') => {
  const { Attributes: attributes = {} } = await test.sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: urlOf(name), AttributeNames: ['All'] }),
  );
  return [attributes['ApproximateNumberOfMessages'], attributes['ApproximateNumberOfMessagesNotVisible']].map(
    Number,
  );
};

describe('the SQS emulator, through the SDK client', () => {
  it('deletes by the latest receipt only', async () => {
    await send('a');
    const [first] = await receive({ VisibilityTimeout: 0 });
    const [second] = await receive();
    await remove(first?.ReceiptHandle);
    expect(await counts()).toEqual([0, 1]);
    await remove(second?.ReceiptHandle);
    expect(await counts()).toEqual([0, 0]);
    await expect(remove(second?.ReceiptHandle)).resolves.toBeDefined();
    await expect(remove('no handle')).rejects.toMatchObject({ name: 'ReceiptHandleIsInvalid' });
  });

  it('moves what was received in vain often enough to the dead letters', async () => {
    await send('poison');
    for (let times = 0; times < 3; times += 1)
      expect(await receive({ VisibilityTimeout: 0 })).toHaveLength(1);
    expect(await receive()).toEqual([]);
    expect(await counts()).toEqual([0, 0]);
    expect((await receive({}, 'dead')).map(({ Body }) => Body)).toEqual(['poison']);
  });

  it('takes no message for a receiver who has hung up', async () => {
    const sqs = createSqs(queues, () => now);
    const caller = new AbortController();
    const answer = sqs.operations.get('ReceiveMessage')?.(
      { QueueUrl: urlOf('work'), WaitTimeSeconds: 20 },
      caller.signal,
    );
    caller.abort();
    sqs.queue('work').send('a');
    expect(await answer).toEqual({ ok: true, value: {} });
    expect(await sqs.queue('work').receive()).toMatchObject({ body: 'a', receiveCount: 1 });
  });
});
