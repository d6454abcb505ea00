import { CACHE_CONTROL } from '#shared/contract/cache-control.ts';
import { crossOriginHeaders } from '#shared/contract/cors.ts';
import type { Route, Transfer } from '#shared/contract/route.ts';
import { createFunctionLog } from '#shared/observability/logger.ts';
import { tenantHash } from '../tenant-rate.ts';
import { exchangeOf, openExchange, type BaseRuntime, type Exchange } from '../exchange.ts';
import type { Stage, StageRequest } from './stage.ts';

/** The part of a function's row that the pipeline uses. */
export type FunctionRow = Pick<Route, 'service' | 'operationId' | 'learnersWait'> & {
  /** Absent if the function takes more than one. */
  readonly method?: Route['method'];
  readonly transfer: Transfer;
};

/** Creates the outermost stage: it opens the exchange and its log, and adds the common headers to every response. */
export function correlation(row: FunctionRow, runtime: BaseRuntime): Stage {
  const openLog = createFunctionLog(row, runtime);
  const finish = ({ context, response }: StageRequest): void => {
    const exchange = exchangeOf(context);
    response.headers = {
      ...response.headers,
      'X-Request-Id': exchange.requestId,
      ...varying(row, exchange),
      'Cache-Control': CACHE_CONTROL,
      'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    };
    const { owners, ...upstream } = exchange.upstream;
    const failed = isFailure(response.statusCode);
    exchange.log('REQUEST_COMPLETED', {
      status: response.statusCode,
      durationMs: runtime.now() - exchange.receivedAt,
      problem: response.problem,
      failures: Number(failed),
      ...(failed && { failed }),
      // Behind the canary waits no learner (its failures have an alarm of their own), nor behind a client without a valid token.
      ...(row.learnersWait &&
        (exchange.principal === undefined
          ? failed
          : exchange.principal.tenantId !== runtime.environment['CANARY_TENANT']) && { learnersWait: true }),
      tenantHash: exchange.principal && tenantHash(exchange.principal.tenantId),
      ...(upstream.upstreamCalls > 0 && { ...upstream, owners: [...owners] }),
    });
  };
  return {
    before: ({ event, context }) => {
      openExchange(event, context, runtime, openLog).log('REQUEST_STARTED', { method: row.method });
    },
    after: finish,
    onError: finish,
  };
}

/** Returns whether a status blames the service or an owner: the caller's request was in order. */
function isFailure(status: number): boolean {
  return status >= 500 || status === 424;
}

/**
 * Sets what depends on the headers of the request: whether a body is compressed, and whether a page of one of the stage's allowed origins can read
 * the response. Without allowed origins no response has a CORS header.
 */
function varying(
  { transfer }: FunctionRow,
  { headers, allowedOrigins }: Exchange,
): Readonly<Record<string, string>> {
  const names = [
    ...(transfer === 'stream' ? ['Accept-Encoding'] : []),
    ...(allowedOrigins.length > 0 ? ['Origin'] : []),
  ];
  const [origin, second] = headers['origin'] ?? [];
  const isAllowed = origin !== undefined && second === undefined && allowedOrigins.includes(origin);
  return {
    ...(isAllowed ? crossOriginHeaders(origin) : {}),
    ...(names.length === 0 ? {} : { Vary: names.join(', ') }),
  };
}
