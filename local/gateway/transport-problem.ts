import { STATUS_CODES } from 'node:http';
import { CACHE_CONTROL } from '#shared/contract/cache-control.ts';
import type { HttpAnswer } from './http-answer.ts';

const details = {
  400: 'The request is no HTTP/1.1 request that a server can read.',
  408: 'The request did not arrive in time.',
  413: 'The chunk extensions of the request are too large.',
  421: 'This server answers under the name and port of the loopback interface only.',
  431: 'The header fields of the request are too large.',
} as const;
export type TransportStatus = keyof typeof details;

/**
 * What this server refuses before any service is asked: a problem without a type of its own (RFC 9457 section 4.2.1). A deployed API never
 * gets such a request; what is in front of it answers a text of its own.
 */
export function transportProblem(status: TransportStatus): HttpAnswer {
  return {
    status,
    headers: { 'Content-Type': 'application/problem+json', 'Cache-Control': CACHE_CONTROL },
    body: JSON.stringify({
      type: 'about:blank',
      title: STATUS_CODES[status],
      status,
      detail: details[status],
    }),
  };
}

const parserErrors: ReadonlyMap<string | undefined, TransportStatus> = new Map([
  ['HPE_HEADER_OVERFLOW', 431],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 413],
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
]);

/** Finds the status for an error of the HTTP parser, as Node itself answers it without a body. */
export function statusOfParserError({ code }: NodeJS.ErrnoException): TransportStatus {
  return parserErrors.get(code) ?? 400;
}

/** The whole answer as it goes over a connection that ends with it. */
export function onTheWire({ status, headers, body }: HttpAnswer): string {
  const fields = { ...headers, 'Content-Length': Buffer.byteLength(body), Connection: 'close' };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${String(value)}`);
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, ...lines, '', body].join('\r\n');
}
