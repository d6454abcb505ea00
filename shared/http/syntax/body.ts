import type { APIGatewayProxyEvent } from 'aws-lambda';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { parseStrictJson } from '#shared/kernel/strict-json.ts';
import type { InvalidParam } from '#shared/problems/problem.ts';
import { invalid } from './issues.ts';

type RawBody = Pick<APIGatewayProxyEvent, 'body' | 'isBase64Encoded'>;

/** How many bytes the caller sent. */
export function bodySize({ body, isBase64Encoded }: RawBody): number {
  return body === null ? 0 : Buffer.byteLength(body, isBase64Encoded ? 'base64' : 'utf8');
}

/** The JSON value of a body, read strictly: UTF-8, I-JSON, no repeated member name, bounded depth. Nothing of it is in the finding. */
export function parseBody(raw: RawBody): Result<unknown, InvalidParam> {
  const text = textOf(raw);
  if (text === undefined) return err(invalid('body', [], 'invalid-encoding', 'must be UTF-8'));
  const parsed = parseStrictJson(text);
  if (parsed.ok) return ok(parsed.value);
  switch (parsed.error.kind) {
    case 'malformed':
      return err(invalid('body', [], 'malformed-json', 'must be one JSON value'));
    case 'too-deep':
      return err(invalid('body', [], 'too-deep', 'must be nested at most 64 levels deep'));
    case 'not-i-json':
      return err(
        invalid(
          'body',
          [],
          'not-i-json',
          'must be I-JSON: no lone surrogates, no numbers beyond double precision',
        ),
      );
    case 'duplicate-key':
      return err(
        invalid(
          'body',
          segmentsOf(parsed.error.pointer),
          'repeated-member',
          'has a member name more than once',
        ),
      );
  }
}

function textOf({ body, isBase64Encoded }: RawBody): string | undefined {
  if (!isBase64Encoded) return body ?? '';
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      Buffer.from(body ?? '', 'base64'),
    );
  } catch {
    return undefined;
  }
}

/** A pointer's segments, to be checked for names that may not be repeated to the caller. */
function segmentsOf(pointer: string): readonly string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}
