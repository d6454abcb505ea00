import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { addresseeOf, isOfForeignOrigin, listen, readBody } from '#local/loopback.ts';
import { preflightHeaders } from '#shared/contract/cors.ts';
import type { ServiceName } from '#shared/contract/route.ts';
import type { Outcome } from './environment.ts';
import type { FunctionPool } from './function-pool.ts';
import { blockedBy } from './firewall.ts';
import { toHttpAnswer, type HttpAnswer, type HttpHead } from './http-answer.ts';
import { rawPathOf, toProxyEvent, type IncomingRequest } from './proxy-event.ts';
import { matchRoute, methodsOf, serviceOf, type GatewayService, type ServedRoute } from './route-match.ts';
import { createThrottles, type Throttle } from './throttle.ts';
import { readStreamedAnswer, type StreamedAnswer } from './streamed-answer.ts';
import { onTheWire, statusOfParserError, transportProblem } from './transport-problem.ts';

/** What the gateway itself answers, without or instead of a function. */
export type GatewayFailure =
  | 'no-route'
  | 'too-large'
  | 'filtered'
  | 'throttled'
  | 'integration-failed'
  | 'integration-timeout';

/** One served request, with nothing in it that a log may not hold: the template, never the path. */
export interface Access {
  readonly requestId: string;
  readonly method: string;
  /** Base path and template, or null when no route matched. */
  readonly resource: string | null;
  readonly status: number;
  readonly milliseconds: number;
}

/** A request that no service serves. */
export interface PageRequest {
  readonly method: string;
  readonly rawPath: string;
  readonly body: Buffer;
  /** Whether a page of another origin sent it. */
  readonly isForeign: boolean;
}

/** What the port serves. */
interface Served {
  readonly stage: string;
  readonly services: readonly GatewayService[];
  readonly pool: FunctionPool;
  /** The body and headers of a gateway response, as the deployed API is configured to give them. */
  readonly gatewayResponse: (service: ServiceName, failure: GatewayFailure, requestId: string) => HttpAnswer;
  /** Origins of pages whose preflight requests it responds to. Absent: none, and no path has `OPTIONS`. */
  readonly allowedOrigins?: readonly string[];
  /** Absent: none. */
  readonly throttles?: readonly Throttle[];
  /** What else the port serves: key set, documentation site, explorer. Undefined: nothing there. */
  readonly page: (request: PageRequest) => Page | undefined | Promise<Page | undefined>;
  readonly onAccess?: ((access: Access) => void) | undefined;
}

/** A file that is no answer of a function. */
export interface Page extends HttpHead {
  readonly body: string | Uint8Array;
}

export interface Gateway {
  /** `http://127.0.0.1:<port>`, without a slash at the end. */
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** Limits of API Gateway and of a synchronous Lambda invocation. */
const MAX_BODY_BYTES = 10 * 1024 * 1024;
const MAX_EVENT_BYTES = 6 * 1024 * 1024;
const INTEGRATION_TIMEOUT_MS = 29_000;
/** “Total combined size of request line and header values” of a REST API (quotas page), here with the headers' names. */
const MAX_HEAD_BYTES = 10_240;

/** How long a caller may keep this server busy. These are its own limits: AWS's pages state none for a REST API. */
export interface Patience {
  /** Until the request is there as a whole, in milliseconds. */
  readonly requestMs: number;
  /** Until the caller has read the response to its end. */
  readonly responseMs: number;
}
const defaultPatience: Patience = { requestMs: 60_000, responseMs: 300_000 };

/**
 * Starts a REST API on the loopback interface that serves rows with their bundled functions.
 * @param port 0 takes any free one; rejects with `EADDRINUSE` when it is taken
 * @param behind returns what to serve, given the gateway's own URL, which functions and pages need to know
 */
export async function startGateway(
  port: number,
  behind: (url: string) => Served,
  { requestMs, responseMs }: Patience = defaultPatience,
): Promise<Gateway> {
  const server = createServer({
    // A request without Host is answered below, with a body.
    requireHostHeader: false,
    // Longer than clients are idle: a connection must not close just as the next request comes.
    keepAliveTimeout: 120_000,
    requestTimeout: requestMs,
    connectionsCheckingInterval: Math.min(1000, requestMs / 2),
  });
  const url = await listen(server, port);
  const served = behind(url);
  const admits = createThrottles(served.throttles ?? [], Date.now);
  server.on('request', (request, response) => {
    serve(request, response, { ...served, admits, responseMs }).catch((error: unknown) => {
      // A defect of the gateway, or a client that went away in the middle of its request.
      if (!request.destroyed) console.error(error);
      response.destroy();
    });
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    else socket.end(onTheWire(transportProblem(statusOfParserError(error))));
  });
  return {
    url,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
      await served.pool.close();
    },
  };
}

