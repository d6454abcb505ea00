import {
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs';
import type { ReceiveMessageCommandInput } from '@aws-sdk/client-sqs';
import { describe, expect, it } from 'vitest';
import { createSqs } from '#local/aws/sqs.ts';
import { useTestAws } from '#test/support/aws.ts';

const redrive = { deadLetterQueueName: 'dead', maxReceiveCount: 3 };
/** A queue for each test. */
const queues = [
  { queueName: 'dead' },
  ...['receipts', 'work', 'abandoned'].map((queueName) => ({ queueName, redrive })),
];
const now = 1_700_000_000_000;
const test = useTestAws({ queues, now: () => now });

const urlOf = (name: string) => `${test.aws.url}/000000000000/${name}`;
const send = (name: string, MessageBody: string) =>
  test.sqs.send(new SendMessageCommand({ QueueUrl: urlOf(name), MessageBody }));
const receive = async (name: string, input: Partial<ReceiveMessageCommandInput> = {}) =>
  (await test.sqs.send(new ReceiveMessageCommand({ QueueUrl: urlOf(name), ...input }))).Messages ?? [];
const counts = async (name: string) => {
  const { Attributes: attributes = {} } = await test.sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: urlOf(name), AttributeNames: ['All'] }),
  );
  const { ApproximateNumberOfMessages: visible, ApproximateNumberOfMessagesNotVisible: inFlight } =
    attributes;
  return [visible, inFlight].map(Number);
};

describe('the SQS emulator, through the SDK client', () => {
  it('deletes by the latest receipt only', async () => {
    const remove = (ReceiptHandle: string | undefined) =>
      test.sqs.send(new DeleteMessageCommand({ QueueUrl: urlOf('receipts'), ReceiptHandle }));
    await send('receipts', 'a');
    const [first] = await receive('receipts', { VisibilityTimeout: 0 });
    const [second] = await receive('receipts');
    await remove(first?.ReceiptHandle);
    expect(await counts('receipts')).toEqual([0, 1]);
    await remove(second?.ReceiptHandle);
    expect(await counts('receipts')).toEqual([0, 0]);
    await expect(remove(second?.ReceiptHandle)).resolves.toBeDefined();
    await expect(remove('no handle')).rejects.toMatchObject({ name: 'ReceiptHandleIsInvalid' });
  });

  it('moves what was received in vain often enough to the dead letters', async () => {
    await send('work', 'poison');
    for (let times = 0; times < 3; times += 1)
      expect(await receive('work', { VisibilityTimeout: 0 })).toHaveLength(1);
    expect(await receive('work')).toEqual([]);
    expect(await counts('work')).toEqual([0, 0]);
    expect((await receive('dead')).map(({ Body }) => Body)).toEqual(['poison']);
  });

  it('takes no message for a receiver who has hung up', async () => {
    const sqs = createSqs(queues, () => now);
    const caller = new AbortController();
    const input = { QueueUrl: urlOf('abandoned'), WaitTimeSeconds: 20 };
    const answer = sqs.operations.get('ReceiveMessage')?.(input, caller.signal);
    caller.abort();
    sqs.queue('abandoned').send('a');
    expect(await answer).toEqual({ ok: true, value: {} });
    expect(await sqs.queue('abandoned').receive()).toMatchObject({ body: 'a', receiveCount: 1 });
  });
});
