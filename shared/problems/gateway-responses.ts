import { fixedCrossOriginHeaders } from '#shared/contract/cors.ts';
import type { ServiceName } from '#shared/contract/route.ts';
import { problemDocument } from './document.ts';
import type { InvalidParam, Problem } from './problem.ts';
import { internalError, problem } from './registry.ts';

/** Every type of answer that API Gateway gives by itself. */
export const gatewayResponseTypes = [
  'ACCESS_DENIED',
  'API_CONFIGURATION_ERROR',
  'AUTHORIZER_CONFIGURATION_ERROR',
  'AUTHORIZER_FAILURE',
  'BAD_REQUEST_BODY',
  'BAD_REQUEST_PARAMETERS',
  'DEFAULT_4XX',
  'DEFAULT_5XX',
  'EXPIRED_TOKEN',
  'INTEGRATION_FAILURE',
  'INTEGRATION_TIMEOUT',
  'INVALID_API_KEY',
  'INVALID_SIGNATURE',
  'MISSING_AUTHENTICATION_TOKEN',
  'QUOTA_EXCEEDED',
  'REQUEST_TOO_LARGE',
  'RESOURCE_NOT_FOUND',
  'THROTTLED',
  'UNAUTHORIZED',
  'UNSUPPORTED_MEDIA_TYPE',
  'WAF_FILTERED',
] as const;
export type GatewayResponseType = (typeof gatewayResponseTypes)[number];

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
  const answers = answersOf(service);
  return Object.fromEntries(
    gatewayResponseTypes.map((type) => [type, gatewayResponse(answers[type], problemsUrl, allowedOrigins)]),
  ) as Record<GatewayResponseType, GatewayResponse>;
}

function answersOf(service: ServiceName): Readonly<Record<GatewayResponseType, Problem>> {
  const of = service === 'mastery' ? mastery : reports;
  return {
    ACCESS_DENIED: of.unknownPath,
    EXPIRED_TOKEN: of.unknownPath,
    INVALID_API_KEY: of.unknownPath,
    INVALID_SIGNATURE: of.unknownPath,
    MISSING_AUTHENTICATION_TOKEN: of.unknownPath,
    RESOURCE_NOT_FOUND: of.unknownPath,
    DEFAULT_4XX: of.unknownPath,
    UNAUTHORIZED: of.unauthenticated,
    BAD_REQUEST_BODY: of.malformed({
      name: '/body',
      reason: 'malformed',
      message: 'The body cannot be read.',
    }),
    BAD_REQUEST_PARAMETERS: of.malformed({
      name: '',
      reason: 'malformed',
      message: 'A parameter cannot be read.',
    }),
    UNSUPPORTED_MEDIA_TYPE: of.malformed({
      name: '/headers/content-type',
      reason: 'unsupported',
      message: 'Must be application/json.',
    }),
    // The firewall does not say which rule refused; its own rate rule answers by itself (web-acl.ts).
    WAF_FILTERED: of.malformed({
      name: '',
      reason: 'refused',
      message: 'The request was refused before it was read.',
    }),
    REQUEST_TOO_LARGE: of.tooLarge,
    THROTTLED: of.rateLimited,
    QUOTA_EXCEEDED: of.rateLimited,
    API_CONFIGURATION_ERROR: of.internal,
    AUTHORIZER_CONFIGURATION_ERROR: of.internal,
    AUTHORIZER_FAILURE: of.internal,
    DEFAULT_5XX: of.internal,
    INTEGRATION_FAILURE: of.internal,
    INTEGRATION_TIMEOUT: of.internal,
  };
}

const mastery = {
  unknownPath: problem('mastery', 'resource-not-found', 404),
  unauthenticated: problem('mastery', 'authentication-required', 401),
  malformed: (place: InvalidParam): Problem =>
    problem('mastery', 'invalid-request', 400, { invalidParams: [place] }),
  tooLarge: problem('mastery', 'payload-too-large', 413),
  rateLimited: problem('mastery', 'rate-limited', 429),
  internal: internalError('mastery'),
};

const reports: typeof mastery = {
  unknownPath: problem('reports', 'not-found', 404),
  unauthenticated: problem('reports', 'authentication-required', 401),
  malformed: (place) => problem('reports', 'validation', 400, { invalidParams: [place] }),
  tooLarge: problem('reports', 'payload-too-large', 413),
  rateLimited: problem('reports', 'rate-limited', 429),
  internal: internalError('reports'),
};

/** The problem that a rate limit of either service answers, for the firewall, which knows no request id. */
export function rateLimitedDocument(service: ServiceName, problemsUrl: string): string {
  const of = service === 'mastery' ? mastery : reports;
  const unassigned = 'unassigned';
  return JSON.stringify(
    problemDocument(of.rateLimited, { problemsUrl, requestId: unassigned, traceId: unassigned }),
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
