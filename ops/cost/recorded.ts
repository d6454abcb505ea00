import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { routes } from '#shared/contract/routes.ts';

const count = z.number().int().nonnegative();

/** What one warm call of a route was seen to use. */
const recordedCall = z.strictObject({
  /** Calls of owners, and how many of them come one after another. */
  owners: count,
  ownersInSequence: count,
  /** Requests to DynamoDB. */
  reads: count,
  writes: count,
  kms: count,
  s3Gets: count,
  s3Puts: count,
  sqs: count,
  /** Bytes of the function's own log lines at the level `info`, rounded up to 100. */
  logBytes: count,
});
export type RecordedCall = z.infer<typeof recordedCall>;

const recording = z.strictObject({
  calls: z.record(z.string(), recordedCall),
  /** Resources of the stage `prod` with every gate open that cost something without traffic. */
  resources: z.strictObject({
    'KMS key month': count,
    'WAF web ACL month': count,
    'WAF rule month': count,
    'CloudWatch alarm month': count,
    'CloudWatch dashboard month': count,
  }),
});
export type Recording = z.infer<typeof recording>;

const priceList = z.strictObject({
  region: z.string(),
  currency: z.string(),
  asOf: z.iso.date(),
  source: z.string(),
  perUnit: z.record(z.string(), z.number().nonnegative()),
});
export type PriceList = z.infer<typeof priceList>;

/** Where tests write down what they saw (`UPDATE_RECORDED=1`), and compare it in every other run. */
export const recordedFile = join(import.meta.dirname, 'recorded.json');
export const pricesFile = join(import.meta.dirname, 'prices.json');

/** Reads what was recorded. */
export function readRecording(): Recording {
  return recording.parse(JSON.parse(readFileSync(recordedFile, 'utf8')));
}

/**
 * Reads a price list.
 * @throws {Error} when the file cannot be read or is no price list
 */
export function readPrices(file: string = pricesFile): PriceList {
  return priceList.parse(JSON.parse(readFileSync(file, 'utf8')));
}

/** Returns what was recorded of a call, with the memory of its function in MB. */
export function callOf(
  { calls }: Pick<Recording, 'calls'>,
  operationId: string,
): RecordedCall & { readonly memoryMb: number } {
  const call = calls[operationId];
  const row = routes.find((route) => route.operationId === operationId);
  if (call === undefined || row === undefined)
    throw new TypeError(`nothing is recorded of ${operationId}: run test/contract/cost.test.ts`);
  return { ...call, memoryMb: row.lambda.memoryMb };
}
