import { sha256Hex, sha256OfChunks } from '#shared/kernel/canonical-json.ts';
import { decodeUtf8, parseStrictJson } from '#shared/kernel/strict-json.ts';
import { readCapped, type FetchAnswer } from '#shared/network/http-client.ts';
import { faultKindOf } from '../fault.ts';
import type { FaultKind } from '../verdicts.ts';
import type { UpstreamOperation } from '../operation.ts';
import type { AnswerMemo } from './answer-memo.ts';

const REQUEST_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;
/** One entity tag (RFC 9110 section 8.8.3), strong or weak, as long as the version of a receipt can be [RP-086]. */
const ENTITY_TAG = /^(?=.{2,255}$)(?:W\/)?"[\x21\x23-\x7e]*"$/;
const JSON_TYPE = /^application\/(?:[a-z0-9!#$&^_.+-]+\+)?json(?:\s*;\s*charset\s*=\s*"?utf-8"?)?\s*$/i;

/** The outcome of one attempt, and finally of one call. */
export interface Outcome {
  readonly kind: 'answered' | 'unchanged' | FaultKind;
  readonly status?: number;
  readonly etag?: string | undefined;
  readonly upstreamRequestId?: string | undefined;
  /** SHA-256 hex. */
  readonly bodyHash?: string;
  /** The value of an answer after its row's schema. */
  readonly value?: unknown;
  /** The tenant that an answer names, if its row requires one. */
  readonly namedTenant?: string;
  /** Milliseconds that the owner asks to wait. */
  readonly retryAfter?: number | undefined;
}

/** What an answer is compared with, in addition to its row. */
interface Expected {
  /** The entity tag of `If-None-Match`. */
  readonly asked: string | undefined;
  /** The values of the call, by their names. */
  readonly named: Readonly<Record<string, unknown>>;
  readonly tenantId: string;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly memo: AnswerMemo | undefined;
}

/**
 * Reads an answer and judges it by its row: status, media type, size, schema, tenant, echo. It keeps two headers, each only in its agreed form, and
 * drops everything else that an owner sends unread. Rejects if the body breaks off.
 */
export async function readAnswer(
  operation: UpstreamOperation,
  { status, headers, body }: FetchAnswer,
  { asked, named, tenantId, now, memo }: Expected,
): Promise<Outcome> {
  const head = {
    status,
    etag: matching(ENTITY_TAG, headers.get('etag')),
    upstreamRequestId: matching(REQUEST_ID, headers.get('x-request-id')),
  };
  if (status === 304 && asked !== undefined) {
    const { etag = asked } = head;
    // `If-None-Match` compares weakly (RFC 9110 section 8.8.3.2). A 304 that names another version confirms nothing.
    const isAsked = etag.replace(/^W\//, '') === asked.replace(/^W\//, '');
    return { ...head, kind: isAsked ? 'unchanged' : 'malformed', etag };
  }
  if (!operation.success.includes(status))
    return {
      ...head,
      kind: faultKindOf(status),
      retryAfter: parseRetryAfter(headers.get('retry-after'), now),
    };
  if (operation.bodyIgnored === true) return { ...head, kind: 'answered', bodyHash: sha256Hex('') };
  const chunks = await readCapped(body, operation.maxAnswerBytes);
  if (chunks === undefined) return { ...head, kind: 'malformed' };
  const bodyHash = sha256OfChunks(chunks);
  const isJson = JSON_TYPE.test(headers.get('content-type') ?? '');
  const answer = isJson ? understand(operation, chunks, bodyHash, memo) : ('malformed' as const);
  if (typeof answer === 'string') return { ...head, kind: answer, bodyHash };
  const { value } = answer;
  const kind = repeats(operation, value, named) ? 'answered' : 'wrong-entity';
  if (!operation.tenantInAnswer) return { ...head, kind, bodyHash, value };
  // SAFETY: the schemas of such rows have this member.
  const { tenantId: namedTenant } = value as { readonly tenantId: string };
  return { ...head, kind: namedTenant === tenantId ? kind : 'wrong-tenant', bodyHash, value, namedTenant };
}

/** Returns the values of a call's body, query and path, by their names. */
export function namesOf(call: {
  readonly body?: unknown;
  readonly query?: object;
  readonly path?: object;
}): Readonly<Record<string, unknown>> {
  return { ...Object(call.body), ...call.query, ...call.path } as Readonly<Record<string, unknown>>;
}

/** Returns whether an answer repeats the values of the call that its row's `echo` lists. */
export function repeats(
  { echo }: Pick<UpstreamOperation, 'echo'>,
  value: unknown,
  named: Readonly<Record<string, unknown>>,
): boolean {
  return Object.entries(echo).every(([member, name]) => memberAt(value, member) === named[name]);
}

function memberAt(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (at, name) => (typeof at === 'object' && at !== null ? Reflect.get(at, name) : undefined),
      value,
    );
}

function matching(pattern: RegExp, text: string | null): string | undefined {
  return text !== null && pattern.test(text) ? text : undefined;
}

/** Returns the validated value of an answer's bytes; `malformed` if they are not strict JSON in UTF-8, `invalid` if they do not match the schema. */
function understand(
  operation: UpstreamOperation,
  chunks: readonly Uint8Array[],
  bodyHash: string,
  memo: AnswerMemo | undefined,
): { readonly value: unknown } | 'malformed' | 'invalid' {
  const known = memo?.get(operation, bodyHash);
  if (known !== undefined) return known;
  const bytes = Buffer.concat(chunks);
  const text = decodeUtf8(bytes);
  const parsed = text === undefined ? undefined : parseStrictJson(text);
  if (parsed?.ok !== true) return 'malformed';
  const checked = operation.answer.safeParse(parsed.value);
  if (!checked.success) return 'invalid';
  memo?.set(operation, bodyHash, checked.data, bytes.byteLength);
  return { value: checked.data };
}

/** Returns `Retry-After` (RFC 9110 section 10.2.3: delay seconds or an HTTP-date) in milliseconds from `now`; undefined if it is absent or malformed. */
function parseRetryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000;
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(header)) return undefined;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
