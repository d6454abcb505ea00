import { analyzeRun } from '#shared/contract/background.ts';
import { isRoute, type DeployedFunction } from '#shared/contract/functions.ts';
import { grantsOf } from '#shared/contract/grants.ts';
import {
  localAccount,
  localBucketName,
  localCredentials,
  localKeyAlias,
  localQueueName,
  localRegion,
  localStage,
  localTableName,
} from '#shared/stage/local-stage.ts';
import * as permissions from '#shared/stage/permissions.ts';
import { tables, type TableDefinition } from '#shared/stores/tables.ts';
import { defaultKeyPolicy, type LocalRole } from './access.ts';
import type { LocalTable } from './dynamodb.ts';
import { keyArnOf } from './kms.ts';
import type { LocalQueue } from './queue.ts';
import { bucketArnOf, type LocalBucket } from './s3.ts';
import { queueArnOf } from './sqs.ts';
import { tableArnOf } from './table-needs.ts';

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

/** The project's buckets under their local names, as the stack makes them. */
export function localBuckets(): readonly LocalBucket[] {
  return [
    {
      bucketName: localBucketName,
      lock: { mode: 'GOVERNANCE', years: 1 },
    },
  ];
}

/** The key of the stage, as a function's variable names it. */
export const localKeyArn = keyArnOf(localKeyAlias);

const tableRow = (name: Parameters<typeof localTableName>[0]) => ({ arn: tableArnOf(localTableName(name)) });

export const localArns: permissions.ResourceArns = {
  records: tableRow('records'),
  control: tableRow('control'),
  settings: tableRow('settings'),
  improvement: tableRow('improvement'),
  runs: { arn: queueArnOf(localQueueName) },
  receipts: { arn: bucketArnOf(localBucketName) },
  keyArn: localKeyArn,
  other: (service, resource, { region = localRegion, accountless } = {}) =>
    `arn:aws:${service}:${region}:${accountless === true ? '' : localAccount}:${resource}`,
  parameter: (path) => `arn:aws:ssm:${localRegion}:${localAccount}:parameter${path}`,
};

/** The access key id of a function: the emulator authorizes its calls by the function's own role. */
export function accessKeyOf({ operationId }: Pick<DeployedFunction, 'operationId'>): string {
  return `${localCredentials.accessKeyId}-${operationId}`;
}

/** The functions' roles by access key id, with the statements that the stacks give to them. */
export function localRoles(rows: readonly DeployedFunction[]): Readonly<Record<string, LocalRole>> {
  return Object.fromEntries(
    rows.map((row) => [
      accessKeyOf(row),
      {
        name: row.operationId,
        statements: [
          ...permissions.grantStatements(grantsOf(row), localStage, localArns),
          ...(isRoute(row) || row.trigger !== 'queue' ? [] : [permissions.pollStatement(localArns.runs.arn)]),
        ],
      },
    ]),
  );
}

/** The policies of the resources by ARN, as the stacks attach them. */
export function localPolicies(): Readonly<Record<string, readonly permissions.Statement[]>> {
  const [records, runs, receipts] = [localArns.records.arn, localArns.runs.arn, localArns.receipts.arn];
  const deadLetters = queueArnOf(localDeadLetterQueueName);
  return {
    [records]: permissions.recordsPolicy(),
    [runs]: [onlyTls('sqs', [runs])],
    [deadLetters]: [onlyTls('sqs', [deadLetters])],
    [receipts]: [onlyTls('s3', [receipts, `${receipts}/*`]), permissions.receiptsPolicy(`${receipts}/*`)],
    [localKeyArn]: defaultKeyPolicy(localAccount),
  };
}

/** What the CDK puts into the policy of a queue or a bucket with `enforceSSL`. */
function onlyTls(service: 's3' | 'sqs', Resource: readonly string[]): permissions.Statement {
  const Condition = { Bool: { 'aws:SecureTransport': 'false' } };
  return { Effect: 'Deny', Principal: { AWS: '*' }, Action: [`${service}:*`], Resource, Condition };
}
