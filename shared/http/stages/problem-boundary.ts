import type { Context } from 'aws-lambda';
import type { ServiceName } from '#shared/contract/route.ts';
import { describeError } from '#shared/observability/describe-error.ts';
import { problemDocument } from '#shared/problems/document.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { internalError } from '#shared/problems/registry.ts';
import type { PipelineAnswer } from '../answers.ts';
import { EnvironmentError } from '../environment.ts';
import type { Exchange } from '../exchange.ts';
import { PermanentDefect, Refusal } from '../refusal.ts';
import type { FactReader, Stage } from './stage.ts';

export interface ProblemBoundaryOptions {
  readonly service: ServiceName;
  readonly exchangeOf: FactReader<Exchange>;
  /** The operation that a problem belongs to, where the function takes an Idempotency-Key. */
  readonly operationIdOf?: (context: Context, problem: Problem) => string | undefined;
}

/**
 * Turns whatever a later stage or the operation has thrown into a problem. It sets the answer and does not return it: the stages that were
 * registered before it still add their headers.
 */
export function problemBoundary({
  service,
  exchangeOf,
  operationIdOf = () => undefined,
}: ProblemBoundaryOptions): Stage {
  return {
    onError: (request) => {
      const exchange = exchangeOf(request.context);
      const failure = problemOf(service, request.error, exchange);
      noteUpstream(failure, exchange);
      const operationId = operationIdOf(request.context, failure);
      request.response = problemAnswer(
        operationId === undefined ? failure : { operationId, ...failure },
        exchange,
      );
    },
  };
}

function problemOf(service: ServiceName, error: unknown, { log }: Exchange): Problem {
  if (error instanceof Refusal && error.problem.service === service) return error.problem;
  if (error instanceof EnvironmentError) log('ENVIRONMENT_INVALID', { variables: error.variables });
  else log('REQUEST_FAILED', { ...describeError(error) });
  return internalError(service, !(error instanceof PermanentDefect));
}

/** Logs which owner ended a request. */
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

/** A problem as an HTTP answer. Built fresh each time: nothing of an upstream or of another answer can cling to it. */
function problemAnswer(failure: Problem, exchange: Exchange): PipelineAnswer<never> {
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
