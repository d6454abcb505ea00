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

/** The part of a runtime that every function uses that serves HTTP. */
export type BaseRuntime = Pick<Runtime, 'environment' | 'now' | 'random' | 'write'>;

/** The part of a runtime that a route's pipeline uses. */
export type PipelineRuntime = BaseRuntime & Pick<Runtime, 'fetch' | 'sleep' | 'prepare'>;

/** The state of a request. The first stage creates it with the first members; each of the others is written by the one stage that it names. */
export interface Exchange extends Pick<
  OperationRequest,
  'requestId' | 'traceId' | 'problemsUrl' | 'receivedAt' | 'deadline' | 'log'
> {
  /** When Lambda stops the function. */
  readonly endsAt: number;
  readonly headers: Headers;
  /** The calls of owners so far. */
  readonly upstream: UpstreamTally;
  /** Origins of pages that may read the response; most deployments have none. */
  readonly allowedOrigins: readonly string[];
  /** Token. */
  principal?: Principal;
  /** Syntax: the parts of the request, checked against the route's row. */
  request?: CheckedRequest;
  /** Tenant rate: how many seconds a tenant that has used up its requests has to wait. */
  waitSeconds?: Promise<number | undefined>;
  /** Release state. */
  proved?: ReadonlySet<Provable>;
  /** Idempotency: `idempotent` of the operation's request. */
  idempotent?: OperationRequest['idempotent'];
  /** Idempotency: the operation that an earlier request of the key has begun. */
  startedOperation?: string | undefined;
  /** Idempotency: the control record, once the work has begun. */
  control?: Control;
  /** The operation's response, for the response check. */
  answer?: OperationAnswer;
}

/** Calls of owners, whose times may overlap: the sum can be longer than the request. */
interface UpstreamTally {
  upstreamCalls: number;
  /** Milliseconds. */
  upstreamMs: number;
  readonly owners: Set<string>;
}

/** Returns a log that also adds up the calls of owners which are written to it. */
function tallying(log: Log, tally: UpstreamTally): Log {
  return (code, fields) => {
    if (code === 'UPSTREAM_CALL' || code === 'UPSTREAM_CALL_FAILED') {
      tally.upstreamCalls += 1;
      tally.upstreamMs += Number(fields?.['durationMs'] ?? 0);
      tally.owners.add(String(fields?.['owner']));
    }
    log(code, fields);
  };
}

const exchanges = new WeakMap<Context, Exchange>();

/** Returns the exchange of a Lambda context. Throws before it is opened: a defect of the composition. */
export function exchangeOf(context: Context): Exchange {
  return established(exchanges.get(context), 'correlation');
}

/** Returns what an earlier stage has written. Throws if that has not run for this request: a defect of the composition. */
export function established<T>(member: T | undefined, stage: string): T {
  if (member === undefined) throw new Error(`the stage "${stage}" has not run for this request`);
  return member;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** W3C Trace Context: version 00, or a later one with the same beginning, which may continue after a dash. */
const TRACEPARENT =
  /^(?!ff|00.{54})[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?$/;

/** Opens the exchange of one event. A later stage finds any fault of the event. */
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
  const upstream: UpstreamTally = { upstreamCalls: 0, upstreamMs: 0, owners: new Set() };
  const exchange: Exchange = {
    requestId,
    traceId: traceIdOf(headers) ?? Buffer.from(random(16)).toString('hex'),
    receivedAt,
    deadline: endsAt - ANSWER_MS,
    endsAt,
    headers,
    problemsUrl: problemsUrlOf(environment),
    allowedOrigins: environment['ALLOWED_ORIGINS']?.split(',') ?? [],
    upstream,
    log: tallying(openLog(context, requestId), upstream),
  };
  exchanges.set(context, exchange);
  return exchange;
}

/** Returns the gateway's request id, or the invocation's if a caller has set it (API Gateway adopts `x-amzn-requestid`) or it is no UUID. */
function requestIdOf(event: APIGatewayProxyEvent, { awsRequestId }: Context, headers: Headers): string {
  const { requestContext } = event as { requestContext?: { requestId?: string } };
  const given = requestContext?.requestId ?? '';
  return UUID.test(given) && headers['x-amzn-requestid']?.includes(given) !== true ? given : awsRequestId;
}

function traceIdOf(headers: Headers): string | undefined {
  const [value, second] = headers['traceparent'] ?? [];
  return value !== undefined && second === undefined ? TRACEPARENT.exec(value)?.[1] : undefined;
}
