import { analyzeRun } from '#shared/contract/background.ts';
import { localBucketName, localQueueName, localStage, localTableName } from '#shared/stage/local-stage.ts';
import { tables, type TableDefinition } from '#shared/stores/tables.ts';
import type { LocalTable } from './dynamodb.ts';
import type { LocalQueue } from './queue.ts';
import type { LocalBucket } from './s3.ts';

/** Where the queue puts what was received in vain. */
const localDeadLetterQueueName = `${localStage}-improvement-dead-letters`;

export function localTables(): readonly LocalTable[] {
  return tables.map((table: TableDefinition) => ({
    tableName: localTableName(table.name),
    partitionKey: table.partitionKey,
    ...(table.sortKey === undefined ? {} : { sortKey: table.sortKey }),
    ...(table.ttl === undefined ? {} : { ttl: table.ttl }),
    recoverable: true,
  }));
}

/** The project's queues under their local names, as the stack makes them. */
export function localQueues(): readonly LocalQueue[] {
  return [
    { queueName: localDeadLetterQueueName },
    {
      queueName: localQueueName,
      visibilityTimeoutSeconds: 6 * analyzeRun.lambda.timeoutSeconds,
      redrive: { deadLetterQueueName: localDeadLetterQueueName, maxReceiveCount: 5 },
    },
  ];
}

/** The project's buckets under their local names, as the stack makes them. No function may list one. */
export function localBuckets(): readonly LocalBucket[] {
  return [
    {
      bucketName: localBucketName,
      conditionalWrites: true,
      lock: { mode: 'GOVERNANCE', years: 1 },
      unlisted: true,
    },
  ];
}
