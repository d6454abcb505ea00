import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { writeRunMessage, type RunQueue } from '#shared/improvement/run-message.ts';

/**
 * The queue of improvement runs in SQS. Needs `sqs:SendMessage` only. Throws when the message may not have been taken; it may all the same
 * have been, and be sent again.
 * @param url the queue's url, whose host is the one that is called
 */
export function createImprovementQueue(client: SQSClient, url: string): RunQueue {
  return {
    async send(run) {
      await client.send(new SendMessageCommand({ QueueUrl: url, MessageBody: writeRunMessage(run) }));
    },
  };
}
