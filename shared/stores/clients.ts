import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { KMSClient } from '@aws-sdk/client-kms';
import type { S3Client } from '@aws-sdk/client-s3';
import type { SSMClient } from '@aws-sdk/client-ssm';
import type { AwsSettings } from '#shared/runtime/runtime.ts';
import { makeDynamo, makeKms, makeS3, makeSsm } from './make-clients.ts';

export interface Clients {
  readonly dynamo: DynamoDBClient;
  readonly kms: KMSClient;
  readonly s3: S3Client;
  readonly ssm: SSMClient;
  readonly destroy: () => void;
}

/** A command may be far from the region, behind a proxy or on a slow line. */
export const clientLimits = { connectMs: 10_000, attemptMs: 60_000 };

/** Creates clients separate from those of the process: for code that calls several endpoints, or must reach only the given one. */
export function createClients(given: AwsSettings): Clients {
  const settings = { timeLimits: clientLimits, ...given };
  const clients = {
    dynamo: makeDynamo(settings),
    kms: makeKms(settings),
    s3: makeS3(settings),
    ssm: makeSsm(settings),
  };
  return {
    ...clients,
    destroy() {
      for (const client of Object.values(clients)) client.destroy();
    },
  };
}

/**
 * The clients of a command: one of each kind for the process, created when first needed. `shared/stage/access.ts` decides their credentials and
 * region; endpoints (local only) come from the environment. A function takes its clients from its runtime instead.
 */
let settings: AwsSettings = {};
let clients: Clients | undefined;

/** Replaces the settings of all clients and forgets existing ones. */
export function useSettings(given: AwsSettings): void {
  settings = given;
  clients = undefined;
}

const own = (): Clients => (clients ??= createClients(settings));
export const dynamo = (): DynamoDBClient => own().dynamo;
export const kms = (): KMSClient => own().kms;
export const s3 = (): S3Client => own().s3;
export const ssm = (): SSMClient => own().ssm;
