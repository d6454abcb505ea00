import { fixedCrossOriginHeaders } from '#shared/contract/cors.ts';
import type { ServiceName } from '#shared/contract/route.ts';
import { problemDocument } from './document.ts';
import type { InvalidParam, Problem } from './problem.ts';
import { internalError, problem } from './registry.ts';

/** The problems that are not about a place of the request. */
const problems = {
  mastery: {
    unknownPath: problem('mastery', 'resource-not-found', 404),
    unauthenticated: problem('mastery', 'authentication-required', 401),
    tooLarge: problem('mastery', 'payload-too-large', 413),
    rateLimited: problem('mastery', 'rate-limited', 429),
    internal: internalError('mastery'),
  },
  reports: {
    unknownPath: problem('reports', 'not-found', 404),
    unauthenticated: problem('reports', 'authentication-required', 401),
    tooLarge: problem('reports', 'payload-too-large', 413),
    rateLimited: problem('reports', 'rate-limited', 429),
    internal: internalError('reports'),
  },
} as const satisfies Readonly<Record<ServiceName, object>>;

/** Every type of answer that API Gateway gives by itself: its problem, or the place of the request that is malformed. */
const answers = {
  ACCESS_DENIED: 'unknownPath',
  API_CONFIGURATION_ERROR: 'internal',
  AUTHORIZER_CONFIGURATION_ERROR: 'internal',
  AUTHORIZER_FAILURE: 'internal',
  BAD_REQUEST_BODY: { name: '/body', reason: 'malformed', message: 'The body cannot be read.' },
  BAD_REQUEST_PARAMETERS: { name: '', reason: 'malformed', message: 'A parameter cannot be read.' },
  DEFAULT_4XX: 'unknownPath',
  DEFAULT_5XX: 'internal',
  EXPIRED_TOKEN: 'unknownPath',
  INTEGRATION_FAILURE: 'internal',
  INTEGRATION_TIMEOUT: 'internal',
  INVALID_API_KEY: 'unknownPath',
  INVALID_SIGNATURE: 'unknownPath',
  MISSING_AUTHENTICATION_TOKEN: 'unknownPath',
  QUOTA_EXCEEDED: 'rateLimited',
  REQUEST_TOO_LARGE: 'tooLarge',
  RESOURCE_NOT_FOUND: 'unknownPath',
  THROTTLED: 'rateLimited',
  UNAUTHORIZED: 'unauthenticated',
  UNSUPPORTED_MEDIA_TYPE: {
    name: '/headers/content-type',
    reason: 'unsupported',
    message: 'Must be application/json.',
  },
  // The firewall does not say which rule refused; its own rate rule answers by itself (web-acl.ts).
  WAF_FILTERED: { name: '', reason: 'refused', message: 'The request was refused before it was read.' },
} as const satisfies Readonly<Record<string, keyof (typeof problems)['mastery'] | InvalidParam>>;
export type GatewayResponseType = keyof typeof answers;
export const gatewayResponseTypes = Object.keys(answers) as readonly GatewayResponseType[];

function problemOf(service: ServiceName, type: GatewayResponseType): Problem {
  const answer: keyof (typeof problems)['mastery'] | InvalidParam = answers[type];
  if (typeof answer === 'string') return problems[service][answer];
  return service === 'mastery'
    ? problem('mastery', 'invalid-request', 400, { invalidParams: [answer] })
    : problem('reports', 'validation', 400, { invalidParams: [answer] });
}

/** An entry of `x-amazon-apigateway-gateway-responses`. */
export interface GatewayResponse {
  readonly statusCode: number;
  readonly responseParameters: Readonly<Record<string, string>>;
  readonly responseTemplates: Readonly<Record<string, string>>;
}

/**
 * The gateway's own answers as problem documents of the service. No route uses the gateway's authorizers, keys or IAM, so what the gateway
 * calls missing, expired or denied authentication is how it answers an unknown path or method: the service's 404. An `Authorization: Bearer`
 * header on such a path makes it try AWS signatures, which ends in DEFAULT_4XX: the same 404.
 * @param allowedOrigins a single one can read them in a browser; the gateway cannot choose among several
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

/** The problem that a rate limit of either service answers, for the firewall, which knows no request id. */
export function rateLimitedDocument(service: ServiceName, problemsUrl: string): string {
  const unassigned = 'unassigned';
  return JSON.stringify(
    problemDocument(problems[service].rateLimited, {
      problemsUrl,
      requestId: unassigned,
      traceId: unassigned,
    }),
  );
}

function gatewayResponse(
  answer: Problem,
  problemsUrl: string,
  allowedOrigins: readonly string[],
): GatewayResponse {
  // The gateway replaces $context.requestId in the template; it stands for the trace too, since no handler saw the request.
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
      [header('Cache-Control')]: "'no-store'",
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
