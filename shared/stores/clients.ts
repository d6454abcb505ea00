import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { KMSClient } from '@aws-sdk/client-kms';
import type { S3Client } from '@aws-sdk/client-s3';
import type { SSMClient } from '@aws-sdk/client-ssm';
import { makeDynamo, makeKms, makeS3, makeSsm } from './make-clients.ts';

/**
 * The clients of a command: one of each kind for the process, made when first needed. Region, credentials and (locally) endpoints come from
 * the environment. A function takes its clients from its runtime instead.
 */
let dynamoClient: DynamoDBClient | undefined;
let kmsClient: KMSClient | undefined;
let s3Client: S3Client | undefined;
let ssmClient: SSMClient | undefined;

export function dynamo(): DynamoDBClient {
  return (dynamoClient ??= makeDynamo({}));
}

export function kms(): KMSClient {
  return (kmsClient ??= makeKms({}));
}

export function s3(): S3Client {
  return (s3Client ??= makeS3({}));
}

export function ssm(): SSMClient {
  return (ssmClient ??= makeSsm({}));
}
