import type * as z from 'zod';
import { reportsProblem } from '#shared/contract/reports/problem.ts';
import type { ReportsProblem } from '#shared/contract/reports/problem.ts';
import type { Route } from '#shared/contract/route.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { repeat, retryAfterOf } from './repeat.ts';
import type { Attempted } from './repeat.ts';

/**
 * Why there is no answer. `closed`: the service does not have the route, whose gates are closed; `unexpected`: an answer that breaks the
 * contract; `unreachable`: no whole answer at all.
 */
export type CallFailure =
  | { readonly kind: 'problem'; readonly problem: ReportsProblem }
  | { readonly kind: 'closed'; readonly route: ClosedRoute }
  | { readonly kind: 'unreachable' | 'unexpected'; readonly message: string };

/** What the failure says of a route that is not there. */
export type ClosedRoute = Pick<Route, 'summary' | 'gates'>;

/** What a request is allowed to do. */
export interface Permission {
  readonly scope: Route['scope'];
  readonly administrationIds: readonly string[];
}

export interface CallOptions {
  /** Base URL of the reports service, without `/v1`. */
  readonly reportsUrl: string;
  /** The Bearer token of each request. */
  readonly token: (permission: Permission) => Promise<string>;
  /** The Idempotency-Key of a write, which its repetitions keep. */
  readonly newKey: () => string;
  readonly fetch: typeof globalThis.fetch;
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** In [0, 1). */
  readonly random: () => number;
  readonly onRetry?: (why: CallFailure, waitMilliseconds: number) => void;
}

/** One request of a route. */
export interface Asked<Answer extends z.ZodType> {
  readonly route: Pick<Route, 'scope' | 'summary' | 'gates' | 'method' | 'path'> & {
    readonly success: { readonly schema: Answer };
  };
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** That the token has to name. */
  readonly administrationIds?: readonly string[];
  /** Of a write. */
  readonly idempotencyKey?: string;
  readonly body?: object;
}

/**
 * Sends requests to the reports service. Reads are safe, and a write keeps its key, so each is repeated as its problem and `Retry-After` say,
 * within bounds.
 */
export type Ask = <Answer extends z.ZodType>(
  asked: Asked<Answer>,
) => Promise<Result<z.output<Answer>, CallFailure>>;

/** Longer than any answer of the gateway may take. */
const TIMEOUT_MILLISECONDS = 35_000;

export function createCalls(options: CallOptions): Ask {
  const { sleep, random } = options;

  async function send(asked: Asked<z.ZodType>, headers: Readonly<Record<string, string>>): Promise<Answer> {
    const { route, idempotencyKey, body } = asked;
    const response = await options.fetch(urlOf(options.reportsUrl, asked), {
      method: route.method,
      headers: {
        ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  /** Whether the route is there: where it is, a request without a token is refused as such. */
  async function isServed(asked: Asked<z.ZodType>): Promise<boolean> {
    return (await send(asked, {})).status === 401;
  }

  async function once<Schema extends z.ZodType>(
    asked: Asked<Schema>,
  ): Promise<Result<z.output<Schema>, Attempted<CallFailure>>> {
    try {
      const { route, administrationIds = [] } = asked;
      const token = await options.token({ scope: route.scope, administrationIds });
      const answer = await send(asked, { Authorization: `Bearer ${token}` });
      const read = readAnswer(answer, route.success.schema);
      if (read.ok || !isNotFound(read.error.failure)) return read;
      // An absent route and a hidden resource answer alike.
      return (await isServed(asked)) ? read : err(attempted({ kind: 'closed', route }));
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return err(attempted({ kind: 'unreachable', message }));
    }
  }

  return (asked) =>
    repeat(() => once(asked), {
      sleep,
      random,
      onRetry: (why, waitMilliseconds) => options.onRetry?.(why, waitMilliseconds),
    });
}

/** The address of a route below a service's base URL, its path parameters encoded. */
export function urlOf(
  serviceUrl: string,
  {
    route,
    path = {},
    query = {},
  }: {
    readonly route: Pick<Route, 'path'>;
    readonly path?: Readonly<Record<string, string>>;
    readonly query?: Readonly<Record<string, string>>;
  },
): string {
  const filled = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(path[name] ?? ''),
  );
  const search = new URLSearchParams(query).toString();
  return `${serviceUrl}${filled}${search === '' ? '' : `?${search}`}`;
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

function attempted(failure: CallFailure, retryAfterSeconds?: number): Attempted<CallFailure> {
  const mayRepeat =
    failure.kind === 'unreachable' || (failure.kind === 'problem' && failure.problem.retryable);
  return { failure, mayRepeat, retryAfterSeconds };
}

function readAnswer<Schema extends z.ZodType>(
  { status, headers, text }: Answer,
  schema: Schema,
): Result<z.output<Schema>, Attempted<CallFailure>> {
  const unexpected = (message: string): Result<never, Attempted<CallFailure>> =>
    err(attempted({ kind: 'unexpected', message: `the answer with status ${status} ${message}` }));
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return unexpected('is not JSON');
  }
  if (status !== 200) {
    const problem = reportsProblem.safeParse(json);
    if (!problem.success || problem.data.status !== status) return unexpected('is no problem document');
    return err(attempted({ kind: 'problem', problem: problem.data }, retryAfterOf(headers)));
  }
  const body = schema.safeParse(json);
  if (body.success) return ok(body.data);
  const [issue] = body.error.issues;
  return unexpected(`breaks the contract at /${issue?.path.join('/') ?? ''}: ${issue?.message ?? ''}`);
}

/** What a problem is called: the last segment of its `type`. */
function codeOf({ type }: ReportsProblem): string {
  return new URL(type).pathname.split('/').at(-1) ?? '';
}

function isNotFound(failure: CallFailure): boolean {
  return failure.kind === 'problem' && codeOf(failure.problem) === 'not-found';
}

/** One sentence for a person. */
export function describeCallFailure(failure: CallFailure): string {
  switch (failure.kind) {
    case 'unreachable':
      return `no answer from the reports service (${failure.message})`;
    case 'unexpected':
      return failure.message;
    case 'closed':
      return `this stack does not serve "${failure.route.summary}": not all of its gates ${failure.route.gates.join(', ')} are open (npm start without --gates opens every gate)`;
    case 'problem': {
      const { status, detail, dependency, requestId } = failure.problem;
      const owner = dependency === null ? '' : ` [${dependency}]`;
      return `${status} ${codeOf(failure.problem)}: ${detail}${owner} (request ${requestId})`;
    }
  }
}
