import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { KMSClient } from '@aws-sdk/client-kms';
import type { S3Client } from '@aws-sdk/client-s3';
import type { SSMClient } from '@aws-sdk/client-ssm';
import type { AwsSettings } from '#shared/lambda/runtime.ts';
import { makeDynamo, makeKms, makeS3, makeSsm } from './make-clients.ts';

/**
 * The clients of a command: one of each kind for the process, made when first needed. `shared/stage/access.ts` decides whose calls they make
 * and to which region; endpoints (local only) come from the environment. A function takes its clients from its runtime instead.
 */
let settings: AwsSettings = {};
let dynamoClient: DynamoDBClient | undefined;
let kmsClient: KMSClient | undefined;
let s3Client: S3Client | undefined;
let ssmClient: SSMClient | undefined;

/** Replaces the settings of all clients; those made before are forgotten. */
export function useSettings(given: AwsSettings): void {
  settings = given;
  dynamoClient = kmsClient = s3Client = ssmClient = undefined;
}

export function dynamo(): DynamoDBClient {
  return (dynamoClient ??= makeDynamo(settings));
}

export function kms(): KMSClient {
  return (kmsClient ??= makeKms(settings));
}

export function s3(): S3Client {
  return (s3Client ??= makeS3(settings));
}

export function ssm(): SSMClient {
  return (ssmClient ??= makeSsm(settings));
}
