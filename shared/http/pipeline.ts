import middy from '@middy/core';
import type { MiddlewareObj, Request } from '@middy/core';
import httpSecurityHeaders from '@middy/http-security-headers';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import type { Route, ServiceName } from '#shared/contract/route.ts';
import { problemKeysOf } from '#shared/contract/route-problems.ts';
import type { Idempotency } from '#shared/idempotency/idempotency.ts';
import { canonicalPath } from '#shared/idempotency/request-identity.ts';
import { describeError } from '#shared/observability/describe-error.ts';
import { problem } from '#shared/problems/registry.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { problemAnswer, successAnswer } from './answers.ts';
import type { PipelineAnswer } from './answers.ts';
import { createKeySet } from './auth/key-set.ts';
import type { KeySet } from './auth/key-set.ts';
import { verifyToken } from './auth/verify-token.ts';
import type { TokenRules } from './auth/verify-token.ts';
import { EnvironmentError, readEnvironment, variablesOf } from './environment.ts';
import { openExchange } from './exchange.ts';
import type { Exchange } from './exchange.ts';
import type { Operation, OperationRequest } from './operation.ts';
import { Refusal } from './refusal.ts';
import type { Surroundings } from './surroundings.ts';
import { headerValues } from './syntax/headers.ts';
import { readRequest } from './syntax/read-request.ts';

/** Answers one event of a REST API proxy integration. */
export type Pipeline = (event: APIGatewayProxyEvent, context: Context) => Promise<PipelineAnswer>;

/** Whether a released route is open just now; the problem is the 503 of a gate that was withdrawn while the route is deployed [RP-018]. */
export type ReleaseState = (exchange: Exchange) => Promise<Problem | undefined>;

export interface PipelineParts<R extends Route> {
  /** Binds the operation; called once a container, when the first request has passed every check. */
  readonly operation: () => Operation<R> | Promise<Operation<R>>;
  readonly surroundings: Surroundings;
  /** For routes with an Idempotency-Key. */
  readonly idempotency?: () => Idempotency;
  /** For routes with gates. */
  readonly releaseState?: () => ReleaseState;
}

type PipelineRequest = Request<APIGatewayProxyEvent, PipelineAnswer>;
type Stage = MiddlewareObj<APIGatewayProxyEvent, PipelineAnswer>;

/** A hung operation is answered while the function still can. */
const EARLY_END_MS = 750;
/**
 * How long a run of the work is taken to be alive. Nearly all are done long before; one that is not may run beside whoever took over, since
 * upstream writes are deterministic. It bounds what a retry waits for a function that crashed.
 */
const LONGEST_LEASE_MS = 10_000;
/** The least time that a request which waited for another one keeps for its own work. */
const LEAST_WORK_MS = 2_000;
/** What one upstream call of a route's budget counts for. */
const CALL_MS = 400;

/**
 * The ladder around one operation (docs/pipeline.md). What is registered first has the last word on every answer: correlation, security
 * headers, problem boundary; then the stages that refuse, each with its own problem; then the operation and the check of its answer.
 */
export function createPipeline<R extends Route>(route: R, parts: PipelineParts<R>): Pipeline {
  if (route.request.idempotencyKey && parts.idempotency === undefined)
    throw new TypeError(`${route.operationId} takes an Idempotency-Key and was given no idempotency`);
  const exchanges = new WeakMap<Context, Exchange>();
  const exchangeOf = (context: Context): Exchange => {
    const exchange = exchanges.get(context);
    if (exchange === undefined) throw new Error('a stage ran before the exchange was opened');
    return exchange;
  };
  const stage =
    (run: (exchange: Exchange, event: APIGatewayProxyEvent) => Promise<void> | void) =>
    ({ event, context }: PipelineRequest): Promise<void> | void =>
      run(exchangeOf(context), event);
  const operation = once(parts.operation);

  const pipeline = middy<APIGatewayProxyEvent, PipelineAnswer>(
    async (_event: APIGatewayProxyEvent, context: Context) =>
      operate(route, await operation(), exchangeOf(context)),
    { timeoutEarlyInMillis: EARLY_END_MS },
  )
    .use(correlation(route, parts.surroundings, exchanges))
    .use(securityHeaders())
    .use(problemBoundary(route.service, exchangeOf))
    .before(stage(authenticate(route, parts.surroundings)))
    .before(stage((exchange) => authorize(route, exchange)))
    .before(stage((exchange, event) => checkSyntax(route, exchange, event)));
  if (parts.releaseState !== undefined) pipeline.before(stage(checkRelease(parts.releaseState)));
  if (parts.idempotency !== undefined) pipeline.before(stage(findControlRecord(route, parts.idempotency)));
  return (event, context) => pipeline(event, context);
}

