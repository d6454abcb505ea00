import type { Route } from './route.ts';

/** Response headers that a page may read, in addition to those that the Fetch standard always shows (`Content-Type`, `Cache-Control`, …). */
const exposed = {
  ETag: true,
  'Retry-After': true,
  'X-Request-Id': true,
  // The client compares a continuation's expiry with it.
  Date: true,
  Deprecation: true,
  Sunset: true,
  Link: true,
  'Idempotent-Replayed': true,
} satisfies Readonly<Record<Route['success']['headers'][number] | 'X-Request-Id' | 'Date', true>>;

/** Request headers that a page may send, in addition to those that the Fetch standard always allows. */
const requestHeaders = [
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-Match',
  'traceparent',
  'tracestate',
];

/** Seconds that a browser may keep the response to a preflight. */
const MAX_AGE_SECONDS = 600;

/** Returns the headers that let pages of one origin read a response and its headers. */
export function crossOriginHeaders(origin: string): Readonly<Record<string, string>> {
  return {
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Expose-Headers': Object.keys(exposed).join(', '),
  };
}

/** Returns the same for a response that is fixed in advance: it cannot name the right one of several allowed origins, and must not name all. */
export function fixedCrossOriginHeaders(allowedOrigins: readonly string[]): Readonly<Record<string, string>> {
  const [only, another] = allowedOrigins;
  return only === undefined || another !== undefined ? {} : crossOriginHeaders(only);
}

/**
 * Returns the response headers to a preflight request (`OPTIONS`).
 * @param methods those that the path has
 */
export function preflightHeaders(
  methods: readonly string[],
  origin: string,
): Readonly<Record<string, string>> {
  return {
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Allow-Methods': methods.join(', '),
    'Access-Control-Allow-Headers': requestHeaders.join(', '),
    'Access-Control-Max-Age': String(MAX_AGE_SECONDS),
    Vary: 'Origin',
  };
}
