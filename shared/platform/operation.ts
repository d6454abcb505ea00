import type * as z from 'zod';
import type { Use } from './verdicts.ts';

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
  readonly success: readonly number[];
  readonly body: Body;
  readonly answer: Answer;
  /** What the owner answers where `answer` is only the part that the client looks at first. */
  readonly wholeAnswer?: z.ZodType;
  /** The status alone acknowledges: whatever body comes with it is not read. */
  readonly bodyIgnored?: true;
  /** What its answers are used for: with their kind it decides what they mean (`verdictOf`). */
  readonly uses: readonly Use[];
  /** The members of the answer that repeat a value of the call, each as `a.b`, by the name of that value in its path, query or body. */
  readonly echo: Readonly<Record<string, string>>;
  /** The JSON Pointer at which a caller's request names what is read first, where it does. */
  readonly namedAt?: `/body/${string}`;
  /** Whether the answer is a part of the pool's projection, whose defects have a problem of their own [MA-223]. */
  readonly isPool?: true;
  /** Whether the answer names its tenant, which must then equal the profile's. */
  readonly tenantInAnswer: boolean;
  readonly maxAnswerBytes: number;
  /** The rule that the client keeps beyond the schema, in one sentence for the contract page. */
  readonly rule: string;
  /** Of a bound operation: what the owner has not published and the client relies on, for the contract page. */
  readonly assumed?: string;
}

/** Bounds of an owner's answer, in bytes. */
const SMALL = 256 * 1024;
export const LARGE = 16 * 1024 * 1024;
/** A record with a quarter of a million evidence rows; what is beyond is refused for its number of rows, or here for its size. */
export const HUGE = 64 * 1024 * 1024;

/** What a row says of itself: its owner is the first part of its id, unless it names another one. */
type Stated = Partial<Omit<UpstreamOperation, 'method' | 'body'>> &
  Pick<UpstreamOperation, 'path' | 'status' | 'answer' | 'rule' | 'uses' | 'echo'> &
  ({ readonly id: `${UpstreamService}.${string}` } | Pick<UpstreamOperation, 'id' | 'service'>);

/** A row that says nothing else takes no query and answers in at most 256 KiB with its tenant's name. */
type Defaults = Pick<
  UpstreamOperation,
  'service' | 'query' | 'success' | 'tenantInAnswer' | 'maxAnswerBytes'
>;

function defaultsOf({ id }: Stated, success: readonly number[]): Defaults {
  // SAFETY: so begins the id of every row that does not name its owner.
  const service = id.split('.')[0] as UpstreamService;
  return { service, query: [], success, tenantInAnswer: true, maxAnswerBytes: SMALL };
}

/** A read that changes nothing. */
export function safeRead<const Row extends Stated>(
  row: Row,
): Defaults & Row & { readonly method: 'GET'; readonly body: undefined } {
  return { ...defaultsOf(row, [200]), ...row, method: 'GET', body: undefined };
}

/** A write whose repetition its owner recognises (Idempotency-Key, deterministic id). It succeeds with 200 and 201 unless its row names others. */
export function idempotentWrite<const Row extends Stated & { readonly body: z.ZodType }>(
  row: Row,
): Defaults & Row & { readonly method: 'POST' } {
  return { ...defaultsOf(row, [200, 201]), ...row, method: 'POST' };
}
