import recorded from './recorded.json' with { type: 'json' };

/** What one warm call of a route was seen to use. */
export interface RecordedCall {
  /** Calls of owners, and how many of them come one after another. */
  readonly owners: number;
  readonly ownersInSequence: number;
  /** Requests to DynamoDB. */
  readonly reads: number;
  readonly writes: number;
  readonly kms: number;
  readonly s3Gets: number;
  readonly s3Puts: number;
  readonly sqs: number;
  /** Bytes of the function's own log lines at the level `info`, rounded up to 100. */
  readonly logBytes: number;
}

/** By operation id. */
export interface RecordedCalls {
  readonly calls: Readonly<Record<string, RecordedCall>>;
}

/** What tests saw (`UPDATE_RECORDED=1` writes it down anew). */
export const recordedCalls: RecordedCalls = recorded;

/** Returns what was recorded of a call. */
export function callOf({ calls }: RecordedCalls, operationId: string): RecordedCall {
  const call = calls[operationId];
  if (call === undefined)
    throw new TypeError(`nothing is recorded of ${operationId}: run test/contract/cost.test.ts`);
  return call;
}
