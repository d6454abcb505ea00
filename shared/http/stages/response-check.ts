import type { Route } from '#shared/contract/route.ts';
import { isStrongEntityTag } from '#shared/kernel/entity-tag.ts';
import { internalError } from '#shared/problems/registry.ts';
import type { PipelineAnswer } from '../answers.ts';
import { checkBody } from '../checked-body.ts';
import type { CheckedBody } from '../checked-body.ts';
import { acceptsGzip } from '../content-coding.ts';
import { exchangeOf } from '../exchange.ts';
import type { Exchange } from '../exchange.ts';
import type { OperationAnswer } from '../operation.ts';
import { Refusal } from '../refusal.ts';
import { headerValues } from '../syntax/headers.ts';
import type { Stage } from './stage.ts';

/** Checks what the operation returned: an answer that breaks its own contract is a 500 and is never sent [MA-224]. */
export function responseCheck(route: Route): Stage {
  return {
    after: (request) => {
      const { response, context } = request;
      if (response === undefined || response === null || 'statusCode' in response)
        throw new TypeError('the operation returned no answer');
      request.response = checkResponse(route, response, exchangeOf(context));
    },
  };
}

/**
 * What the body of a buffered answer may take up as a string within JSON: a function's answer ends at 6 MB, and Lambda would make of a
 * larger one a failure without a problem document. The rest is for status and headers.
 */
const MAX_BUFFERED_BYTES = 6 * 1024 * 1024 - 16 * 1024;
/** No character of a JSON text needs more when it is quoted once more. */
const MAX_BYTES_PER_CHARACTER = 3;

/** Visible ASCII and spaces: no header value can begin another header. */
const HEADER_VALUE = /^[\x20-\x7e]+$/;

/**
 * An operation's answer as an HTTP answer: the body fits the route's schema exactly, every header is one that the route declares, and a
 * buffered answer fits into what a function can return. Otherwise it throws a Refusal with a 500, and logs each fault by name and reason,
 * without values.
 */
export function checkResponse(
  route: Route,
  answer: OperationAnswer,
  exchange: Exchange,
): PipelineAnswer<CheckedBody> {
  const headers: Readonly<Record<string, string | undefined>> = answer.headers ?? {};
  const checked = checkBody(route.success.schema, answer.body);
  const reasons = [
    ...(checked.ok ? [] : checked.error),
    ...Object.entries(headers).flatMap(([name, value]) => refuseHeader(route, name, value)),
  ];
  if (!checked.ok || reasons.length > 0) throw refused(route, exchange, reasons);
  const streamed = route.success.transfer === 'stream';
  const body = streamed ? checked.value : checked.value.text();
  if (typeof body === 'string' && !fitsBuffered(body)) throw refused(route, exchange, ['larger than 6 MB']);
  return {
    statusCode: route.success.status,
    headers: {
      'Content-Type': 'application/json',
      ...Object.fromEntries(
        Object.entries(headers).filter((header): header is [string, string] => header[1] !== undefined),
      ),
    },
    body,
    gzip: streamed && acceptsGzip(headerValues(exchange.headers, 'accept-encoding')),
    log: exchange.log,
  };
}

function refused({ service }: Route, { log }: Exchange, reasons: readonly string[]): Refusal {
  log('ANSWER_REFUSED', { reasons });
  return new Refusal(internalError(service));
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
