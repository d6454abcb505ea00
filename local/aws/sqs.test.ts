import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs';
import type { ReceiveMessageCommandInput } from '@aws-sdk/client-sqs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { localQueueName, localQueueUrl } from '#shared/stage/local-stage.ts';
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
let now = 1_700_000_000_000;
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
  it('hands a message out and keeps it out of sight until its time is over', async () => {
    const { MessageId } = await send('{"é":1}');
    const [message] = await receive({ MessageSystemAttributeNames: ['All'] });
    expect(message).toMatchObject({
      MessageId,
      Body: '{"é":1}',
      Attributes: {
        ApproximateReceiveCount: '1',
        SentTimestamp: String(now),
        ApproximateFirstReceiveTimestamp: String(now),
      },
    });
    expect(await counts()).toEqual([0, 1]);
    now += VISIBILITY_SECONDS * 1000 - 1;
    expect(await receive()).toEqual([]);
    now += 1;
    const [again] = await receive({ MessageSystemAttributeNames: ['ApproximateReceiveCount'] });
    expect(again).toMatchObject({ MessageId, Attributes: { ApproximateReceiveCount: '2' } });
    expect(again?.ReceiptHandle).not.toBe(message?.ReceiptHandle);
  });

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

  it('gives out several at once, the oldest first, up to the number asked for', async () => {
    for (const body of ['a', 'b', 'c']) await send(body);
    expect((await receive({ MaxNumberOfMessages: 2 })).map(({ Body }) => Body)).toEqual(['a', 'b']);
    expect((await receive({ MaxNumberOfMessages: 10 })).map(({ Body }) => Body)).toEqual(['c']);
  });

  it('changes how long a message is out of sight, from now on, and only while it is', async () => {
    await send('a');
    const [message] = await receive();
    const change = (VisibilityTimeout: number) =>
      test.sqs.send(
        new ChangeMessageVisibilityCommand({
          QueueUrl: urlOf('work'),
          ReceiptHandle: message?.ReceiptHandle,
          VisibilityTimeout,
        }),
      );
    now += 10_000;
    await change(100);
    now += 99_999;
    expect(await receive()).toEqual([]);
    await change(0);
    await expect(change(5)).rejects.toMatchObject({ name: 'MessageNotInflight' });
    expect(await receive()).toHaveLength(1);
  });

  it('moves what was received in vain often enough to the dead letters', async () => {
    await send('poison');
    for (let times = 0; times < 3; times += 1)
      expect(await receive({ VisibilityTimeout: 0 })).toHaveLength(1);
    expect(await receive()).toEqual([]);
    expect(await counts()).toEqual([0, 0]);
    expect((await receive({}, 'dead')).map(({ Body }) => Body)).toEqual(['poison']);
  });

  it('lets a receiver wait for the next message', async () => {
    const waiting = receive({ WaitTimeSeconds: 20 });
    await send('late');
    expect((await waiting).map(({ Body }) => Body)).toEqual(['late']);
  });

  it('answers a receiver who has waited in vain', async () => {
    expect(await receive({ WaitTimeSeconds: 1 })).toEqual([]);
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

  it('tells a queue’s attributes', async () => {
    const { Attributes } = await test.sqs.send(
      new GetQueueAttributesCommand({
        QueueUrl: urlOf('work'),
        AttributeNames: ['VisibilityTimeout', 'RedrivePolicy'],
      }),
    );
    expect(Attributes).toEqual({
      VisibilityTimeout: '60',
      RedrivePolicy: JSON.stringify({
        deadLetterTargetArn: 'arn:aws:sqs:us-east-1:000000000000:dead',
        maxReceiveCount: 3,
      }),
    });
  });

  it('refuses what the service refuses', async () => {
    await expect(send('a', 'none')).rejects.toMatchObject({ name: 'QueueDoesNotExist' });
    await expect(send('\u0000')).rejects.toMatchObject({ name: 'InvalidMessageContents' });
    await expect(send('\uffff')).rejects.toMatchObject({ name: 'InvalidMessageContents' });
    await expect(send('x'.repeat(1_048_577))).rejects.toMatchObject({ name: 'InvalidParameterValue' });
    await expect(receive({ MaxNumberOfMessages: 11 })).rejects.toMatchObject({ name: 'ValidationException' });
    expect(await counts()).toEqual([0, 0]);
  });

  it('refuses loudly what it does not cover', async () => {
    const Entries = [{ Id: '1', MessageBody: 'a' }];
    await expect(
      test.sqs.send(new SendMessageBatchCommand({ QueueUrl: urlOf('work'), Entries })),
    ).rejects.toMatchObject({ name: 'UnknownOperationException' });
    await expect(
      test.sqs.send(new SendMessageCommand({ QueueUrl: urlOf('work'), MessageBody: 'a', DelaySeconds: 1 })),
    ).rejects.toMatchObject({ name: 'ValidationException' });
  });

  it('is throttled and unavailable on demand', async () => {
    test.aws.faults.throttle('SendMessage', 1);
    await expect(send('a')).rejects.toMatchObject({ name: 'RequestThrottled' });
    test.aws.faults.unavailable('sqs', 1);
    await expect(send('a')).rejects.toMatchObject({ $metadata: { httpStatusCode: 500 } });
    await expect(send('a')).resolves.toBeDefined();
  });

  it('wants the queue for dead letters before the one that they come from', () => {
    expect(() => createSqs(queues.toReversed(), () => now)).toThrow(RangeError);
  });
});

describe('the project’s queue in the emulator', () => {
  let project: TestAws;
  beforeAll(async () => {
    project = await startTestAws();
  });
  afterAll(() => project.close());

  it('is found by its url', async () => {
    const QueueUrl = localQueueUrl(project.aws.url);
    await project.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'a' }));
    expect(await project.aws.queue(localQueueName).receive()).toMatchObject({ body: 'a' });
    expect(() => project.aws.queue('none')).toThrow(RangeError);
  });
});
