import type { APIGatewayProxyResult } from 'aws-lambda';
import type { Route } from '#shared/contract/route.ts';
import { isStrongEntityTag } from '#shared/kernel/entity-tag.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { problemDocument } from '#shared/problems/document.ts';
import type { Problem } from '#shared/problems/problem.ts';
import type { Exchange } from './exchange.ts';
import type { OperationAnswer } from './operation.ts';
import { pointerTo } from './syntax/issues.ts';

/** A problem as an HTTP answer. Built fresh each time: nothing of an upstream or of another answer can cling to it. */
export function problemAnswer(problem: Problem, exchange: Exchange): APIGatewayProxyResult {
  const withOperation =
    problem.service === 'reports' && exchange.control !== undefined
      ? { operationId: exchange.control.operationId, ...problem }
      : problem;
  return {
    statusCode: problem.status,
    headers: {
      'Content-Type': 'application/problem+json',
      ...(problem.status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}),
      ...(problem.retryAfterSeconds === undefined
        ? {}
        : { 'Retry-After': String(problem.retryAfterSeconds) }),
      ...problem.headers,
    },
    body: JSON.stringify(problemDocument(withOperation, exchange)),
    isBase64Encoded: false,
  };
}

/** Visible ASCII and spaces: no header value can begin another header. */
const HEADER_VALUE = /^[\x20-\x7e]+$/;

/**
 * An operation's answer as an HTTP answer, if it keeps its own contract: the body fits the route's schema exactly, every header is one that
 * the route declares. Otherwise the places that do not, by name and reason, without values.
 */
export function successAnswer(
  route: Route,
  answer: OperationAnswer,
  exchange: Exchange,
): Result<APIGatewayProxyResult, readonly string[]> {
  const parsed = route.success.schema.safeParse(answer.body);
  const headers: Readonly<Record<string, string | undefined>> = answer.headers ?? {};
  const reasons = [
    ...(parsed.error?.issues ?? []).map(
      ({ code, path }) =>
        `${code} at ${pointerTo(
          'body',
          path.map((segment) => (typeof segment === 'number' ? segment : String(segment))),
        )}`,
    ),
    ...Object.entries(headers).flatMap(([name, value]) => refuseHeader(route, name, value)),
  ];
  if (!parsed.success || reasons.length > 0) return err(reasons);
  const replayed =
    exchange.control?.replayed === true && route.success.headers.includes('Idempotent-Replayed');
  return ok({
    statusCode: route.success.status,
    headers: {
      'Content-Type': 'application/json',
      ...Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined)),
      ...(replayed ? { 'Idempotent-Replayed': 'true' } : {}),
    },
    body: JSON.stringify(parsed.data),
    isBase64Encoded: false,
  });
}

function refuseHeader(route: Route, name: string, value: string | undefined): readonly string[] {
  if (value === undefined) return [];
  const declared: readonly string[] = route.success.headers;
  if (!declared.includes(name)) return ['undeclared header'];
  if (!HEADER_VALUE.test(value) || (name === 'ETag' && !isStrongEntityTag(value)))
    return [`malformed header ${name}`];
  return [];
}
