import { createHash } from 'node:crypto';
import * as z from 'zod';
import { ok } from '#shared/kernel/result.ts';
import { localAccount, localRegion } from '#shared/stage/local-stage.ts';
import { type LocalQueue, type Queue, type QueueAccess, createQueue } from './queue.ts';
import { type AwsAnswer, type AwsOperation, type AwsService, operation, refuse, restoreAll } from './wire.ts';

/** SQS takes 1 MiB in one message. */
const MAX_MESSAGE_BYTES = 1_048_576;
/** What SQS takes in a message: the characters of XML 1.0. */
const CONTENT = /^[\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]*$/u;

const url = z.string().min(1);
const queueAttributes = [
  'QueueArn',
  'ApproximateNumberOfMessages',
  'ApproximateNumberOfMessagesNotVisible',
  'ApproximateNumberOfMessagesDelayed',
  'VisibilityTimeout',
  'RedrivePolicy',
] as const;

/** Strict: a member that the emulator would have to ignore is refused by name. */
const inputs = {
  SendMessage: z.strictObject({ QueueUrl: url, MessageBody: z.string().min(1) }),
  GetQueueAttributes: z.strictObject({
    QueueUrl: url,
    AttributeNames: z.array(z.enum(['All', ...queueAttributes])).default([]),
  }),
};

interface SqsEmulator extends AwsService {
  /** @throws RangeError when there is no queue of this name */
  queue(name: string): QueueAccess;
  close(): void;
}

/**
 * Standard queues of SQS in memory, without delays, message attributes and batches. Messages are received only in this process, as Lambda
 * receives them for a function in production.
 */
export function createSqs(definitions: readonly LocalQueue[], now: () => number): SqsEmulator {
  const queues = new Map<string, Queue>();
  for (const definition of definitions) {
    const target = definition.redrive?.deadLetterQueueName;
    const deadLetterQueue = target === undefined ? undefined : queues.get(target);
    if (target !== undefined && deadLetterQueue === undefined) {
      throw new RangeError(
        `the queue ${target} stands before ${definition.queueName}, whose dead letters it takes`,
      );
    }
    queues.set(definition.queueName, createQueue(definition, deadLetterQueue, now));
  }

  function onQueue<S extends z.ZodType<{ readonly QueueUrl: string }>>(
    action: string,
    schema: S,
    work: (queue: Queue, input: z.output<S>) => AwsAnswer,
  ): AwsOperation {
    const needs = ({ QueueUrl }: z.output<S>) => [
      { action: `sqs:${action}`, resource: queueArnOf(queueNameOf(QueueUrl) ?? '') },
    ];
    return operation(schema, needs, (input) => {
      const queue = queues.get(queueNameOf(input.QueueUrl) ?? '');
      return queue === undefined
        ? refuse('QueueDoesNotExist', 'The specified queue does not exist.')
        : work(queue, input);
    });
  }

  const operations = new Map<string, AwsOperation>(
    Object.entries({
      SendMessage: onQueue('SendMessage', inputs.SendMessage, (queue, { MessageBody: body }) => {
        if (Buffer.byteLength(body) > MAX_MESSAGE_BYTES) {
          return refuse('InvalidParameterValue', `Message must be shorter than ${MAX_MESSAGE_BYTES} bytes.`);
        }
        if (!CONTENT.test(body)) {
          return refuse('InvalidMessageContents', 'The message contains characters outside the allowed set.');
        }
        const md5 = createHash('md5').update(body).digest('hex');
        return ok({ MessageId: queue.send(body).messageId, MD5OfMessageBody: md5 });
      }),
      GetQueueAttributes: onQueue(
        'GetQueueAttributes',
        inputs.GetQueueAttributes,
        (queue, { AttributeNames: names }) => {
          const all = attributesOf(queue);
          const wanted = Object.entries(all).filter(([name]) =>
            names.some((one) => one === 'All' || one === name),
          );
          return ok({ Attributes: Object.fromEntries(wanted) });
        },
      ),
    }),
  );

  return {
    name: 'sqs',
    targetPrefix: 'AmazonSQS',
    contentType: 'application/x-amz-json-1.0',
    operations,
    snapshot() {
      return restoreAll([...queues.values()].map((queue) => queue.snapshot()));
    },
    queue(name) {
      const queue = queues.get(name);
      if (queue === undefined) throw new RangeError(`there is no queue ${name}`);
      return queue;
    },
    close() {
      for (const queue of queues.values()) queue.close();
    },
  };
}

/** The host of a queue's url is where the SDK sends the call; the path names the queue. */
function queueNameOf(queueUrl: string): string | undefined {
  const path = URL.parse(queueUrl)?.pathname ?? '';
  const [account, name, ...rest] = path.split('/').slice(1);
  return account === localAccount && rest.length === 0 ? name : undefined;
}

export function queueArnOf(queueName: string): string {
  return `arn:aws:sqs:${localRegion}:${localAccount}:${queueName}`;
}

function attributesOf(queue: Queue): Readonly<Partial<Record<(typeof queueAttributes)[number], string>>> {
  const { queueName, visibilityTimeoutSeconds, redrive } = queue.definition;
  const { visible, inFlight } = queue.counts();
  return {
    QueueArn: queueArnOf(queueName),
    ApproximateNumberOfMessages: String(visible),
    ApproximateNumberOfMessagesNotVisible: String(inFlight),
    ApproximateNumberOfMessagesDelayed: '0',
    VisibilityTimeout: String(visibilityTimeoutSeconds),
    ...(redrive === undefined
      ? {}
      : {
          RedrivePolicy: JSON.stringify({
            deadLetterTargetArn: queueArnOf(redrive.deadLetterQueueName),
            maxReceiveCount: redrive.maxReceiveCount,
          }),
        }),
  };
}
