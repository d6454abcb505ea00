import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { KMSClient } from '@aws-sdk/client-kms';
import { S3Client } from '@aws-sdk/client-s3';
import { SQSClient } from '@aws-sdk/client-sqs';
import { SSMClient } from '@aws-sdk/client-ssm';
import type { AwsSettings } from '#shared/lambda/runtime.ts';

// How each SDK client is made. A function for each, so that a bundle holds only the clients that its function uses.

const maxAttempts = 3;

export function makeDynamo(settings: AwsSettings): DynamoDBClient {
  return new DynamoDBClient({ maxAttempts, ...settings });
}

export function makeKms(settings: AwsSettings): KMSClient {
  return new KMSClient({ maxAttempts, ...settings });
}

/** Computes no checksums and compares none of its own: what is stored is named by its SHA-256, which is sent along and compared. */
export function makeS3(settings: AwsSettings): S3Client {
  return new S3Client({
    maxAttempts,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    ...settings,
  });
}

export function makeSqs(settings: AwsSettings): SQSClient {
  return new SQSClient({ maxAttempts, ...settings });
}

export function makeSsm(settings: AwsSettings): SSMClient {
  return new SSMClient({ maxAttempts, ...settings });
}
