import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import type { Provable } from '#shared/contract/gates.ts';
import type { Control } from '#shared/idempotency/control-record.ts';
import { ANSWER_MS } from '#shared/kernel/store-calls.ts';
import type { Runtime } from '#shared/runtime/runtime.ts';
import type { Log, OpenLog } from '#shared/observability/logger.ts';
import { problemsUrlOf } from './environment.ts';
import type { OperationAnswer, OperationRequest, Principal } from './operation.ts';
import { readHeaders, type Headers } from './syntax/headers.ts';
import type { CheckedRequest } from './syntax/read-request.ts';

/** What of a runtime every function that answers HTTP uses. */
export type BaseRuntime = Pick<Runtime, 'environment' | 'now' | 'random' | 'write'>;

/** What is known of a request. The first stage opens it with the first members; of the others each is written by the one stage that it names. */
export interface Exchange {
  /** Made by the server, never by the caller: in every answer and every log line. */
  readonly requestId: string;
  /** The caller's W3C trace id when it sent one, else a new one. In answers only, never in a log line. */
  readonly traceId: string;
  readonly receivedAt: number;
  /** By when the answer must be composed. */
  readonly deadline: number;
  /** When the function is stopped. */
  readonly endsAt: number;
  readonly headers: Headers;
  readonly problemsUrl: string;
  /** Origins of pages that may read the response; most stages have none. */
  readonly allowedOrigins: readonly string[];
  readonly log: Log;
  /** Token. */
  principal?: Principal;
  /** Syntax: the parts of the request, checked against the route's row. */
  request?: CheckedRequest;
  /** Release state. */
  proved?: ReadonlySet<Provable>;
  /** Idempotency: `idempotent` of the operation's request. */
  idempotent?: OperationRequest['idempotent'];
  /** Idempotency: the operation that an earlier request of the key has begun. */
  startedOperation?: string | undefined;
  /** Idempotency: the control record, once the work has begun. */
  control?: Control;
  /** The operation of a route: its answer, for the response check. */
  answer?: OperationAnswer;
}

const exchanges = new WeakMap<Context, Exchange>();

/** The exchange of a Lambda context. Throws before it is opened: a defect of the composition. */
export function exchangeOf(context: Context): Exchange {
  return established(exchanges.get(context), 'correlation');
}

/** What an earlier stage has written. Throws when it has not run for this request: a defect of the composition. */
export function established<T>(member: T | undefined, stage: string): T {
  if (member === undefined) throw new Error(`the stage "${stage}" has not run for this request`);
  return member;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** W3C Trace Context: version 00, or a later one that begins alike and may go on after a dash. */
const TRACEPARENT =
  /^(?!ff|00.{54})[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?$/;

/** Opens the exchange of one event. Whatever is wrong with the event is found by a later stage. */
export function openExchange(
  event: APIGatewayProxyEvent,
  context: Context,
  { environment, now, random }: BaseRuntime,
  openLog: OpenLog,
): Exchange {
  const receivedAt = now();
  const headers = readHeaders(event);
  const requestId = requestIdOf(event, context, headers);
  const endsAt = receivedAt + context.getRemainingTimeInMillis();
  const exchange: Exchange = {
    requestId,
    traceId: traceIdOf(headers) ?? Buffer.from(random(16)).toString('hex'),
    receivedAt,
    deadline: endsAt - ANSWER_MS,
    endsAt,
    headers,
    problemsUrl: problemsUrlOf(environment),
    allowedOrigins: environment['ALLOWED_ORIGINS']?.split(',') ?? [],
    log: openLog(context, requestId),
  };
  exchanges.set(context, exchange);
  return exchange;
}

/**
 * The gateway's request id, except where a caller has set it (API Gateway takes over `x-amzn-requestid`) or it is no UUID: then that of the
 * invocation.
 */
function requestIdOf(event: APIGatewayProxyEvent, { awsRequestId }: Context, headers: Headers): string {
  const { requestContext } = event as { requestContext?: { requestId?: string } };
  const given = requestContext?.requestId ?? '';
  return UUID.test(given) && headers['x-amzn-requestid']?.includes(given) !== true ? given : awsRequestId;
}

function traceIdOf(headers: Headers): string | undefined {
  const [value, second] = headers['traceparent'] ?? [];
  return value !== undefined && second === undefined ? TRACEPARENT.exec(value)?.[1] : undefined;
}
