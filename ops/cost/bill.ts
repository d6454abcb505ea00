import { callOf } from '#shared/scale/recorded.ts';
import { logBytesOf, SCHOOL_SECONDS, sharesOf, sumOf, type Traffic } from '#shared/scale/traffic.ts';
import { memoryOf, type CallUnit, type IdleUnit, type PriceList, type Recording } from './recorded.ts';

/** One line of a month's bill. */
export interface BillLine {
  /** The unit, as the price list names it. */
  readonly unit: CallUnit | IdleUnit;
  readonly quantity: number;
  /** In the currency of the price list. */
  readonly cost: number;
  /** It is paid without any traffic. */
  readonly isIdle: boolean;
}

const GB = 1e9;
/** X-Ray's default rule traces the first request of each second and 5 % of the others. */
const TRACED = 0.05;

/**
 * Computes a month's bill of a stage, of the units that AWS bills for the recorded calls. Left out, since each is small or not of the calls: storage,
 * backups, the transfer of responses, the metrics of API Gateway per method, the documentation site, and what background functions and the tables' background
 * reads use.
 */
export function billOf(traffic: Traffic, recording: Recording, prices: PriceList): readonly BillLine[] {
  const shares = sharesOf(traffic, recording);
  const total = (of: (call: ReturnType<typeof callOf>) => number): number =>
    sumOf(shares, ({ operationId, perMonth }) => perMonth * of(callOf(recording, operationId)));
  const calls = total(() => 1);
  const first = Math.min(calls, SCHOOL_SECONDS);
  const seconds = sumOf(
    shares,
    ({ operationId, perMonth, milliseconds }) =>
      (perMonth * milliseconds * memoryOf(operationId)) / 1_024 / 1_000,
  );
  const used: Readonly<Record<CallUnit, number>> = {
    'API Gateway request': calls,
    'WAF request': calls,
    'Lambda request': calls,
    'Lambda GB-second (arm64)': seconds,
    'DynamoDB read unit': total(({ reads }) => reads),
    'DynamoDB write unit': total(({ writes }) => writes),
    'KMS request': total(({ kms }) => kms),
    'S3 GET': total(({ s3Gets }) => s3Gets),
    'S3 PUT': total(({ s3Puts }) => s3Puts),
    'SQS request': total(({ sqs }) => sqs),
    'CloudWatch Logs GB ingested': logBytesOf(traffic, recording) / GB,
    'X-Ray trace': first + TRACED * (calls - first),
  };
  const quantities = { ...recording.resources, ...used };
  // SAFETY: the keys of the line above.
  return (Object.keys(quantities) as (keyof typeof quantities)[]).map((unit) => ({
    unit,
    quantity: quantities[unit],
    cost: quantities[unit] * prices.perUnit[unit],
    isIdle: unit in recording.resources,
  }));
}
