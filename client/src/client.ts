import { addressOf, checkedBaseUrl } from './address.ts';
import { CallError, ConnectionError, ProblemError, UnexpectedAnswerError } from './errors.ts';
import type { FailedCall, Problem } from './errors.ts';
import { masteryOperations } from './generated/mastery.ts';
import type { MasteryMethods } from './generated/mastery.ts';
import { reportsOperations } from './generated/reports.ts';
import type { ReportsMethods } from './generated/reports.ts';
import { sandboxOperations } from './generated/sandbox.ts';
import type { SandboxMethods } from './generated/sandbox.ts';
import type { Operation, OperationTable, Reply, RequestOptions } from './operations.ts';
import { pages } from './pages.ts';
import { createBackoff, defaultLimits, reasonOf, retryAfterOf, sleep as sleepFor } from './retry.ts';
import type { Sleep } from './retry.ts';

/** The request for which a token is needed. */
export interface TokenRequest {
  readonly operation: string;
  /** The scope that the operation needs. */
  readonly scope: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Returns the token of a request. The client calls it before every try, so cache the token and renew it shortly before it expires. */
export type TokenProvider = (request: TokenRequest) => string | Promise<string>;

/** A request that failed and is about to be repeated. */
export interface RetryEvent {
  readonly operation: string;
  readonly error: CallError;
  /** Milliseconds until the next try. */
  readonly wait: number;
}

export interface ClientOptions {
  /** Address of the service, without `/v1`. A mistake in it throws a `BaseUrlError`. */
  readonly baseUrl: string;
  /** A JWT of the platform's issuer, or a function that returns one. The sandbox needs none. */
  readonly token?: string | TokenProvider | undefined;
  /** The most retries of a request; default 4. */
  readonly maxRetries?: number | undefined;
  /** Milliseconds that the retries of a request may wait in total; default 70 000, since a rate limit asks for a minute. */
  readonly maxWaiting?: number | undefined;
  /** Milliseconds that one try may take; default 30 000, since a response takes at most 29 seconds. */
  readonly timeout?: number | undefined;
  /** Called before each wait for a retry. */
  readonly onRetry?: ((event: RetryEvent) => void) | undefined;
  /** Replaces the global `fetch`. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** Replaces timers and `Math.random`, for tests. */
  readonly sleep?: Sleep | undefined;
  readonly random?: (() => number) | undefined;
}

export type MasteryClient = MasteryMethods;
export type ReportsClient = ReportsMethods;
export type SandboxClient = SandboxMethods;

/** Creates a client of the mastery engine: adaptive runs, policies, calibrations and simulations. */
export function createMasteryClient(options: ClientOptions): MasteryClient {
  return createMethods('mastery', masteryOperations, options) as MasteryClient;
}

/** Creates a client of the reports service: reports of attempts, cohorts and forms, and improvement runs. */
export function createReportsClient(options: ClientOptions): ReportsClient {
  return createMethods('reports', reportsOperations, options) as ReportsClient;
}

/** Creates a client of the sandbox, which returns the same fixtures to every caller. It needs no token. */
export function createSandboxClient(options: ClientOptions): SandboxClient {
  return createMethods('reports', sandboxOperations, options) as SandboxClient;
}

type Input = Readonly<Record<string, unknown>>;
type AnyMethod = (input: Input, options?: RequestOptions) => Promise<Reply<unknown>>;

/**
 * Creates the methods of a table. `npm run docs` writes their interface from the same operations, so the callers' casts are safe.
 * @param service the service whose remedies apply; the sandbox has those of the reports service
 */
function createMethods(service: string, table: OperationTable, given: ClientOptions): unknown {
  const options = { ...given, baseUrl: checkedBaseUrl(given.baseUrl) };
  const methods: Record<string, AnyMethod | ((...input: Parameters<AnyMethod>) => AsyncGenerator)> = {};
  for (const [name, operation] of Object.entries(table)) {
    const method: AnyMethod = (input, request = {}) =>
      call(service, name, operation, options, input, request);
    methods[name] = method;
    if (operation.iterate === undefined) continue;
    methods[operation.iterate] = async function* rows(input, request): AsyncGenerator {
      // SAFETY: the generator names `iterate` only for operations whose responses are pages.
      const list = method as Parameters<typeof pages>[0];
      for await (const { data } of pages(list, input, request)) yield* data.data;
    };
  }
  return methods;
}

type Failure = ConnectionError | ProblemError | UnexpectedAnswerError;

/** One request as sent at every try: the same address, key and bytes. */
interface Prepared {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

const TIMEOUT_MILLISECONDS = 30_000;

async function call(
  service: string,
  name: string,
  operation: Operation,
  client: ClientOptions,
  input: Input,
  request: RequestOptions,
): Promise<Reply<unknown>> {
  const { signal } = request;
  const idempotencyKey = operation.idempotencyKey
    ? (request.idempotencyKey ?? crypto.randomUUID())
    : undefined;
  const failed: FailedCall = { service, operation: name, baseUrl: client.baseUrl, idempotencyKey };
  const prepared = prepare(operation, client.baseUrl, input, request, idempotencyKey);
  const nextWait = createBackoff({
    maxWaiting: client.maxWaiting ?? defaultLimits.maxWaiting,
    maxRetries: request.maxRetries ?? client.maxRetries ?? defaultLimits.maxRetries,
    random: client.random ?? Math.random,
  });
  let token = await tokenOf(name, operation, client, request);
  for (let isRenewed = false; ;) {
    if (signal?.aborted === true) throw reasonOf(signal);
    const answer = await attempt(failed, operation, prepared, token, client, request);
    if (!(answer instanceof CallError)) return answer;
    if (answer instanceof ProblemError && answer.status === 401 && !isRenewed) {
      // The token may have expired on the way; the provider may have a new one.
      isRenewed = true;
      const refused = token;
      token = await tokenOf(name, operation, client, request);
      if (token !== refused) continue;
    }
    const wait = mayRepeat(answer, operation)
      ? nextWait(answer instanceof ConnectionError ? undefined : answer.retryAfter)
      : undefined;
    if (wait === undefined) throw answer;
    client.onRetry?.({ operation: name, error: answer, wait });
    await (client.sleep ?? sleepFor)(wait, signal);
    token = await tokenOf(name, operation, client, request);
  }
}

function prepare(
  operation: Operation,
  baseUrl: string,
  input: Input,
  { traceparent }: RequestOptions,
  idempotencyKey: string | undefined,
): Prepared {
  const { ifMatch, ...members } = input;
  const isBody = (name: string): boolean =>
    !operation.query.includes(name) && !operation.path.includes(`{${name}}`);
  const query = operation.query.flatMap((name): [string, string][] => {
    const value = members[name];
    return value === undefined ? [] : [[name, typeof value === 'string' ? value : JSON.stringify(value)]];
  });
  const body = Object.entries(members).filter(([name]) => isBody(name));
  return {
    url: addressOf(baseUrl, operation.path, members, Object.fromEntries(query)),
    headers: {
      Accept: 'application/json, application/problem+json',
      ...(operation.hasBody ? { 'Content-Type': 'application/json' } : {}),
      ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
      ...(typeof ifMatch === 'string' ? { 'If-Match': ifMatch } : {}),
      ...(traceparent === undefined ? {} : { traceparent }),
    },
    body: operation.hasBody ? JSON.stringify(Object.fromEntries(body)) : undefined,
  };
}

async function tokenOf(
  name: string,
  { scope }: Operation,
  { token }: ClientOptions,
  request: RequestOptions,
): Promise<string | undefined> {
  if (request.token !== undefined) return request.token;
  return typeof token === 'function' ? token({ operation: name, scope, signal: request.signal }) : token;
}

/** Sends a request once. Throws only the caller's own abort. */
async function attempt(
  failed: FailedCall,
  operation: Operation,
  { url, headers, body }: Prepared,
  token: string | undefined,
  client: ClientOptions,
  request: RequestOptions,
): Promise<Reply<unknown> | Failure> {
  const timeout = request.timeout ?? client.timeout ?? TIMEOUT_MILLISECONDS;
  const limit = AbortSignal.timeout(timeout);
  const { signal } = request;
  // Browsers reject a `fetch` that is called as a method of another object.
  const { fetch = globalThis.fetch } = client;
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, {
      method: operation.method,
      headers: { ...headers, ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }) },
      ...(body === undefined ? {} : { body }),
      redirect: 'error',
      signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
    });
    text = await response.text();
  } catch (error) {
    if (signal?.aborted === true) throw reasonOf(signal);
    return new ConnectionError(
      failed,
      limit.aborted ? `none within ${timeout / 1000} s` : messageOf(error),
      error,
    );
  }
  return readAnswer(failed, operation, response, text);
}

