import type * as z from 'zod';
import type { Route } from '#shared/contract/route.ts';
import { isStrongEntityTag } from '#shared/kernel/entity-tag.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { internalError } from '#shared/problems/registry.ts';
import type { PipelineAnswer } from './answers.ts';
import { acceptsGzip } from './content-coding.ts';
import type { Exchange } from './exchange.ts';
import type { OperationAnswer } from './operation.ts';
import { Refusal } from './refusal.ts';
import { headerValues } from './syntax/headers.ts';
import { pointerTo } from './syntax/issues.ts';

/**
 * The most bytes that the body of a buffered response may have as a string within JSON: a function's response ends at 6 MB, and Lambda turns a larger
 * one into a failure without a problem document. The rest is for status and headers.
 */
const MAX_BUFFERED_BYTES = 6 * 1024 * 1024 - 16 * 1024;
/** The most issues that are listed: the log shows no more. */
const MAX_REASONS = 100;

/** Visible ASCII and spaces: a header value cannot begin another header. */
const HEADER_VALUE = /^[\x20-\x7e]+$/;

/**
 * Turns an operation's response into an HTTP response: the body matches the route's schema exactly, the route declares every header, and a buffered
 * response is not larger than a function can return. Otherwise throws a Refusal with a 500, and logs each fault by name and reason, without values:
 * the service never sends a response that violates its contract [MA-224].
 */
export function checkResponse(route: Route, answer: OperationAnswer, exchange: Exchange): PipelineAnswer {
  const headers: Readonly<Record<string, string>> = answer.headers ?? {};
  const checked = checkBody(route.success.schema, answer.body);
  const reasons = [
    ...(checked.ok ? [] : checked.error),
    ...Object.entries(headers).flatMap(([name, value]) => refuseHeader(route, name, value)),
  ];
  if (!checked.ok || reasons.length > 0) throw refused(route, exchange, reasons);
  const streamed = route.success.transfer === 'stream';
  const body = streamed ? jsonPieces(checked.value) : JSON.stringify(checked.value);
  if (typeof body === 'string' && Buffer.byteLength(JSON.stringify(body)) > MAX_BUFFERED_BYTES)
    throw refused(route, exchange, ['larger than 6 MB']);
  return {
    statusCode: route.success.status,
    headers: { 'Content-Type': 'application/json', ...headers },
    body,
    gzip: streamed && acceptsGzip(headerValues(exchange.headers, 'accept-encoding')),
    log: exchange.log,
  };
}

function refused({ service }: Route, { log }: Exchange, reasons: readonly string[]): Refusal {
  log('ANSWER_REFUSED', { reasons });
  return new Refusal(internalError(service));
}

function refuseHeader(route: Route, name: string, value: string): readonly string[] {
  const declared: readonly string[] = route.success.headers;
  if (!declared.includes(name)) return ['undeclared header'];
  if (!HEADER_VALUE.test(value) || (name === 'ETag' && !isStrongEntityTag(value)))
    return [`malformed header ${name}`];
  return [];
}

/**
 * Checks a body against a schema, including undeclared members.
 * @returns what the schema makes of it, or what does not fit, by code and place, without values
 */
export function checkBody(schema: z.ZodType, body: unknown): Result<unknown, readonly string[]> {
  const { data, error } = schema.safeParse(body);
  if (error === undefined) return ok(data);
  return err(
    error.issues
      .slice(0, MAX_REASONS)
      .map(({ code, path }) => `${code} at ${pointerTo('body', path.map(loggable))}`),
  );
}

/** Returns a step of a path as a log line may contain it: a name unlike those of the contract could be an id. */
function loggable(step: PropertyKey): string {
  return /^\w{1,64}$/.test(String(step)) ? String(step) : '*';
}

/**
 * Serializes a checked body like `JSON.stringify`, in pieces: objects by their members, arrays by their elements, which are not divided further. It
 * serializes the rows of an array one at a time, so that the text of a large body is never in memory as a whole.
 */
export function* jsonPieces(value: unknown): Generator<string, void, undefined> {
  if (Array.isArray(value)) {
    let before = '[';
    for (const row of value as readonly unknown[]) {
      yield before + JSON.stringify(row);
      before = ',';
    }
    yield before === '[' ? '[]' : ']';
  } else if (typeof value === 'object' && value !== null) {
    let before = '{';
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue;
      yield `${before}${JSON.stringify(name)}:`;
      yield* jsonPieces(member);
      before = ',';
    }
    yield before === '{' ? '{}' : '}';
  } else {
    yield JSON.stringify(value);
  }
}
