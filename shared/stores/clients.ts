import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { KMSClient } from '@aws-sdk/client-kms';
import { S3Client } from '@aws-sdk/client-s3';
import { SQSClient } from '@aws-sdk/client-sqs';
import { SSMClient } from '@aws-sdk/client-ssm';

/**
 * One client of each kind per container, made when first needed: region, credentials and (locally) endpoints come from the environment
 * that Lambda or the local runtime sets before any of these is called.
 */
let dynamoClient: DynamoDBClient | undefined;
let kmsClient: KMSClient | undefined;
let s3Client: S3Client | undefined;
let sqsClient: SQSClient | undefined;
let ssmClient: SSMClient | undefined;

export function dynamo(): DynamoDBClient {
  return (dynamoClient ??= new DynamoDBClient({ maxAttempts: 3 }));
}

export function kms(): KMSClient {
  return (kmsClient ??= new KMSClient({ maxAttempts: 3 }));
}

/** Computes no checksums and compares none of its own: what is stored here is named by its SHA-256, which goes along and is held to. */
export function s3(): S3Client {
  return (s3Client ??= new S3Client({
    maxAttempts: 3,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  }));
}

export function sqs(): SQSClient {
  return (sqsClient ??= new SQSClient({ maxAttempts: 3 }));
}

export function ssm(): SSMClient {
  return (ssmClient ??= new SSMClient({ maxAttempts: 3 }));
}
