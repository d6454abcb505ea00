import { CACHE_CONTROL } from '#shared/contract/cache-control.ts';
import { fixedCrossOriginHeaders } from '#shared/contract/cors.ts';
import type { ProblemKey } from '#shared/contract/problems.ts';
import type { ServiceName } from '#shared/contract/route.ts';
import { problemDocument } from './document.ts';
import type { InvalidParam, Problem } from './problem.ts';
import { occurrenceOf, problemRow } from './registry.ts';

/** A problem that both services have. */
type SharedKey = ProblemKey<'mastery'> & ProblemKey<'reports'>;
/** A problem that each service has under its own name. */
type KeyOfEach = { readonly [S in ServiceName]: ProblemKey<S> };
const unknownPath: KeyOfEach = { mastery: '404 resource-not-found', reports: '404 not-found' };
const malformed: KeyOfEach = { mastery: '400 invalid-request', reports: '400 validation' };

/** Every type of response that API Gateway creates itself: its problem, or the malformed place of the request. */
const answers = {
  ACCESS_DENIED: unknownPath,
  API_CONFIGURATION_ERROR: '500 internal-error',
  AUTHORIZER_CONFIGURATION_ERROR: '500 internal-error',
  AUTHORIZER_FAILURE: '500 internal-error',
  BAD_REQUEST_BODY: { name: '/body', reason: 'malformed', message: 'The body cannot be read.' },
  BAD_REQUEST_PARAMETERS: { name: '', reason: 'malformed', message: 'A parameter cannot be read.' },
  DEFAULT_4XX: unknownPath,
  DEFAULT_5XX: '500 internal-error',
  EXPIRED_TOKEN: unknownPath,
  INTEGRATION_FAILURE: '500 internal-error',
  INTEGRATION_TIMEOUT: '500 internal-error',
  INVALID_API_KEY: unknownPath,
  INVALID_SIGNATURE: unknownPath,
  MISSING_AUTHENTICATION_TOKEN: unknownPath,
  QUOTA_EXCEEDED: '429 rate-limited',
  REQUEST_TOO_LARGE: '413 payload-too-large',
  RESOURCE_NOT_FOUND: unknownPath,
  THROTTLED: '429 rate-limited',
  UNAUTHORIZED: '401 authentication-required',
  UNSUPPORTED_MEDIA_TYPE: {
    name: '/headers/content-type',
    reason: 'unsupported',
    message: 'Must be application/json.',
  },
  // The firewall does not report which rule rejected the request; its own rate rule has a response of its own (web-acl.ts).
  WAF_FILTERED: { name: '', reason: 'refused', message: 'The request was refused before it was read.' },
} as const satisfies Readonly<Record<string, SharedKey | KeyOfEach | InvalidParam>>;
export type GatewayResponseType = keyof typeof answers;
export const gatewayResponseTypes = Object.keys(answers) as readonly GatewayResponseType[];

function problemOf(service: ServiceName, type: GatewayResponseType): Problem {
  const answer: SharedKey | KeyOfEach | InvalidParam = answers[type];
  if (typeof answer === 'string') return occurrenceOf(problemRow(service, answer), { retryable: true });
  return 'reason' in answer
    ? occurrenceOf(problemRow(service, malformed[service]), { invalidParams: [answer] })
    : occurrenceOf(problemRow(service, answer[service]), {});
}

/** An entry of `x-amazon-apigateway-gateway-responses`. */
export interface GatewayResponse {
  readonly statusCode: number;
  readonly responseParameters: Readonly<Record<string, string>>;
  readonly responseTemplates: Readonly<Record<string, string>>;
}

/**
 * Returns the gateway's own responses as problem documents of the service. No route uses the gateway's authorizers, keys or IAM. So the gateway
 * reports missing, expired or denied authentication for an unknown path or method, and the response is the service's 404. An `Authorization: Bearer`
 * header on such a path makes it try AWS signatures, which ends in DEFAULT_4XX: the same 404.
 * @param allowedOrigins a single origin can read them in a browser; the gateway cannot choose among several
 */
export function gatewayResponses(
  service: ServiceName,
  problemsUrl: string,
  allowedOrigins: readonly string[],
): Readonly<Record<GatewayResponseType, GatewayResponse>> {
  return Object.fromEntries(
    gatewayResponseTypes.map((type) => [
      type,
      gatewayResponse(problemOf(service, type), problemsUrl, allowedOrigins),
    ]),
  ) as Record<GatewayResponseType, GatewayResponse>;
}

/** Returns the problem of a type as text for the firewall, which knows no request id. */
export function gatewayDocument(
  service: ServiceName,
  type: GatewayResponseType,
  problemsUrl: string,
): string {
  const unassigned = { requestId: 'unassigned', traceId: 'unassigned' };
  return JSON.stringify(problemDocument(problemOf(service, type), { problemsUrl, ...unassigned }));
}

function gatewayResponse(
  answer: Problem,
  problemsUrl: string,
  allowedOrigins: readonly string[],
): GatewayResponse {
  // The gateway replaces $context.requestId in the template; it is also the trace id, since no handler saw the request.
  const document = problemDocument(answer, {
    problemsUrl,
    requestId: '$context.requestId',
    traceId: '$context.requestId',
  });
  const header = (name: string): string => `gatewayresponse.header.${name}`;
  return {
    statusCode: answer.status,
    responseParameters: {
      [header('Content-Type')]: "'application/problem+json'",
      [header('Cache-Control')]: `'${CACHE_CONTROL}'`,
      [header('X-Content-Type-Options')]: "'nosniff'",
      [header('X-Request-Id')]: 'context.requestId',
      ...(answer.retryAfterSeconds === undefined
        ? {}
        : { [header('Retry-After')]: `'${String(answer.retryAfterSeconds)}'` }),
      ...Object.fromEntries(
        Object.entries(fixedCrossOriginHeaders(allowedOrigins)).map(([name, value]) => [
          header(name),
          `'${value}'`,
        ]),
      ),
    },
    responseTemplates: { 'application/json': JSON.stringify(document) },
  };
}