/** Bytes of the request line and the header lines, without their separators. */
function headBytesOf({ method = '', url = '', rawHeaders }: IncomingMessage): number {
  return method.length + url.length + rawHeaders.reduce((sum, { length }) => sum + length, 0);
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  served: Served & Pick<Patience, 'responseMs'> & { readonly admits: (method: string) => boolean },
): Promise<void> {
  const receivedAt = Date.now();
  const requestId = randomUUID();
  const method = request.method ?? 'GET';
  const target = request.url ?? '/';
  const body = await readBody(request, MAX_BODY_BYTES);
  const rawPath = rawPathOf(target);

  const addressee = headBytesOf(request) > MAX_HEAD_BYTES ? 'oversized' : addresseeOf(request);
  const found = addressee === 'ours' ? serviceOf(served.services, rawPath) : undefined;
  const page =
    found === undefined && addressee === 'ours' && body !== undefined
      ? await served.page({ method, rawPath, body, isForeign: isOfForeignOrigin(request) })
      : undefined;
  const match = found === undefined ? undefined : matchRoute(found, method, rawPath);
  const service = found?.service ?? 'mastery';
  const preflight =
    found === undefined || method !== 'OPTIONS'
      ? undefined
      : answerPreflight(methodsOf(found, rawPath), served.allowedOrigins ?? [], request.headers.origin);

  let answer: HttpAnswer | StreamedAnswer | Page;
  if (addressee !== 'ours') {
    answer = transportProblem(({ malformed: 400, foreign: 421, oversized: 431 } as const)[addressee]);
  } else if (page !== undefined) {
    answer = page;
  } else if (request.headers['x-http-method-override'] !== undefined) {
    // A REST API would change the method by it; the deployed firewall refuses such a request.
    answer = served.gatewayResponse(service, 'filtered', requestId);
  } else if (body === undefined) {
    answer = served.gatewayResponse(service, 'too-large', requestId);
  } else if (found !== undefined && isBlocked(request, rawPath, body)) {
    answer = served.gatewayResponse(service, 'filtered', requestId);
  } else if (preflight !== undefined) {
    answer = preflight;
  } else if (match === undefined) {
    answer = served.gatewayResponse(service, 'no-route', requestId);
  } else if (!served.admits(`${method} ${found?.basePath ?? ''}${match.route.path}`)) {
    answer = served.gatewayResponse(service, 'throttled', requestId);
  } else {
    const incoming: IncomingRequest = {
      method,
      target,
      rawHeaders: request.rawHeaders,
      body,
      sourceIp: request.socket.remoteAddress ?? '127.0.0.1',
    };
    const event = toProxyEvent(incoming, match, { requestId, stage: served.stage, receivedAt });
    if (Buffer.byteLength(JSON.stringify(event)) > MAX_EVENT_BYTES) {
      answer = served.gatewayResponse(service, 'too-large', requestId);
    } else {
      const caller = new AbortController();
      // It has its answer, or has gone away.
      response.once('close', () => caller.abort());
      const result = await integrate(served.pool, match.route, event, requestId, caller.signal);
      answer = typeof result === 'string' ? served.gatewayResponse(service, result, requestId) : result;
    }
  }

  const headers = {
    ...answer.headers,
    ...(found === undefined ? {} : { 'x-amzn-RequestId': requestId }),
    // The rest of an oversized body may never come to its end.
    ...(body === undefined ? { Connection: 'close' } : {}),
  };
  // Not an idle timeout: a caller that reads a byte now and then would keep the response, and its function's stream, for days.
  const late = setTimeout(() => response.destroy(), served.responseMs).unref();
  response.once('close', () => clearTimeout(late));
  if (typeof answer.body === 'string' || answer.body instanceof Uint8Array) {
    const bytes = Buffer.from(answer.body);
    // RFC 9110 section 8.6: a 204 has no Content-Length.
    response.writeHead(answer.status, {
      ...headers,
      ...(answer.status === 204 ? {} : { 'Content-Length': bytes.length }),
    });
    response.end(method === 'HEAD' ? undefined : bytes);
  } else {
    response.writeHead(answer.status, headers);
    // A body that breaks off takes the connection with it, without the last chunk: the caller can detect that it is not whole. And a caller
    // that goes takes the stream with it.
    await pipeline(answer.body, response).catch(() => undefined);
    // A caller that went before its answer began leaves nothing to write into: the pipeline then does not touch the stream.
    answer.body.destroy();
  }
  served.onAccess?.({
    requestId,
    method,
    resource: found === undefined || match === undefined ? null : `${found.basePath}${match.route.path}`,
    status: answer.status,
    milliseconds: Date.now() - receivedAt,
  });
}

