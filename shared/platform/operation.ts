import type * as z from 'zod';

/** The owners of facts, as problem documents and receipts name them. */
export type UpstreamService =
  | 'bank'
  | 'content'
  | 'qti'
  | 'case'
  | 'results'
  | 'caliper'
  | 'anchor'
  | 'oneroster'
  | 'analytics'
  | 'administration'
  | 'blueprint';

/**
 * Why a failed call may be repeated: a `safe-read` changes nothing; of an `idempotent-write` the owner recognises the repetition
 * (Idempotency-Key, deterministic id). An operation that is neither has no row: the client repeats every call that was not answered. Only of a
 * `safe-read` it also repeats a malformed answer.
 */
export type RetryClass = 'safe-read' | 'idempotent-write';

/**
 * One upstream operation: clients, receipts, the contract page and the platform emulator read this row.
 * `bound`: the owner publishes it. `gap`: the owner has not published it; path and shapes are assumed and asked for as a capability.
 */
export interface UpstreamOperation<
  Answer extends z.ZodType = z.ZodType,
  Body extends z.ZodType | undefined = z.ZodType | undefined,
> {
  readonly id: string;
  readonly service: UpstreamService;
  readonly method: 'GET' | 'POST';
  /** Path below the platform's base URL; `{name}` is one percent-encoded segment. */
  readonly path: string;
  /** Query names that every call gives. */
  readonly query: readonly string[];
  /** Query names that a call may leave out; they stand behind the demanded ones, each list in its own order. */
  readonly optionalQuery?: readonly string[];
  readonly status: 'bound' | 'gap';
  readonly retry: RetryClass;
  readonly success: readonly number[];
  readonly body: Body;
  readonly answer: Answer;
  /** What the owner answers where `answer` is only the part that the client looks at first. */
  readonly wholeAnswer?: z.ZodType;
  /** The status alone acknowledges: whatever body comes with it is not read. */
  readonly bodyIgnored?: true;
  /** Whether the answer names its tenant, which must then equal the profile's. */
  readonly tenantInAnswer: boolean;
  readonly maxAnswerBytes: number;
  /** The rule that the client keeps beyond the schema, in one sentence for the contract page. */
  readonly rule: string;
  /** Of a bound operation: what the owner has not published and the client relies on, for the contract page. */
  readonly assumed?: string;
}

/** Bounds of an owner's answer, in bytes. */
export const SMALL = 256 * 1024;
export const LARGE = 16 * 1024 * 1024;
/** A record with a quarter of a million evidence rows; what is beyond is refused for its number of rows, or here for its size. */
export const HUGE = 64 * 1024 * 1024;
