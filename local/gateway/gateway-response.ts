import { gatewayResponses, type GatewayResponseType } from '#shared/problems/gateway-responses.ts';
import type { ServiceName } from '#shared/contract/route.ts';
import type { GatewayFailure } from './gateway.ts';
import type { HttpAnswer } from './http-answer.ts';

/** What API Gateway calls each way in which it answers without a function. */
const types: Readonly<Record<GatewayFailure, GatewayResponseType>> = {
  'no-route': 'MISSING_AUTHENTICATION_TOKEN',
  'too-large': 'REQUEST_TOO_LARGE',
  filtered: 'WAF_FILTERED',
  throttled: 'THROTTLED',
  'integration-failed': 'DEFAULT_5XX',
  'integration-timeout': 'INTEGRATION_TIMEOUT',
};

/**
 * The answers that the API gives without a function: read from the very definition that deploys, with the two kinds of values that it
 * uses, `'literal'` and `context.requestId`.
 * @param problemsUrl base of the `type` URIs, https, without a slash at the end
 */
export function answerOfGateway(
  problemsUrl: string,
  allowedOrigins: readonly string[] = [],
): (service: ServiceName, failure: GatewayFailure, requestId: string) => HttpAnswer {
  const definitions = {
    mastery: gatewayResponses('mastery', problemsUrl, allowedOrigins),
    reports: gatewayResponses('reports', problemsUrl, allowedOrigins),
  };
  return (service, failure, requestId) => {
    const { statusCode, responseParameters, responseTemplates } = definitions[service][types[failure]];
    return {
      status: statusCode,
      headers: Object.fromEntries(
        Object.entries(responseParameters).map(([name, value]) => [
          name.replace(/^gatewayresponse\.header\./, ''),
          value === 'context.requestId' ? requestId : value.replace(/^'(.*)'$/s, '$1'),
        ]),
      ),
      body: (responseTemplates['application/json'] ?? '').replaceAll('$context.requestId', requestId),
    };
  };
}
