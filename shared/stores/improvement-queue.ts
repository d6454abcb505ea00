import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { writeRunMessage, type RunQueue } from '#shared/improvement/run-message.ts';

/**
 * Opens the queue of improvement runs in SQS. Needs `sqs:SendMessage` only. Throws if the queue may not have taken the message; it may have taken it
 * anyway, and get it again.
 * @param url the queue's url, whose host is called
 */
export function createImprovementQueue(client: SQSClient, url: string): RunQueue {
  return {
    async send(run) {
      await client.send(new SendMessageCommand({ QueueUrl: url, MessageBody: writeRunMessage(run) }));
    },
  };
}