function readAnswer(
  failed: FailedCall,
  { hasEtag }: Operation,
  { status, ok, headers }: Response,
  text: string,
): Reply<unknown> | Failure {
  const retryAfter = retryAfterOf(headers);
  const unexpected = (what: string): Failure =>
    new UnexpectedAnswerError(failed, status, what, text, retryAfter);
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    return unexpected(/^\s*</.test(text) ? 'is a web page, not the JSON of the service' : 'is not JSON');
  }
  if (typeof data !== 'object' || data === null) return unexpected('is not a JSON object');
  if (!ok) {
    return isProblem(data) && data.status === status
      ? new ProblemError(failed, data, retryAfter)
      : unexpected('is no problem document');
  }
  const etag = headers.get('etag') ?? undefined;
  if (hasEtag && etag === undefined)
    return unexpected(
      'has no ETag (a browser sees it only if the service exposes the header to your origin)',
    );
  return {
    data,
    status,
    headers,
    etag,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfter,
    replayed: headers.get('idempotent-replayed') === 'true',
    idempotencyKey: failed.idempotencyKey,
  };
}

function isProblem(value: unknown): value is Problem {
  if (typeof value !== 'object' || value === null) return false;
  const { type, status, detail, requestId, retryable } = value as Partial<Record<keyof Problem, unknown>>;
  return (
    typeof type === 'string' &&
    typeof status === 'number' &&
    typeof detail === 'string' &&
    typeof requestId === 'string' &&
    typeof retryable === 'boolean'
  );
}

/** Returns whether the same bytes may be sent again: reads, writes that have a key, and what a rate limit kept from the service. */
function mayRepeat(error: Failure, { method, idempotencyKey }: Operation): boolean {
  if (!(error instanceof ConnectionError) && error.status === 429) return true;
  if (method !== 'GET' && !idempotencyKey) return false;
  if (error instanceof UnexpectedAnswerError) return error.status >= 500;
  if (error instanceof ConnectionError) return true;
  // A stale tag stays stale. A finalization that no owner will accept has no `Retry-After`: the run has to be inspected first.
  if (error.status === 412) return false;
  if (error.code === 'finalization-incomplete' && error.retryAfter === undefined) return false;
  return error.retryable;
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // The message of Node's `fetch` is only "fetch failed"; the cause has the reason.
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