/** Whether the deployed firewall refuses the request. */
function isBlocked({ url = '', rawHeaders }: IncomingMessage, path: string, body: Buffer): boolean {
  const [, query = ''] = url.split(/\?(.*)/s);
  return blockedBy({ path, query, body: body.toString('latin1'), headers: rawHeaders.join('\n') }).length > 0;
}

/** The response to a preflight request, as the deployed gateway's method for it gives it; undefined where there is no such method. */
function answerPreflight(
  methods: readonly string[],
  allowedOrigins: readonly string[],
  origin: string | undefined,
): HttpAnswer | undefined {
  const named = allowedOrigins.find((allowed) => allowed === origin) ?? allowedOrigins[0];
  if (methods.length === 0 || named === undefined) return undefined;
  return {
    status: 204,
    headers: preflightHeaders(methods, named),
    body: '',
  };
}

async function integrate(
  pool: FunctionPool,
  { operationId, success }: ServedRoute,
  event: unknown,
  requestId: string,
  caller: AbortSignal,
): Promise<HttpAnswer | StreamedAnswer | 'integration-failed' | 'integration-timeout'> {
  const late = Promise.withResolvers<'integration-timeout'>();
  const timer = setTimeout(() => late.resolve('integration-timeout'), INTEGRATION_TIMEOUT_MS);
  const invoked = pool.invoke(operationId, event, requestId, caller);
  const outcome = await Promise.race([invoked, late.promise]);
  clearTimeout(timer);
  if (outcome === 'integration-timeout') {
    void invoked.then(discard);
    return outcome;
  }
  // A function must answer in the way in which it was asked.
  const answer =
    success.transfer === 'stream' && outcome.kind === 'streaming'
      ? await readStreamedAnswer(outcome.stream)
      : success.transfer === 'buffered' && outcome.kind === 'answered'
        ? toHttpAnswer(outcome.value)
        : undefined;
  if (answer === undefined) discard(outcome);
  return answer ?? 'integration-failed';
}

/** Frees an environment whose stream will not be read. */
function discard(outcome: Outcome): void {
  if (outcome.kind === 'streaming') outcome.stream.destroy();
}
