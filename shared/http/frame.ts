import middy from '@middy/core';
import type { MiddlewareObj, Request } from '@middy/core';
import httpSecurityHeaders from '@middy/http-security-headers';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import type { Route, ServiceName, Transfer } from '#shared/contract/route.ts';
import { describeError } from '#shared/observability/describe-error.ts';
import { problem } from '#shared/problems/registry.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { problemAnswer } from './answers.ts';
import type { AnswerBody, PipelineAnswer } from './answers.ts';
import { EnvironmentError } from './environment.ts';
import { openExchange } from './exchange.ts';
import type { BaseRuntime, Exchange } from './exchange.ts';
import { Refusal } from './refusal.ts';

/** Answers one event of a REST API proxy integration. */
export type Pipeline<Body extends AnswerBody = AnswerBody> = (
  event: APIGatewayProxyEvent,
  context: Context,
) => Promise<PipelineAnswer<Body>>;

/** What the frame knows of a function. */
export type FramedFunction = Pick<Route, 'service' | 'operationId'> & {
  /** Absent: it takes more than one. */
  readonly method?: Route['method'];
  readonly transfer: Transfer;
};

/** A step of the ladder: lets the request pass, or throws a Refusal. */
export type Stage = (exchange: Exchange, event: APIGatewayProxyEvent) => Promise<void> | void;

type FrameRequest<Body extends AnswerBody> = Request<APIGatewayProxyEvent, PipelineAnswer<Body>>;
type Middleware<Body extends AnswerBody> = MiddlewareObj<APIGatewayProxyEvent, PipelineAnswer<Body>>;

/** A hung operation is answered while the function still can. */
const EARLY_END_MS = 750;

/**
 * What stands around every function that answers HTTP: correlation, security headers and problem boundary, which have the last word on every
 * answer; then the function's own stages, in their order; then whatever answers.
 * @param answer throws a Refusal, or whatever else is a 500
 */
export function createFrame<Body extends AnswerBody>(
  framed: FramedFunction,
  runtime: BaseRuntime,
  stages: readonly Stage[],
  answer: (exchange: Exchange, event: APIGatewayProxyEvent) => Promise<PipelineAnswer<Body>>,
): Pipeline<Body> {
  const exchanges = new WeakMap<Context, Exchange>();
  const exchangeOf = (context: Context): Exchange => {
    const exchange = exchanges.get(context);
    if (exchange === undefined) throw new Error('a stage ran before the exchange was opened');
    return exchange;
  };
  const ladder = middy<APIGatewayProxyEvent, PipelineAnswer<Body>>(
    async (event: APIGatewayProxyEvent, context: Context) => answer(exchangeOf(context), event),
    { timeoutEarlyInMillis: EARLY_END_MS },
  )
    .use(correlation<Body>(framed, runtime, exchanges))
    .use(securityHeaders<Body>())
    .use(problemBoundary<Body>(framed.service, exchangeOf));
  for (const stage of stages) {
    ladder.before(({ event, context }: FrameRequest<Body>) => stage(exchangeOf(context), event));
  }
  return (event, context) => ladder(event, context);
}

/** First in and last out: opens the exchange, and puts on every answer what every answer carries. */
function correlation<Body extends AnswerBody>(
  framed: FramedFunction,
  runtime: BaseRuntime,
  exchanges: WeakMap<Context, Exchange>,
): Middleware<Body> {
  let coldStart = true;
  const finish = ({ context, response }: FrameRequest<Body>): void => {
    const exchange = exchanges.get(context);
    if (exchange === undefined || response === undefined || response === null) return;
    response.headers = {
      ...response.headers,
      'X-Request-Id': exchange.requestId,
      ...(framed.transfer === 'stream' ? { Vary: 'Accept-Encoding' } : {}),
      'Cache-Control': 'no-store',
      'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    };
    exchange.log('REQUEST_COMPLETED', {
      status: response.statusCode,
      durationMs: runtime.now() - exchange.receivedAt,
      problem: exchange.problem?.code,
      coldStart: exchange.coldStart,
    });
  };
  return {
    before: ({ event, context }) => {
      const exchange = openExchange(framed, event, context, runtime, coldStart);
      coldStart = false;
      exchanges.set(context, exchange);
      exchange.log('REQUEST_STARTED', { method: framed.method });
    },
    after: finish,
    onError: finish,
  };
}

/** What a JSON API needs of them; the rest of the package's headers only mean something to pages. */
function securityHeaders<Body extends AnswerBody>(): Middleware<Body> {
  return httpSecurityHeaders({
    contentSecurityPolicy: false,
    crossOriginEmbedderPolicy: false,
    crossOriginOpenerPolicy: false,
    dnsPrefetchControl: false,
    downloadOptions: false,
    originAgentCluster: false,
    permissionsPolicy: false,
    permittedCrossDomainPolicies: false,
    reportTo: false,
    reportingEndpoints: false,
    xssProtection: false,
    strictTransportSecurity: { maxAge: 63_072_000, includeSubDomains: true, preload: false },
  });
}

/**
 * Turns whatever was thrown below into a problem. It sets the answer and does not return it: the stages that were registered before it still
 * put their headers on.
 */
function problemBoundary<Body extends AnswerBody>(
  service: ServiceName,
  exchangeOf: (context: Context) => Exchange,
): Middleware<Body> {
  return {
    onError: (request) => {
      const exchange = exchangeOf(request.context);
      const failure = problemOf(service, request.error, exchange);
      exchange.problem = failure;
      noteUpstream(failure, exchange);
      request.response = problemAnswer(failure, exchange);
    },
  };
}

/** Which owner ended a request, for whoever looks after it. */
function noteUpstream({ upstream, dependency, retryable }: Problem, { log }: Exchange): void {
  const owner = upstream?.service ?? dependency;
  if (owner === undefined) return;
  log('UPSTREAM_FAILED', {
    owner,
    upstreamOperation: upstream?.operation,
    upstreamRequestId: upstream?.requestId,
    retryable,
  });
}

function problemOf(service: ServiceName, error: unknown, { log }: Exchange): Problem {
  if (error instanceof Refusal && error.problem.service === service) return error.problem;
  if (error instanceof EnvironmentError) log('ENVIRONMENT_INVALID', { variables: error.variables });
  else log('REQUEST_FAILED', { ...describeError(error) });
  return problem(service, 'internal-error', 500);
}
