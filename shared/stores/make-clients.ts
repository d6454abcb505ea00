import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { KMSClient } from '@aws-sdk/client-kms';
import { S3Client } from '@aws-sdk/client-s3';
import { SQSClient } from '@aws-sdk/client-sqs';
import { SSMClient } from '@aws-sdk/client-ssm';
import type { AwsSettings } from '#shared/runtime/runtime.ts';

// How each SDK client is created: one function per client, so that a bundle contains only the clients that its function uses.

/** The limits of a function, within the region: two attempts fit into the 3 seconds in which the key ring and the release must be read. */
const limits = { connectMs: 1_000, attemptMs: 2_000 };
/** A bundle of receipts may have several megabytes. */
const objectLimits = { connectMs: 1_000, attemptMs: 5_000 };

/** The part of a client's settings that is the same for all of them. */
interface ClientLimits {
  readonly maxAttempts: number;
  readonly requestHandler: Readonly<
    Record<'connectionTimeout' | 'requestTimeout' | 'socketTimeout', number> & {
      throwOnRequestTimeout: boolean;
    }
  >;
}

/** Returns the settings of a client. Without time limits the SDK would wait endlessly for a hanging store, and never make its second attempt. */
export function configOf(
  { timeLimits, ...settings }: AwsSettings,
  usual = limits,
): Omit<AwsSettings, 'timeLimits'> & ClientLimits {
  const { connectMs, attemptMs } = timeLimits ?? usual;
  return {
    maxAttempts: 3,
    requestHandler: {
      connectionTimeout: connectMs,
      requestTimeout: attemptMs,
      // By default the SDK only prints a warning.
      throwOnRequestTimeout: true,
      // For a response that stops after its beginning.
      socketTimeout: attemptMs,
    },
    ...settings,
  };
}

export function makeDynamo(settings: AwsSettings): DynamoDBClient {
  return new DynamoDBClient(configOf(settings));
}

/** Creates a client for what must not be done twice: it makes one attempt. */
export function makeOnceDynamo(settings: AwsSettings): DynamoDBClient {
  return new DynamoDBClient({ ...configOf(settings), maxAttempts: 1 });
}

export function makeKms(settings: AwsSettings): KMSClient {
  return new KMSClient(configOf(settings));
}

/** Creates an S3 client that computes no checksums and compares none of its own: objects are named by their SHA-256, which is sent and compared. */
export function makeS3(settings: AwsSettings): S3Client {
  return new S3Client({
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    ...configOf(settings, objectLimits),
  });
}

export function makeSqs(settings: AwsSettings): SQSClient {
  return new SQSClient(configOf(settings));
}

export function makeSsm(settings: AwsSettings): SSMClient {
  return new SSMClient(configOf(settings));
}
