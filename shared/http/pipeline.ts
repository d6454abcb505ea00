import type { Provable } from '#shared/contract/gates.ts';
import { isGated } from '#shared/contract/grants.ts';
import { problemKeysOf } from '#shared/contract/route-problems.ts';
import type { Route } from '#shared/contract/route.ts';
import type { Idempotency } from '#shared/idempotency/idempotency.ts';
import type { ReleaseWatch } from '#shared/release/watch-release.ts';
import { baseMiddleware, type Pipeline } from './base-middleware.ts';
import { established, exchangeOf, type Exchange, type PipelineRuntime } from './exchange.ts';
import { once } from './once.ts';
import type { Operation, OperationAnswer, OperationRequest } from './operation.ts';
import { Refusal } from './refusal.ts';
import { idempotency, notIdempotent } from './stages/idempotency.ts';
import { releaseState } from './stages/release-state.ts';
import { responseCheck } from './stages/response-check.ts';
import { scope } from './stages/scope.ts';
import { syntax } from './stages/syntax.ts';
import { tenantRate } from './stages/tenant-rate.ts';
import { token } from './stages/token.ts';
import type { TenantRate } from './tenant-rate.ts';

export interface PipelineParts<R extends Route> {
  /** Binds the operation; called once per binding: as the function starts, or when its first request has passed every stage; a failure is not cached. */
  readonly operation: () => Operation<R> | Promise<Operation<R>>;
  readonly runtime: PipelineRuntime;
  /** For routes with an Idempotency-Key. */
  readonly idempotency?: () => Idempotency;
  readonly rate: () => TenantRate;
  /** Called only for routes with gates. */
  readonly release: () => ReleaseWatch;
}

const nothingProved: ReadonlySet<Provable> = new Set();

/** Creates the pipeline around one operation (docs/pipeline.md). The row decides which stages apply; `.use` composes them in order. */
export function createPipeline<R extends Route>(route: R, parts: PipelineParts<R>): Pipeline {
  const { success, request } = route;
  const { operation, runtime, idempotency: keyed, rate, release } = parts;
  if (request.idempotencyKey && keyed === undefined)
    throw new TypeError(`${route.operationId} takes an Idempotency-Key and was given no idempotency`);
  /** Makes a part while the function starts, or when its first request needs it. */
  const part = <T>(make: () => T | Promise<T>): (() => Promise<T>) => {
    const made = once(make);
    runtime.prepare?.(made);
    return made;
  };
  const bound = part(operation);
  const [count, admit] = tenantRate(route, part(rate));
  return baseMiddleware({ ...route, transfer: success.transfer }, runtime, async (_event, context) => {
    const exchange = exchangeOf(context);
    exchange.answer = await operate(route, await bound(), exchange);
  })
    .use(token(route, runtime))
    .use(scope(route))
    .use(syntax(route))
    .use(count)
    .use(isGated(route) ? releaseState(route, part(release)) : [])
    .use(request.idempotencyKey && keyed ? idempotency(route, part(keyed)) : [])
    .use(admit)
    .use(responseCheck(route));
}

/** Runs the operation, as the innermost stage, with what the other stages have established, and throws its problem as a Refusal. */
async function operate<R extends Route>(
  route: R,
  operation: Operation<R>,
  exchange: Exchange,
): Promise<OperationAnswer> {
  const { requestId, traceId, problemsUrl, receivedAt, deadline, log } = exchange;
  const { path, query, body, ifMatch } = established(exchange.request, 'syntax');
  const outcome = await operation({
    requestId,
    traceId,
    problemsUrl,
    principal: established(exchange.principal, 'token'),
    // SAFETY: these are the outputs of the same row's schemas, from which the operation's types derive.
    path: path as OperationRequest<R>['path'],
    query: query as OperationRequest<R>['query'],
    body: body as OperationRequest<R>['body'],
    ifMatch,
    proved: exchange.proved ?? nothingProved,
    receivedAt,
    deadline,
    log,
    idempotent: exchange.idempotent ?? notIdempotent,
  });
  if (outcome.ok) return outcome.value;
  const { service, status, code, invariant, dependency = 'unknown' } = outcome.error;
  if (service !== route.service) throw new TypeError('the operation returned a problem of another service');
  if (!problemKeysOf(route).includes(`${status} ${code}`))
    log('PROBLEM_UNDECLARED', { problem: `${status} ${code}` });
  if (invariant !== undefined) log('FACTS_CONTRADICTORY', { invariant, dependency });
  throw new Refusal(outcome.error);
}
