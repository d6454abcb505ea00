import type { Route } from '#shared/contract/route.ts';
import { isStrongEntityTag } from '#shared/kernel/entity-tag.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { problemDocument } from '#shared/problems/document.ts';
import type { Log } from '#shared/observability/logger.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { checkBody } from './checked-body.ts';
import type { CheckedBody } from './checked-body.ts';
import { acceptsGzip } from './content-coding.ts';
import type { Exchange } from './exchange.ts';
import type { OperationAnswer } from './operation.ts';
import { headerValues } from './syntax/headers.ts';

/** What a success can be besides a text: the body of a streamed route, or bytes as they are. */
export type AnswerBody = CheckedBody | Uint8Array;

/** What comes out of the ladder, for a gateway: lambda-function.ts hands it over in the form that the route's transfer asks for. */
export interface PipelineAnswer<Body extends AnswerBody = AnswerBody> {
  statusCode: number;
  headers: Record<string, string>;
  /** Not a text only for a success that is streamed. */
  readonly body: string | Body;
  /** Whether the body may go out compressed. */
  readonly gzip: boolean;
  /** For what happens on the way out. */
  readonly log: Log;
}

/**
 * What the body of a buffered answer may take up as a string within JSON: a function's answer ends at 6 MB, and Lambda would make of a
 * larger one a failure without a problem document. The rest is for status and headers.
 */
const MAX_BUFFERED_BYTES = 6 * 1024 * 1024 - 16 * 1024;
/** No character of a JSON text needs more when it is quoted once more. */
const MAX_BYTES_PER_CHARACTER = 3;

/** A problem as an HTTP answer. Built fresh each time: nothing of an upstream or of another answer can cling to it. */
export function problemAnswer(problem: Problem, exchange: Exchange): PipelineAnswer<never> {
  const operationId = operationOf(problem, exchange);
  const withOperation = operationId === undefined ? problem : { operationId, ...problem };
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
    gzip: false,
    log: exchange.log,
  };
}

/**
 * The operation that a problem belongs to, on the service that names it: from the moment when its work has begun, in whichever request of
 * its key that was [RP-330]. A repetition that is not allowed to see the resource gets the one 404, which says nothing of an operation.
 */
function operationOf({ service, status }: Problem, { control, keyed }: Exchange): string | undefined {
  if (service !== 'reports') return undefined;
  return control?.operationId ?? (status === 404 ? undefined : keyed?.begun);
}

/** Visible ASCII and spaces: no header value can begin another header. */
const HEADER_VALUE = /^[\x20-\x7e]+$/;

/**
 * An operation's answer as an HTTP answer, if it keeps its own contract: the body fits the route's schema exactly, every header is one that
 * the route declares, and a buffered answer fits into what a function can return. Otherwise the places that do not, by name and reason,
 * without values.
 */
export function successAnswer(
  route: Route,
  answer: OperationAnswer,
  exchange: Exchange,
): Result<PipelineAnswer<CheckedBody>, readonly string[]> {
  const headers: Readonly<Record<string, string | undefined>> = answer.headers ?? {};
  const checked = checkBody(route, answer.body);
  const reasons = [
    ...(checked.ok ? [] : checked.error),
    ...Object.entries(headers).flatMap(([name, value]) => refuseHeader(route, name, value)),
  ];
  if (!checked.ok || reasons.length > 0) return err(reasons);
  const streamed = route.success.transfer === 'stream';
  const body = streamed ? checked.value : checked.value.text();
  if (typeof body === 'string' && !fitsBuffered(body)) return err(['larger than 6 MB']);
  const replayed =
    exchange.control?.replayed === true && route.success.headers.includes('Idempotent-Replayed');
  return ok({
    statusCode: route.success.status,
    headers: {
      'Content-Type': 'application/json',
      ...Object.fromEntries(
        Object.entries(headers).filter((header): header is [string, string] => header[1] !== undefined),
      ),
      ...(replayed ? { 'Idempotent-Replayed': 'true' } : {}),
    },
    body,
    gzip: streamed && acceptsGzip(headerValues(exchange.headers, 'accept-encoding')),
    log: exchange.log,
  });
}

function fitsBuffered(text: string): boolean {
  return (
    text.length * MAX_BYTES_PER_CHARACTER <= MAX_BUFFERED_BYTES ||
    Buffer.byteLength(JSON.stringify(text)) <= MAX_BUFFERED_BYTES
  );
}

function refuseHeader(route: Route, name: string, value: string | undefined): readonly string[] {
  if (value === undefined) return [];
  const declared: readonly string[] = route.success.headers;
  if (!declared.includes(name)) return ['undeclared header'];
  if (!HEADER_VALUE.test(value) || (name === 'ETag' && !isStrongEntityTag(value)))
    return [`malformed header ${name}`];
  return [];
}