/** First in and last out: opens the exchange, and puts on every answer what every answer carries. */
function correlation(route: Route, surroundings: Surroundings, exchanges: WeakMap<Context, Exchange>): Stage {
  let coldStart = true;
  const finish = ({ context, response }: PipelineRequest): void => {
    const exchange = exchanges.get(context);
    if (exchange === undefined || response === undefined || response === null) return;
    response.headers = {
      ...response.headers,
      'X-Request-Id': exchange.requestId,
      ...(route.success.transfer === 'stream' ? { Vary: 'Accept-Encoding' } : {}),
      'Cache-Control': 'no-store',
      'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    };
    exchange.log('REQUEST_COMPLETED', {
      status: response.statusCode,
      durationMs: surroundings.now() - exchange.receivedAt,
      problem: exchange.problem?.code,
      coldStart: exchange.coldStart,
    });
  };
  return {
    before: ({ event, context }) => {
      const exchange = openExchange(route, event, context, surroundings, coldStart);
      coldStart = false;
      exchanges.set(context, exchange);
      exchange.log('REQUEST_STARTED', { method: route.method });
    },
    after: finish,
    onError: finish,
  };
}

/** What a JSON API needs of them; the rest of the package's headers only mean something to pages. */
function securityHeaders(): Stage {
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
function problemBoundary(service: ServiceName, exchangeOf: (context: Context) => Exchange): Stage {
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

/** 401 for whoever cannot be identified, the same for every reason; an unreachable key set is an outage. */
function authenticate(route: Route, surroundings: Surroundings): (exchange: Exchange) => Promise<void> {
  const { environment, fetch, now } = surroundings;
  const bind = once((): { readonly rules: TokenRules; readonly keySet: KeySet } => {
    const variables = readEnvironment([...variablesOf(route)], environment);
    return {
      rules: {
        issuer: variables.TOKEN_ISSUER,
        audience: variables.TOKEN_AUDIENCE,
        algorithms: variables.TOKEN_ALGORITHMS.split(','),
        issuedAtRequired: route.service === 'reports',
      },
      keySet: createKeySet({ url: variables.TOKEN_JWKS_URL, fetch, now }),
    };
  });
  return async (exchange) => {
    const { rules, keySet } = await bind();
    const { headers, log } = exchange;
    const verified = await verifyToken(headerValues(headers, 'authorization'), rules, { keySet, now, log });
    if (verified.ok) {
      exchange.principal = verified.value;
      return;
    }
    if (verified.error.kind === 'key-set-unreachable') throw new Refusal(keySetProblem(route.service));
    log('TOKEN_REFUSED', { reason: verified.error.reason });
    throw new Refusal(problem(route.service, 'authentication-required', 401));
  };
}

function keySetProblem(service: ServiceName): Problem {
  return service === 'mastery'
    ? problem('mastery', 'upstream-unavailable', 424, {
        upstream: { service: 'platform_auth', operation: 'platform_auth.read_key_set' },
        retryable: true,
      })
    : problem('reports', 'dependency-unavailable', 503, { dependency: 'unknown' });
}

/** 403 for a caller without the route's scope; scopes are compared whole [MA-150, MA-158]. */
function authorize(route: Route, exchange: Exchange): void {
  if (principalOf(exchange).scopes.includes(route.scope)) return;
  throw new Refusal(
    route.service === 'mastery'
      ? problem('mastery', 'insufficient-scope', 403)
      : problem('reports', 'authorization-denied', 403),
  );
}

/** 400 and 413. */
function checkSyntax(route: Route, exchange: Exchange, event: APIGatewayProxyEvent): void {
  const request = readRequest(route, event);
  if (!request.ok) {
    const reasons = new Set(request.error.invalidParams?.map(({ reason }) => reason));
    exchange.log('REQUEST_REFUSED', { reasons: [...reasons] });
    throw new Refusal(request.error);
  }
  exchange.request = request.value;
}

/** 503 for a gate that was withdrawn while its route is deployed. */
function checkRelease(releaseState: () => ReleaseState): (exchange: Exchange) => Promise<void> {
  const bind = once(releaseState);
  return async (exchange) => {
    const closed = await (await bind())(exchange);
    if (closed !== undefined) throw new Refusal(closed);
  };
}

/** 409 for a key that stands for another request, before any upstream work [MA-191, RP-332]. */
function findControlRecord(
  route: Route,
  idempotency: () => Idempotency,
): (exchange: Exchange) => Promise<void> {
  const bind = once(idempotency);
  return async (exchange) => {
    const { idempotencyKey, ifMatch, sentBody, pathTexts } = requestOf(exchange);
    if (idempotencyKey === undefined) return;
    const find = await bind();
    exchange.keyed = await find({
      tenantId: principalOf(exchange).tenantId,
      method: route.method,
      canonicalPath: canonicalPath(route.path, pathTexts),
      idempotencyKey,
      ifMatch,
      body: sentBody,
    });
    if (exchange.keyed.reusedBy !== undefined)
      throw new Refusal(reusedKey(route.service, exchange.keyed.reusedBy));
  };
}

function reusedKey(service: ServiceName, operationId: string): Problem {
  return service === 'mastery'
    ? problem('mastery', 'idempotency-key-reused', 409)
    : problem('reports', 'idempotency-conflict', 409, { operationId });
}

/** Runs the operation and checks what it answers: an answer that breaks its own contract is a 500, never sent [MA-224]. */
async function operate<R extends Route>(
  route: R,
  operation: Operation<R>,
  exchange: Exchange,
): Promise<PipelineAnswer> {
  const outcome = await operation(operationRequest(route, exchange));
  if (!outcome.ok) {
    const { service, status, code } = outcome.error;
    if (service !== route.service) throw new TypeError('the operation answered a problem of another service');
    if (!problemKeysOf(route).includes(`${status} ${code}`))
      exchange.log('PROBLEM_UNDECLARED', { problem: `${status} ${code}` });
    throw new Refusal(outcome.error);
  }
  const answer = successAnswer(route, outcome.value, exchange);
  if (answer.ok) return answer.value;
  exchange.log('ANSWER_REFUSED', { reasons: answer.error });
  throw new Refusal(problem(route.service, 'internal-error', 500));
}

function operationRequest<R extends Route>(route: R, exchange: Exchange): OperationRequest<R> {
  const { requestId, traceId, problemsUrl, receivedAt, deadline, log } = exchange;
  const { path, query, body, ifMatch } = requestOf(exchange);
  let begun = false;
  return {
    requestId,
    traceId,
    problemsUrl,
    principal: principalOf(exchange),
    // SAFETY: these are the outputs of the same row's schemas, which the operation's types are made of.
    path: path as OperationRequest<R>['path'],
    query: query as OperationRequest<R>['query'],
    body: body as OperationRequest<R>['body'],
    ifMatch,
    receivedAt,
    deadline,
    log,
    idempotent: async (work) => {
      if (exchange.keyed === undefined || begun)
        throw new TypeError('idempotent is for one call a request, on routes with an Idempotency-Key');
      begun = true;
      return exchange.keyed.run(
        (control) => {
          exchange.control = control;
          return work(control);
        },
        {
          successStatus: route.success.status,
          waitUntil: deadline - workTime(route, deadline - receivedAt),
          leaseUntil: Math.min(exchange.endsAt, receivedAt + LONGEST_LEASE_MS),
          conflict: (operationId) => reusedKey(route.service, operationId),
          log,
        },
      );
    },
  };
}

/** What a request keeps of its time for its own work: the route's budget, but at most half of it. */
function workTime({ budget }: Route, total: number): number {
  return Math.min(Math.max(LEAST_WORK_MS, budget.depth * CALL_MS), total / 2);
}

function principalOf({ principal }: Exchange): NonNullable<Exchange['principal']> {
  if (principal === undefined) throw new Error('a stage ran before the token was verified');
  return principal;
}

function requestOf({ request }: Exchange): NonNullable<Exchange['request']> {
  if (request === undefined) throw new Error('a stage ran before the request was checked');
  return request;
}

/** Makes a value when first asked for and keeps it; a failure is not kept. */
function once<T>(make: () => T | Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    if (made !== undefined) return made;
    const making = (async () => make())();
    making.catch(() => (made = undefined));
    made = making;
    return making;
  };
}
