import type { APIGatewayProxyEvent } from 'aws-lambda';
import { err } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { decodeUtf8, parseStrictJson } from '#shared/kernel/strict-json.ts';
import type { StrictJsonError } from '#shared/kernel/strict-json.ts';
import type { InvalidParam } from '#shared/problems/problem.ts';
import { invalid } from './issues.ts';

type RawBody = Pick<APIGatewayProxyEvent, 'body' | 'isBase64Encoded'>;

/** How many bytes the caller sent. */
export function bodySize({ body, isBase64Encoded }: RawBody): number {
  return body === null ? 0 : Buffer.byteLength(body, isBase64Encoded ? 'base64' : 'utf8');
}

const FAULTS: Readonly<Record<StrictJsonError['kind'], readonly [reason: string, message: string]>> = {
  malformed: ['malformed-json', 'must be one JSON value'],
  'too-deep': ['too-deep', 'must be nested at most 64 levels deep'],
  'not-i-json': ['not-i-json', 'must be I-JSON: no lone surrogates, no numbers beyond double precision'],
  'duplicate-key': ['repeated-member', 'has a member name more than once'],
};

/** The JSON value of a body, read strictly: UTF-8, I-JSON, no repeated member name, bounded depth. Nothing of it is in the finding. */
export function parseBody({ body, isBase64Encoded }: RawBody): Result<unknown, InvalidParam> {
  const text = isBase64Encoded
    ? decodeUtf8(Buffer.from(body ?? '', 'base64'), { ignoreBOM: true })
    : (body ?? '');
  if (text === undefined) return err(invalid('body', [], 'invalid-encoding', 'must be UTF-8'));
  const parsed = parseStrictJson(text);
  if (parsed.ok) return parsed;
  const place = parsed.error.kind === 'duplicate-key' ? segmentsOf(parsed.error.pointer) : [];
  return err(invalid('body', place, ...FAULTS[parsed.error.kind]));
}

/** A pointer's segments, to be checked for names that may not be repeated to the caller. */
function segmentsOf(pointer: string): readonly string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}
