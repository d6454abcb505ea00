import * as z from 'zod';
import { err, type Result } from '#shared/kernel/result.ts';
import type { Need } from './policy.ts';

/** An error as the AWS JSON protocols carry it; `extra` members are next to `__type` and `message` in the body. */
export interface AwsError {
  readonly status: number;
  readonly type: string;
  readonly message: string;
  readonly extra?: Readonly<Record<string, unknown>>;
}

export type AwsAnswer = Result<object, AwsError>;
export type Refusal = Extract<AwsAnswer, { readonly ok: false }>;

/** The caller of an operation, by the access key that signed the request. */
export interface Caller {
  /** Returns the refusal of the first of these that the caller may not do; all others count as done. */
  readonly authorize: (needs: readonly Need[]) => Refusal | undefined;
  /** Returns whether the caller may do this, without doing it. */
  readonly may: (need: Need) => boolean;
}

/** A caller that no policy restricts. */
export const unrestricted: Caller = { authorize: () => undefined, may: () => true };

/** One operation of one service: the parsed request body in, the response body or an error out. Everything else is wire. */
export type AwsOperation = (
  input: Readonly<Record<string, unknown>>,
  caller: Pick<Caller, 'authorize'>,
) => Promise<AwsAnswer>;

export type AwsServiceName =
  | 'acm'
  | 'apigateway'
  | 'cloudformation'
  | 'dynamodb'
  | 'iam'
  | 'kms'
  | 'lambda'
  | 's3'
  | 'sns'
  | 'sqs'
  | 'ssm'
  | 'sts';

export interface AwsService {
  readonly name: 'dynamodb' | 'kms' | 'sqs' | 'ssm';
  /** The part of `X-Amz-Target` before the dot. */
  readonly targetPrefix: string;
  /** DynamoDB and SQS speak AWS JSON 1.0; KMS and Systems Manager speak 1.1. */
  readonly contentType: 'application/x-amz-json-1.0' | 'application/x-amz-json-1.1';
  readonly operations: ReadonlyMap<string, AwsOperation>;
  readonly snapshot: () => Restore | Promise<Restore>;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  /** The response never ends. */
  readonly stalls?: boolean;
}

/** Brings back what a part held when it made its snapshot. */
export type Restore = () => void | Promise<void>;

/** A snapshot of a map whose values are never changed in place. */
export function snapshotOf<K, V>(map: Map<K, V>): Restore {
  const kept = [...map];
  return () => {
    map.clear();
    for (const [key, value] of kept) map.set(key, value);
  };
}

/** Joins what parts of a service held. */
export function restoreAll(restores: readonly Restore[]): Restore {
  return () => {
    for (const restore of restores) void restore();
  };
}

/** A refusal of the service, status 400. */
export function refuse(type: string, message: string, extra?: Readonly<Record<string, unknown>>): Refusal {
  return err({ status: 400, type, message, ...(extra === undefined ? {} : { extra }) });
}

/** What this emulator does not do is refused loudly: a silent no-op here would be a surprise in production. */
export function notCovered(what: string): Refusal {
  return refuse('UnknownOperationException', `${what} is not covered by the local AWS emulator`);
}

/**
 * An operation whose input is checked first: strict schemas refuse, by name, what the emulator would otherwise have to ignore.
 * @param needs what its caller must be allowed to do
 */
export function operation<S extends z.ZodType>(
  schema: S,
  needs: (input: z.output<S>) => readonly Need[],
  work: (input: z.output<S>) => AwsAnswer | Promise<AwsAnswer>,
): AwsOperation {
  return (input, caller) => {
    const parsed = schema.safeParse(input);
    const answer = parsed.success
      ? (caller.authorize(needs(parsed.data)) ?? work(parsed.data))
      : refuse('ValidationException', z.prettifyError(parsed.error));
    return Promise.resolve(answer);
  };
}
