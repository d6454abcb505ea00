import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { InvalidParam } from '#shared/problems/problem.ts';
import { invalid } from './issues.ts';

/** Lower-case names, every value that arrived under each. */
export type Headers = Readonly<Record<string, readonly string[]>>;

/** 1-255 visible ASCII characters; quotes are data [MA-045, RP-291]. */
const KEY = /^[\x21-\x7e]{1,255}$/;
const MEDIA_TYPE = /^application\/json *(?:; *charset *= *(?:utf-8|"utf-8") *)?;? *$/i;

/**
 * Every value of every header under its lower-case name. Spellings that differ only in case are one header: a normalizer that lets the last
 * spelling win (as Middy's does) would hide the second of two Authorization headers.
 */
export function readHeaders({ multiValueHeaders }: Pick<APIGatewayProxyEvent, 'multiValueHeaders'>): Headers {
  const headers = new Map<string, string[]>();
  // The gateway gives null where there is none, whatever the type says.
  for (const [name, values] of Object.entries((multiValueHeaders as typeof multiValueHeaders | null) ?? {})) {
    const key = name.toLowerCase();
    headers.set(key, [...(headers.get(key) ?? []), ...(values ?? [])]);
  }
  return Object.fromEntries(headers);
}

/** All values of a header. */
export function headerValues(headers: Headers, name: string): readonly string[] {
  return Object.hasOwn(headers, name) ? (headers[name] ?? []) : [];
}

/** The one Idempotency-Key of a request that must have one, or what is wrong. */
export function readIdempotencyKey(
  headers: Headers,
): { readonly key: string } | { readonly invalid: InvalidParam } {
  const [key, second] = headerValues(headers, 'idempotency-key');
  const refuse = (reason: string, message: string): { readonly invalid: InvalidParam } => ({
    invalid: invalid('headers', ['idempotency-key'], reason, message),
  });
  if (key === undefined) return refuse('required', 'is required');
  if (second !== undefined) return refuse('repeated', 'must be sent once');
  if (!KEY.test(key)) return refuse('invalid-format', 'must be 1 to 255 visible ASCII characters');
  return { key };
}

/** What is wrong with the media type of a body: it must be JSON in UTF-8, said once. */
export function refuseMediaType(headers: Headers): InvalidParam | undefined {
  const [value, second] = headerValues(headers, 'content-type');
  const at = (reason: string, message: string): InvalidParam =>
    invalid('headers', ['content-type'], reason, message);
  if (value === undefined) return at('required', 'is required');
  if (second !== undefined) return at('repeated', 'must be sent once');
  return MEDIA_TYPE.test(value) ? undefined : at('not-allowed', 'must be application/json in UTF-8');
}

/**
 * If-Match as it was sent, for the operation to compare: several header lines are one list (RFC 9110), which equals no entity tag.
 * Undefined: absent.
 */
export function readIfMatch(headers: Headers): string | undefined {
  const values = headerValues(headers, 'if-match');
  return values.length === 0 ? undefined : values.join(', ');
}
