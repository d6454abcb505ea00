import type { ServiceName } from '#shared/contract/route.ts';
import { problemDocument } from '#shared/problems/document.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { problem } from '#shared/problems/registry.ts';
import type { GatewayFailure } from './gateway.ts';
import type { HttpAnswer } from './http-answer.ts';

/**
 * The answers that the API gives without a function: the same problem documents that the deployed gateway responses are set to.
 * @param problemsUrl base of the `type` URIs, https, without a slash at the end
 */
export function gatewayResponses(
  problemsUrl: string,
): (service: ServiceName, failure: GatewayFailure, requestId: string) => HttpAnswer {
  return (service, failure, requestId) => {
    const occurred = problemFor(service, failure);
    return {
      status: occurred.status,
      headers: {
        'Content-Type': 'application/problem+json',
        'Cache-Control': 'no-store',
        'X-Request-Id': requestId,
        ...(occurred.retryAfterSeconds === undefined
          ? {}
          : { 'Retry-After': String(occurred.retryAfterSeconds) }),
      },
      // Before any function has run, the gateway's request id is all there is to trace by.
      body: JSON.stringify(problemDocument(occurred, { problemsUrl, requestId, traceId: requestId })),
    };
  };
}

function problemFor(service: ServiceName, failure: GatewayFailure): Problem {
  switch (failure) {
    case 'no-route':
      return service === 'mastery'
        ? problem('mastery', 'resource-not-found', 404)
        : problem('reports', 'not-found', 404);
    case 'too-large':
      return problem(service, 'payload-too-large', 413);
    case 'integration-failed':
    case 'integration-timeout':
      return problem(service, 'internal-error', 500);
  }
}
