import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { Provable } from '#shared/contract/gates.ts';
import { isGated } from '#shared/contract/grants.ts';
import type { Route, ServiceName } from '#shared/contract/route.ts';
import { problemKeysOf } from '#shared/contract/route-problems.ts';
import type { Idempotency } from '#shared/idempotency/idempotency.ts';
import { canonicalPath } from '#shared/idempotency/request-identity.ts';
import { problem } from '#shared/problems/registry.ts';
import type { Problem } from '#shared/problems/problem.ts';
import type { ReleaseWatch } from '#shared/release/watch-release.ts';
import { successAnswer } from './answers.ts';
import type { PipelineAnswer } from './answers.ts';
import { createKeySet } from './auth/key-set.ts';
import type { KeySet } from './auth/key-set.ts';
import { verifyToken } from './auth/verify-token.ts';
import type { TokenRules } from './auth/verify-token.ts';
import type { CheckedBody } from './checked-body.ts';
import { readEnvironment, variablesOf } from './environment.ts';
import type { BaseRuntime, Exchange } from './exchange.ts';
import { checkRelease } from './check-release.ts';
import { createFrame } from './frame.ts';
import type { Pipeline, Stage } from './frame.ts';
import { once } from './once.ts';
import type { Operation, OperationRequest } from './operation.ts';
import { Refusal } from './refusal.ts';
import type { Runtime } from '#shared/lambda/runtime.ts';
import { headerValues } from './syntax/headers.ts';
import { readRequest } from './syntax/read-request.ts';

/** What of a runtime the pipeline of a route uses. */
export type PipelineRuntime = BaseRuntime & Pick<Runtime, 'fetch' | 'sleep'>;

export interface PipelineParts<R extends Route> {
  /** Binds the operation; called once a container, when the first request has passed every check. */
  readonly operation: () => Operation<R> | Promise<Operation<R>>;
  readonly runtime: PipelineRuntime;
  /** For routes with an Idempotency-Key. */
  readonly idempotency?: () => Idempotency;
  /** For routes with gates; not asked for the others. */
  readonly release?: () => ReleaseWatch;
}

/**
 * How long a run of the work is taken to be alive. Nearly all are done long before; one that is not may run beside whoever took over, since
 * upstream writes are deterministic. It bounds what a retry waits for a function that crashed.
 */
const LONGEST_LEASE_MS = 10_000;
/** The least time that a request which waited for another one keeps for its own work. */
const LEAST_WORK_MS = 2_000;
/** What a route goes by that waits for no gate. */
const nothingProved: ReadonlySet<Provable> = new Set();
/** What one upstream call of a route's budget counts for. */
const CALL_MS = 400;

/**
 * The ladder around one operation (docs/pipeline.md): within the frame of every function, the stages that refuse, each with its own problem;
 * then the operation and the check of its answer.
 */
export function createPipeline<R extends Route>(
  route: R,
  { operation, runtime, idempotency, release }: PipelineParts<R>,
): Pipeline<CheckedBody> {
  if (route.request.idempotencyKey && idempotency === undefined)
    throw new TypeError(`${route.operationId} takes an Idempotency-Key and was given no idempotency`);
  if (isGated(route) && release === undefined)
    throw new TypeError(`${route.operationId} waits for gates and was given no release`);
  const { service, operationId, method } = route;
  const bound = once(operation);
  return createFrame<CheckedBody>(
    { service, operationId, method, transfer: route.success.transfer },
    runtime,
    [
      authenticate(route, runtime),
      (exchange) => authorize(route, exchange),
      (exchange, event) => checkSyntax(route, exchange, event),
      ...(release === undefined || !isGated(route) ? [] : [checkRelease(route, release)]),
      ...(idempotency === undefined ? [] : [findControlRecord(route, idempotency)]),
    ],
    async (exchange) => operate(route, await bound(), exchange),
  );
}

/** 401 for whoever cannot be identified, the same for every reason; an unreachable key set is an outage. */
function authenticate(route: Route, runtime: PipelineRuntime): Stage {
  const { environment, fetch, now, sleep } = runtime;
  const bind = once((): { readonly rules: TokenRules; readonly keySet: KeySet } => {
    const variables = readEnvironment([...variablesOf(route)], environment);
    return {
      rules: {
        issuer: variables.TOKEN_ISSUER,
        audience: variables.TOKEN_AUDIENCE,
        algorithms: variables.TOKEN_ALGORITHMS.split(','),
        issuedAtRequired: route.service === 'reports',
      },
      keySet: createKeySet({ url: variables.TOKEN_JWKS_URL, fetch, now, sleep }),
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

/** 409 for a key that stands for another request, before any upstream work [MA-191, RP-332]. */
function findControlRecord(route: Route, idempotency: () => Idempotency): Stage {
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
): Promise<PipelineAnswer<CheckedBody>> {
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
    proved: exchange.proved ?? nothingProved,
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
