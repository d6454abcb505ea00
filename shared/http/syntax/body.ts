import type { APIGatewayProxyEvent } from 'aws-lambda';
import { err, type Result } from '#shared/kernel/result.ts';
import { parseStrictJson, type StrictJsonError } from '#shared/kernel/strict-json.ts';
import type { InvalidParam } from '#shared/problems/problem.ts';
import { invalid } from './issues.ts';

type RawBody = Pick<APIGatewayProxyEvent, 'body'>;

export function bodySize({ body }: RawBody): number {
  return body === null ? 0 : Buffer.byteLength(body);
}

const FAULTS: Readonly<Record<StrictJsonError['kind'], readonly [reason: string, message: string]>> = {
  malformed: ['malformed-json', 'must be one JSON value'],
  'too-deep': ['too-deep', 'must be nested at most 64 levels deep'],
  'not-i-json': [
    'not-i-json',
    'must be I-JSON: no lone surrogates, no numbers too large or too small for a double',
  ],
  'duplicate-key': ['repeated-member', 'has a member name more than once'],
};

/**
 * Returns the JSON value of a body, read strictly: I-JSON, no repeated member name, bounded depth. The gateway passes text in which U+FFFD replaces
 * bytes that were not UTF-8. A finding contains names of members, but no value.
 */
export function parseBody({ body }: RawBody): Result<unknown, InvalidParam> {
  const parsed = parseStrictJson(body ?? '');
  return parsed.ok ? parsed : err(invalid('body', parsed.error.path, ...FAULTS[parsed.error.kind]));
}
