import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { KMSClient } from '@aws-sdk/client-kms';
import { S3Client } from '@aws-sdk/client-s3';
import { SQSClient } from '@aws-sdk/client-sqs';
import { SSMClient } from '@aws-sdk/client-ssm';
import { afterEach } from 'vitest';
import {
  awsEnvironment,
  localCredentials,
  localKeyAlias,
  localRegion,
  localStage,
  tableEnvironment,
} from '#shared/stage/local-stage.ts';
import { damagingCredentials } from '#local/aws/access.ts';
import { localBuckets, localPolicies, localQueues, localTables } from '#local/aws/resources.ts';
import { type AwsOptions, type LocalAws, startAws } from '#local/aws/server.ts';
import { duringTests } from './lazily.ts';

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
  /** No policy applies to its calls. */
  readonly damaging: DynamoDBClient;
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
    policies: localPolicies(),
    ...options,
  });
  const client = { endpoint: aws.url, region: localRegion, credentials: localCredentials, maxAttempts: 1 };
  const clients = {
    dynamo: new DynamoDBClient(client),
    damaging: new DynamoDBClient({ ...client, credentials: damagingCredentials }),
    kms: new KMSClient(client),
    s3: new S3Client(client),
    sqs: new SQSClient(client),
    ssm: new SSMClient(client),
  };
  const further: DynamoDBClient[] = [];
  return {
    aws,
    env: { ...awsEnvironment(aws.url), ...tableEnvironment(), STAGE: localStage },
    ...clients,
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
    async close() {
      for (const made of [...Object.values(clients), ...further]) made.destroy();
      await aws.close();
    },
  };
}

/** The emulator of a test file, without faults after each of its tests. */
export function useTestAws(options?: AwsOptions): TestAws {
  const test = duringTests(() => startTestAws(options));
  afterEach(() => test.aws.faults.reset());
  return test;
}
