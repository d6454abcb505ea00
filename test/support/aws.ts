import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { KMSClient } from '@aws-sdk/client-kms';
import { S3Client } from '@aws-sdk/client-s3';
import { SQSClient } from '@aws-sdk/client-sqs';
import { SSMClient } from '@aws-sdk/client-ssm';
import { afterAll, afterEach, beforeAll } from 'vitest';
import {
  awsEnvironment,
  localCredentials,
  localKeyAlias,
  localStage,
  tableEnvironment,
} from '#shared/stage/local-stage.ts';
import { localBuckets, localQueues, localTables } from '#local/aws/resources.ts';
import type { AwsOptions, LocalAws } from '#local/aws/server.ts';
import { startAws } from '#local/aws/server.ts';
import { lazily } from './lazily.ts';

/** A call of DynamoDB: the name of its command, as `GetItemCommand`, and its input. */
export interface DynamoCall {
  readonly name: string | undefined;
  readonly input: object;
}

export interface TestAws {
  readonly aws: LocalAws;
  /** For a handler under test: the endpoints, the dummy credentials, the stage and the tables' names. */
  readonly env: Readonly<Record<string, string>>;
  readonly dynamo: DynamoDBClient;
  /** A further client of DynamoDB, whose calls pass `before` first: it may refuse them, or do something else in the meantime. */
  dynamoAfter(before: (command: DynamoCall) => void | Promise<void>): DynamoDBClient;
  readonly kms: KMSClient;
  readonly s3: S3Client;
  readonly sqs: SQSClient;
  readonly ssm: SSMClient;
  close(): Promise<void>;
}

/** An AWS emulator of a test file's own, on any free port, with the project's tables, queues and buckets and the key ring's KMS key, and clients for it. */
export async function startTestAws(options: AwsOptions = {}): Promise<TestAws> {
  const aws = await startAws({
    tables: localTables(),
    queues: localQueues(),
    buckets: localBuckets(),
    keyAliases: [localKeyAlias],
    ...options,
  });
  const client = { endpoint: aws.url, region: 'us-east-1', credentials: localCredentials, maxAttempts: 1 };
  const dynamo = new DynamoDBClient(client);
  const further: DynamoDBClient[] = [];
  const kms = new KMSClient(client);
  const s3 = new S3Client(client);
  const sqs = new SQSClient(client);
  const ssm = new SSMClient(client);
  return {
    aws,
    env: { ...awsEnvironment(aws.url), ...tableEnvironment(), STAGE: localStage },
    dynamo,
    dynamoAfter(before) {
      const watched = new DynamoDBClient(client);
      further.push(watched);
      watched.middlewareStack.add(
        (next, { commandName }) =>
          async (args) => {
            await before({ name: commandName, input: args.input });
            return next(args);
          },
        { step: 'initialize' },
      );
      return watched;
    },
    kms,
    s3,
    sqs,
    ssm,
    async close() {
      for (const made of [dynamo, ...further]) made.destroy();
      kms.destroy();
      s3.destroy();
      sqs.destroy();
      ssm.destroy();
      await aws.close();
    },
  };
}

/** The emulator of a test file: started before its first test, without faults after each, closed after the last. */
export function useTestAws(options: AwsOptions = {}): TestAws {
  let started: TestAws | undefined;
  beforeAll(async () => {
    started = await startTestAws(options);
  });
  afterEach(() => started?.aws.faults.reset());
  afterAll(() => started?.close());
  return lazily(() => {
    if (started === undefined) throw new Error('the emulator of AWS runs during tests and hooks only');
    return started;
  });
}
