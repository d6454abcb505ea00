import { describe, expect, it } from 'vitest';
import { localQueueName, localQueueUrl } from '#shared/stage/local-stage.ts';
import { parseRunMessage } from '#shared/improvement/run-message.ts';
import { useTestAws } from '#test/support/aws.ts';
import { createImprovementQueue } from './improvement-queue.ts';

const test = useTestAws();

describe('the queue of improvement runs', () => {
  it('carries the ids of a run to its worker, whatever characters they hold', async () => {
    const run = { tenantId: 'tenant\u0000ü\uffff', improvementRunId: 'run_1' };
    await createImprovementQueue(test.sqs, localQueueUrl(test.aws.url)).send(run);
    const message = await test.aws.queue(localQueueName).receive();
    expect(parseRunMessage(message?.body ?? '')).toEqual(run);
  });

  it('throws when the message was not taken', async () => {
    test.aws.faults.unavailable('sqs', 1);
    const queue = createImprovementQueue(test.sqs, localQueueUrl(test.aws.url));
    await expect(queue.send({ tenantId: 't', improvementRunId: 'run_1' })).rejects.toThrow();
  });
});
