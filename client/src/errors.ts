import { remedies } from './generated/problems.ts';
import type { ProblemCode } from './generated/problems.ts';
import type { OtherValue } from './operations.ts';

/** The base of every error of this package. Errors of the caller's own callbacks, and the reason of an aborted signal, pass through unchanged. */
export class MasteryReportsError extends Error {
  override name = 'MasteryReportsError';
}

/** A client was created with a `baseUrl` that cannot be right. The message contains what to do. */
export class BaseUrlError extends MasteryReportsError {
  override name = 'BaseUrlError';
  readonly reason:
    | 'empty'
    | 'not-a-url'
    | 'scheme'
    | 'credentials'
    | 'insecure'
    | 'query'
    | 'version'
    | 'stage';
  constructor(reason: BaseUrlError['reason'], what: string) {
    super(`\`baseUrl\` ${what}.`);
    this.reason = reason;
  }
}

/** The common members of a failed call: its operation, and the key with which the same write can be repeated. */
export interface FailedCall {
  readonly service: string;
  readonly operation: string;
  readonly baseUrl: string;
  /** The key of a write: send the same input with it to repeat the same write. */
  readonly idempotencyKey: string | undefined;
}

/** A call that failed after all of its retries. */
export class CallError extends MasteryReportsError {
  override name = 'CallError';
  readonly operation: string;
  readonly idempotencyKey: string | undefined;
  constructor({ operation, idempotencyKey }: FailedCall, message: string, options?: ErrorOptions) {
    super(message, options);
    this.operation = operation;
    this.idempotencyKey = idempotencyKey;
  }
}

/** A problem document (RFC 9457) of either service. Members that only one service sends are optional. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance: string;
  readonly requestId: string;
  readonly retryable: boolean;
  /** Mastery engine: the code itself. Reports service: the last segment of `type` is the code. */
  readonly code?: string;
  /** Mastery engine. */
  readonly invalidParams?: readonly {
    readonly name: string;
    readonly reason: string;
    readonly message: string;
  }[];
  /** Mastery engine, 412: the current entity tag. */
  readonly currentEtag?: string;
  /** Mastery engine: the owner's operation that failed. */
  readonly upstream?: { readonly service: string; readonly operation: string; readonly requestId?: string };
  /** Mastery engine: names the trace of the owners' data that was read. */
  readonly receiptId?: string;
  /** Reports service. */
  readonly traceId?: string;
  /** Reports service: the owner that is unavailable, incomplete or contradicts another one. */
  readonly dependency?: string | null;
  /** Reports service. */
  readonly fieldErrors?:
    | readonly { readonly pointer: string; readonly code: string; readonly message: string }[]
    | null;
  /** Reports service: the operation for which the key of a write was used. */
  readonly operationId?: string | null;
}

/**
 * The service rejected a request, or failed, and returned the reason. Branch on `code` (and on `status` for `stream-conflict`), never on texts.
 * @example
 * catch (error) {
 *   if (error instanceof ProblemError && error.code === 'not-found') return undefined;
 *   throw error;
 * }
 */
export class ProblemError extends CallError {
  override name = 'ProblemError';
  readonly status: number;
  readonly code: ProblemCode | OtherValue;
  /** Whether the identical request may succeed later. The client has repeated it already, within its bounds. */
  readonly retryable: boolean;
  /** Seconds to wait before the identical request, if the service states them. */
  readonly retryAfter: number | undefined;
  /** For support: the server's id of the request. */
  readonly requestId: string;
  readonly traceId: string | undefined;
  readonly receiptId: string | undefined;
  /** The whole document, including members that this version of the client does not know. */
  readonly problem: Problem;
  /** What to do about it, in a sentence or two. */
  readonly remedy: string;

  constructor(call: FailedCall, problem: Problem, retryAfter: number | undefined) {
    const code =
      problem.code ??
      problem.type
        .replace(/[?#].*/s, '')
        .split('/')
        .at(-1) ??
      '';
    const remedy =
      remedies[`${call.service} ${problem.status} ${code}`] ??
      (problem.retryable
        ? 'Repeat the identical request later, with the same Idempotency-Key.'
        : `Read ${problem.type} and correct the request.`);
    super(call, describe(call, problem, code, remedy));
    this.status = problem.status;
    this.code = code;
    this.retryable = problem.retryable;
    this.retryAfter = retryAfter;
    this.requestId = problem.requestId;
    this.traceId = problem.traceId;
    this.receiptId = problem.receiptId;
    this.problem = problem;
    this.remedy = remedy;
  }
}

function describe(
  { operation, baseUrl }: FailedCall,
  problem: Problem,
  code: string,
  remedy: string,
): string {
  const { status, detail, requestId, upstream, dependency } = problem;
  const owner =
    upstream === undefined ? (dependency ?? undefined) : `${upstream.service}: ${upstream.operation}`;
  const places = [
    ...(problem.invalidParams ?? []).map(({ name, message }) => `${name}: ${message}`),
    ...(problem.fieldErrors ?? []).map(({ pointer, message }) => `${pointer}: ${message}`),
  ];
  return [
    `${operation}: ${status} ${code}: ${detail}`,
    ...(places.length === 0 ? [] : [`(${places.join('; ')})`]),
    ...(owner === undefined ? [] : [`[${owner}]`]),
    // The gateway of the local stack returns the same problem for a path that no service has.
    ...(status === 404 && /^http:\/\/[^/]*$/.test(baseUrl)
      ? ["If `baseUrl` is the root of a gateway, add the service's path, for example /reports."]
      : []),
    `${remedy} (request ${requestId})`,
  ].join(' ');
}

/** No complete response arrived: the network failed, or a try took longer than `timeout`. The client cannot know whether a write was done. */
export class ConnectionError extends CallError {
  override name = 'ConnectionError';
  constructor(call: FailedCall, why: string, cause: unknown) {
    const again =
      call.idempotencyKey === undefined
        ? 'then call again'
        : 'then repeat the call with the same `idempotencyKey`: what was already done is not done twice';
    super(call, `${call.operation}: no response (${why}). Check \`baseUrl\` and the network, ${again}.`, {
      cause,
    });
  }
}

/** A response that is neither the operation's nor a problem document: `baseUrl` is wrong, or a proxy between the client and the service responded. */
export class UnexpectedAnswerError extends CallError {
  override name = 'UnexpectedAnswerError';
  readonly status: number;
  /** Seconds to wait before the identical request, if the response states them. */
  readonly retryAfter: number | undefined;
  /** The first characters of the body. */
  readonly excerpt: string;
  constructor(call: FailedCall, status: number, what: string, text: string, retryAfter: number | undefined) {
    super(
      call,
      `${call.operation}: the response with status ${status} ${what}. Check that \`baseUrl\` is the service's address without /v1, and look at \`excerpt\`.`,
    );
    this.status = status;
    this.retryAfter = retryAfter;
    this.excerpt = text.slice(0, 500);
  }
}
