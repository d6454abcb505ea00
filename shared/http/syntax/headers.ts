import type { APIGatewayProxyEvent } from 'aws-lambda';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { InvalidParam } from '#shared/problems/problem.ts';
import { invalid } from './issues.ts';

/** Every value per header, under its lower-case name. */
export type Headers = Readonly<Record<string, readonly string[]>>;

/** The form of each header that some routes require, and the reason and message for a value of another form. */
const sentOnce = {
  /** Quotes are part of the value [MA-045, RP-291]. */
  'idempotency-key': {
    form: /^[\x21-\x7e]{1,255}$/,
    wrongForm: ['invalid-format', 'must be 1 to 255 visible ASCII characters'],
  },
  'content-type': {
    form: /^application\/json *(?:; *charset *= *(?:utf-8|"utf-8") *)?;? *$/i,
    wrongForm: ['not-allowed', 'must be application/json in UTF-8'],
  },
} as const;

/**
 * Returns every value of every header under its lower-case name. Spellings that differ only in case are one header: a normalizer in which the last
 * spelling wins (such as Middy's) would hide the second of two Authorization headers.
 */
export function readHeaders({ multiValueHeaders }: Pick<APIGatewayProxyEvent, 'multiValueHeaders'>): Headers {
  const headers = new Map<string, string[]>();
  // The gateway passes null if there is none, contrary to the type.
  for (const [name, values] of Object.entries((multiValueHeaders as typeof multiValueHeaders | null) ?? {})) {
    const key = name.toLowerCase();
    headers.set(key, [...(headers.get(key) ?? []), ...(values ?? [])]);
  }
  return Object.fromEntries(headers);
}

export function headerValues(headers: Headers, name: string): readonly string[] {
  return Object.hasOwn(headers, name) ? (headers[name] ?? []) : [];
}

/** Returns the value of a header that must be sent once, or what is wrong with it. */
export function readOne(headers: Headers, name: keyof typeof sentOnce): Result<string, InvalidParam> {
  const [value, second] = headerValues(headers, name);
  const { form, wrongForm } = sentOnce[name];
  const [reason, message] = wrongForm;
  if (value === undefined) return err(invalid('headers', [name], 'required', 'is required'));
  if (second !== undefined) return err(invalid('headers', [name], 'repeated', 'must be sent once'));
  return form.test(value) ? ok(value) : err(invalid('headers', [name], reason, message));
}

/** Returns If-Match as sent, for the operation to compare; undefined if absent. Several lines are one list (RFC 9110), which equals no entity tag. */
export function readIfMatch(headers: Headers): string | undefined {
  const values = headerValues(headers, 'if-match');
  return values.length === 0 ? undefined : values.join(', ');
}
