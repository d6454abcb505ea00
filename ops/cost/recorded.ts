import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { routes } from '#shared/contract/routes.ts';
import type { RecordedCall } from '#shared/scale/recorded.ts';

const count = z.number().int().nonnegative();

const recordedCall = z.strictObject({
  owners: count,
  ownersInSequence: count,
  reads: count,
  writes: count,
  kms: count,
  s3Gets: count,
  s3Puts: count,
  sqs: count,
  logBytes: count,
} satisfies Readonly<Record<keyof RecordedCall, z.ZodType<number>>>);

/** What AWS bills for a stage without traffic, by the unit. */
const idleUnits = [
  'KMS key month',
  'WAF web ACL month',
  'WAF rule month',
  'Secrets Manager secret month',
  'CloudWatch alarm month',
  'CloudWatch composite alarm month',
  'CloudWatch metric month',
  'CloudWatch dashboard month',
] as const;
export type IdleUnit = (typeof idleUnits)[number];

const recording = z.strictObject({
  calls: z.record(z.string(), recordedCall),
  /** Resources of the stage `prod` with every gate open that cost something without traffic. */
  resources: z.record(z.enum(idleUnits), count),
});
export type Recording = z.infer<typeof recording>;

/** What AWS bills for a call, by the unit. */
const callUnits = [
  'API Gateway request',
  'WAF request',
  'Lambda request',
  'Lambda GB-second (arm64)',
  'DynamoDB read unit',
  'DynamoDB write unit',
  'KMS request',
  'S3 GET',
  'S3 PUT',
  'SQS request',
  'CloudWatch Logs GB ingested',
  'X-Ray trace',
] as const;
export type CallUnit = (typeof callUnits)[number];

const price = z.number().nonnegative();

const priceList = z.strictObject({
  region: z.string(),
  currency: z.string(),
  asOf: z.iso.date(),
  source: z.string(),
  perUnit: z.record(z.enum([...callUnits, ...idleUnits]), price),
});
export type PriceList = z.infer<typeof priceList>;

/** Where tests write down what they saw (`UPDATE_RECORDED=1`), and compare it in every other run. */
export const recordedFile = join(import.meta.dirname, '../../shared/scale/recorded.json');
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
  const { success, data, error } = priceList.safeParse(
    JSON.parse(readFileSync(file, 'utf8').replace(/^\uFEFF/, '')),
  );
  if (!success) throw new Error(z.prettifyError(error));
  return data;
}

/** Returns the memory of an operation's function in MB. */
export function memoryOf(operationId: string): number {
  const row = routes.find((route) => route.operationId === operationId);
  if (row === undefined) throw new TypeError(`no route has the operation id ${operationId}`);
  return row.lambda.memoryMb;
}
