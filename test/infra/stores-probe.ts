import { s3, sqs } from '#shared/stores/clients.ts';
import { createImprovementQueue } from '#shared/stores/improvement-queue.ts';
import { createReceiptBucket } from '#shared/stores/receipt-bucket.ts';
import type { Bundle } from '#shared/improvement/receipts.ts';

/** Stands for a worker in the tests of the bundler: says what S3 and SQS answered, also to what they refuse. */
export async function handler(places: {
  readonly bucket: string;
  readonly queueUrl: string;
  readonly bundle: Bundle;
}): Promise<object> {
  const { bucket, queueUrl, bundle } = places;
  const receipts = createReceiptBucket(s3(), bucket);
  await receipts.put('tenant', bundle);
  await receipts.put('tenant', bundle);
  const run = { tenantId: 'tenant', improvementRunId: 'run_1' };
  await createImprovementQueue(sqs(), queueUrl).send(run);
  return {
    read: Buffer.from((await receipts.get('tenant', bundle.sha256)) ?? []).toString(),
    absent: (await receipts.get('other', bundle.sha256)) === undefined,
    noBucket: await nameOf(createReceiptBucket(s3(), 'none').get('tenant', bundle.sha256)),
    noQueue: await nameOf(createImprovementQueue(sqs(), `${queueUrl}-none`).send(run)),
  };
}

async function nameOf(refused: Promise<unknown>): Promise<unknown> {
  try {
    await refused;
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.name : error;
  }
}
