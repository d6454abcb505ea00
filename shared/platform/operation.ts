import type * as z from 'zod';
import type { UpstreamService } from '#shared/contract/owners.ts';
import type { Use } from './verdicts.ts';

/**
 * One upstream operation: clients, receipts, the contract page and the platform emulator read this row. `bound`: the owner publishes it. `gap`: the
 * owner has not published it; path and shapes are assumed and requested as a capability.
 */
export interface UpstreamOperation<
  Answer extends z.ZodType = z.ZodType,
  Body extends z.ZodType | undefined = z.ZodType | undefined,
> {
  readonly id: string;
  readonly service: UpstreamService;
  readonly method: 'GET' | 'POST';
  /** The path below the platform's base URL; `{name}` is one percent-encoded segment. */
  readonly path: string;
  /** The query parameters of every call. */
  readonly query: readonly string[];
  /** Query parameters that a call may omit. They follow the others. */
  readonly optionalQuery?: readonly string[];
  readonly status: 'bound' | 'gap';
  readonly success: readonly number[];
  readonly body: Body;
  readonly answer: Answer;
  /** The whole answer, if `answer` is only the part that the client reads first. */
  readonly wholeAnswer?: z.ZodType;
  /** The status is the acknowledgement: the body is not read. */
  readonly bodyIgnored?: true;
  /** The purposes of its answers: with the kind of an answer they decide its meaning (`verdicts`). */
  readonly uses: readonly Use[];
  /** The members of the answer (`a.b`) that repeat a value of the call, by the name of that value in its path, query or body. */
  readonly echo: Readonly<Record<string, string>>;
  /** The JSON Pointer to the id in the caller's request that is read first, if there is one. */
  readonly namedAt?: `/body/${string}`;
  /** Whether the answer is a part of the pool's projection, whose defects have a problem of their own [MA-223]. */
  readonly isPool?: true;
  /** Whether the answer names its tenant, which must then equal the profile's. */
  readonly tenantInAnswer: boolean;
  readonly maxAnswerBytes: number;
  /** The rule that the client checks in addition to the schema, in one sentence for the contract page. */
  readonly rule: string;
  /** An unpublished property of a bound operation that the client relies on, for the contract page. */
  readonly assumed?: string;
}

/** Limits of an answer, in bytes. */
const SMALL = 256 * 1024;
export const LARGE = 16 * 1024 * 1024;
/** A record with a quarter of a million evidence rows. A larger one is refused for its number of rows, or here for its size. */
export const HUGE = 64 * 1024 * 1024;

/** What a row states. Its owner is the first part of its id, unless it names another one. */
type Stated = Partial<Omit<UpstreamOperation, 'method' | 'body'>> &
  Pick<UpstreamOperation, 'path' | 'answer' | 'rule'> &
  ({ readonly id: `${UpstreamService}.${string}` } | Pick<UpstreamOperation, 'id' | 'service'>);

/** The members that a row may leave out: by default it is assumed, takes no query, and answers in at most 256 KiB that name their tenant. */
type Defaults = Pick<
  UpstreamOperation,
  'service' | 'status' | 'query' | 'success' | 'tenantInAnswer' | 'maxAnswerBytes'
>;

function defaultsOf({ id }: Stated, success: readonly number[]): Defaults {
  // SAFETY: the id of a row that does not name its owner begins with the owner.
  const service = id.split('.')[0] as UpstreamService;
  return { service, status: 'gap', query: [], success, tenantInAnswer: true, maxAnswerBytes: SMALL };
}

type Read<Row, Uses> = Defaults &
  Pick<UpstreamOperation, 'echo'> &
  Row & { readonly uses: Uses; readonly method: 'GET'; readonly body: undefined };

/**
 * Returns the function that completes the row of a read for these uses. By default, the answer repeats the identifiers of the path under their names,
 * except the tenant's, which is compared anyway.
 */
export function readFor<const Uses extends readonly Use[]>(
  ...uses: Uses
): <const Row extends Stated>(row: Row) => Read<Row, Uses> {
  return (row) => {
    const names = [...row.path.matchAll(/\{(?!tenantId\})(\w+)\}/g)].map(([, name = '']) => name);
    const echo = Object.fromEntries(names.map((name) => [name, name]));
    return { ...defaultsOf(row, [200]), echo, ...row, uses, method: 'GET', body: undefined };
  };
}
/** Completes the row of a read for a report. */
export const reportRead = readFor('report');
/** Completes the row of a read for the start of a run, which every later step repeats. */
export const runRead = readFor('start', 'run');

/** Completes the row of a write whose repetition its owner recognizes (Idempotency-Key, deterministic id). By default, it succeeds with 200 or 201. */
export function idempotentWrite<
  const Row extends Stated & Pick<UpstreamOperation, 'uses' | 'echo'> & { readonly body: z.ZodType },
>(row: Row): Defaults & Row & { readonly method: 'POST' } {
  return { ...defaultsOf(row, [200, 201]), ...row, method: 'POST' };
}
