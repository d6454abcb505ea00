import type { ServiceName } from '#shared/contract/route.ts';
import { isStoreOutage } from '#shared/kernel/store-calls.ts';
import { describeError } from '#shared/observability/describe-error.ts';
import { problemDocument } from '#shared/problems/document.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { deploymentOutage, internalError } from '#shared/problems/registry.ts';
import type { PipelineAnswer } from '../answers.ts';
import { EnvironmentError } from '../environment.ts';
import { exchangeOf, type Exchange } from '../exchange.ts';
import { PermanentDefect, Refusal } from '../refusal.ts';
import type { Stage } from './stage.ts';

/**
 * Turns any error that a later stage or the operation throws into a problem. It sets the response and does not return it: the stages that were
 * registered before it still add their headers.
 */
export function problemBoundary(service: ServiceName): Stage {
  return {
    onError: (request) => {
      const exchange = exchangeOf(request.context);
      const failure = problemOf(service, request.error, exchange);
      const operationId = operationIdOf(failure, exchange);
      request.response = problemAnswer(
        operationId === undefined ? failure : { operationId, ...failure },
        exchange,
      );
    },
  };
}

/**
 * Returns the operation that a problem belongs to, for the service that names it: once its work has begun, in any request with its key [RP-330]. A
 * repetition that may not see the resource gets the one 404, which names no operation.
 */
function operationIdOf(
  { service, status }: Problem,
  { control, startedOperation }: Exchange,
): string | undefined {
  if (service !== 'reports') return undefined;
  return control?.operationId ?? (status === 404 ? undefined : startedOperation);
}

function problemOf(service: ServiceName, error: unknown, exchange: Exchange): Problem {
  const { log } = exchange;
  if (error instanceof Refusal && error.problem.service === service) {
    noteUpstream(error.problem, exchange);
    return error.problem;
  }
  if (isStoreOutage(error)) {
    log('STORE_UNAVAILABLE', { ...describeError(error) });
    return deploymentOutage(service, 'platform_auth.own_stores');
  }
  if (error instanceof EnvironmentError) log('ENVIRONMENT_INVALID', { variables: error.variables });
  else log('REQUEST_FAILED', { ...describeError(error) });
  return internalError(service, !(error instanceof PermanentDefect));
}

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

/** Returns a problem as an HTTP response. It is built anew each time, so that nothing of an owner's or of another response can leak into it. */
function problemAnswer(failure: Problem, exchange: Exchange): PipelineAnswer {
  const { status, code, retryAfterSeconds, headers } = failure;
  return {
    statusCode: status,
    headers: {
      'Content-Type': 'application/problem+json',
      ...(status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}),
      ...(retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) }),
      ...headers,
    },
    body: JSON.stringify(problemDocument(failure, exchange)),
    gzip: false,
    problem: code,
    log: exchange.log,
  };
}
