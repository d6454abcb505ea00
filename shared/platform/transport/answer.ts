import { parseStrictJson } from '#shared/kernel/strict-json.ts';
import type { FetchAnswer } from '#shared/network/http-client.ts';
import type { UpstreamFault } from '../fault.ts';

const REQUEST_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;
/** As long as the version of a receipt can be [RP-086]. */
const ENTITY_TAG = /^(?=.{2,255}$)(?:W\/)?"[\x21\x23-\x7e]*"$/;
const JSON_TYPE = /^application\/(?:[a-z0-9!#$&^_.+-]+\+)?json(?:\s*;\s*charset\s*=\s*"?utf-8"?)?\s*$/i;

/** Whether the text is one entity tag (RFC 9110 section 8.8.3), strong or weak, of at most 255 characters, quotes included. */
export function isEntityTag(text: string): boolean {
  return ENTITY_TAG.test(text);
}

/** Whether two entity tags name one version by the weak comparison (RFC 9110 section 8.8.3.2), which `If-None-Match` asks for. */
export function matchesWeakly(one: string, other: string): boolean {
  return one.replace(/^W\//, '') === other.replace(/^W\//, '');
}

/** The two headers that are kept, each only in its agreed form; everything else an owner sends is dropped unread. */
export function keptHeaders(headers: FetchAnswer['headers']): {
  etag: string | undefined;
  upstreamRequestId: string | undefined;
} {
  return {
    etag: matching(ENTITY_TAG, headers.get('etag')),
    upstreamRequestId: matching(REQUEST_ID, headers.get('x-request-id')),
  };
}

function matching(pattern: RegExp, text: string | null): string | undefined {
  return text !== null && pattern.test(text) ? text : undefined;
}

/** Whether the media type is JSON in UTF-8. */
export function isJson(contentType: string | null): boolean {
  return contentType !== null && JSON_TYPE.test(contentType);
}

/** What a status outside the row's successes means (see UpstreamFault). */
export function faultOfStatus(status: number): UpstreamFault['kind'] {
  if (status === 404) return 'not-found';
  if (status === 409 || status === 412) return 'conflict';
  if (status === 408 || status === 425 || status === 429 || status >= 500) return 'unavailable';
  // A redirect, or a success that the row does not know, is not what the owner promises.
  return status >= 400 ? 'rejected' : 'malformed';
}

/** The JSON value of UTF-8 bytes; undefined for anything that is not strict JSON: bad UTF-8, duplicate names, NaN, HTML, a cut text. */
export function parseBytes(bytes: Uint8Array): { readonly value: unknown } | undefined {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
  const parsed = parseStrictJson(text);
  return parsed.ok ? { value: parsed.value } : undefined;
}
