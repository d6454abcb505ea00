import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import { decodeUtf8, parseStrictJson } from '#shared/kernel/strict-json.ts';
import { readCapped } from '#shared/network/http-client.ts';
import type { FetchAnswer } from '#shared/network/http-client.ts';
import { faultKindOf } from '../fault.ts';
import type { FaultKind } from '../verdicts.ts';
import type { UpstreamOperation } from '../operation.ts';
import type { AnswerMemo } from './answer-memo.ts';

const REQUEST_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;
/** One entity tag (RFC 9110 section 8.8.3), strong or weak, as long as the version of a receipt can be [RP-086]. */
const ENTITY_TAG = /^(?=.{2,255}$)(?:W\/)?"[\x21\x23-\x7e]*"$/;
const JSON_TYPE = /^application\/(?:[a-z0-9!#$&^_.+-]+\+)?json(?:\s*;\s*charset\s*=\s*"?utf-8"?)?\s*$/i;

/** How one attempt, and in the end one call, came out. */
export interface Outcome {
  readonly kind: 'answered' | 'unchanged' | FaultKind;
  readonly status?: number;
  readonly etag?: string | undefined;
  readonly upstreamRequestId?: string | undefined;
  /** SHA-256 hex. */
  readonly bodyHash?: string;
  /** Of an answer: what its row's schema made of it. */
  readonly value?: unknown;
  /** The tenant that an answer is about, where its row says that it names one. */
  readonly namedTenant?: string;
  /** Milliseconds that the owner asks to wait. */
  readonly retryAfter?: number | undefined;
}

/** What an answer is judged by besides its row. */
interface Expected {
  /** The entity tag that was asked about. */
  readonly asked: string | undefined;
  /** The values that the call names, by their names. */
  readonly named: Readonly<Record<string, unknown>>;
  readonly tenantId: string;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly memo: AnswerMemo | undefined;
}

/**
 * Reads an answer and judges it by its row: status, media type, size, schema, tenant, echo. Of its headers two are kept, each only in its agreed
 * form; everything else that an owner sends is dropped unread. Rejects when the body breaks off.
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
    // A 304 that names another version than the one asked about confirms nothing.
    return { ...head, kind: matchesWeakly(etag, asked) ? 'unchanged' : 'malformed', etag };
  }
  if (!operation.success.includes(status))
    return {
      ...head,
      kind: faultKindOf(status),
      retryAfter: parseRetryAfter(headers.get('retry-after'), now),
    };
  if (operation.bodyIgnored === true) return { ...head, kind: 'answered', bodyHash: sha256Hex('') };
  const bytes = await readCapped(body, operation.maxAnswerBytes);
  if (bytes === undefined) return { ...head, kind: 'malformed' };
  const bodyHash = sha256Hex(bytes);
  const isJson = JSON_TYPE.test(headers.get('content-type') ?? '');
  const answer = isJson ? understand(operation, bytes, bodyHash, memo) : ('malformed' as const);
  if (typeof answer === 'string') return { ...head, kind: answer, bodyHash };
  const { value } = answer;
  const kind = repeats(operation, value, named) ? 'answered' : 'wrong-entity';
  if (!operation.tenantInAnswer) return { ...head, kind, bodyHash, value };
  // SAFETY: the schemas of such rows have it.
  const { tenantId: namedTenant } = value as { readonly tenantId: string };
  return { ...head, kind: namedTenant === tenantId ? kind : 'wrong-tenant', bodyHash, value, namedTenant };
}

/** The values that a call names in its body, query and path, by their names. */
export function namesOf(call: {
  readonly body?: unknown;
  readonly query?: object;
  readonly path?: object;
}): Readonly<Record<string, unknown>> {
  return { ...Object(call.body), ...call.query, ...call.path } as Readonly<Record<string, unknown>>;
}

/** Whether an answer is about what was asked for: it repeats the values of the call that its row's `echo` lists. */
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

/** Whether two entity tags name one version by the weak comparison (RFC 9110 section 8.8.3.2), which `If-None-Match` asks for. */
function matchesWeakly(one: string, other: string): boolean {
  return one.replace(/^W\//, '') === other.replace(/^W\//, '');
}

/** Returns the validated value of an answer's bytes; `malformed` when they are not strict JSON in UTF-8, `invalid` when not what the row promises. */
function understand(
  operation: UpstreamOperation,
  bytes: Uint8Array,
  bodyHash: string,
  memo: AnswerMemo | undefined,
): { readonly value: unknown } | 'malformed' | 'invalid' {
  const known = memo?.get(operation, bodyHash);
  if (known !== undefined) return known;
  const text = decodeUtf8(bytes);
  const parsed = text === undefined ? undefined : parseStrictJson(text);
  if (parsed?.ok !== true) return 'malformed';
  const checked = operation.answer.safeParse(parsed.value);
  if (!checked.success) return 'invalid';
  memo?.set(operation, bodyHash, checked.data, bytes.byteLength);
  return { value: checked.data };
}

/** `Retry-After` (RFC 9110 section 10.2.3) in milliseconds from `now`: delay seconds or an HTTP-date; undefined when absent or neither. */
function parseRetryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000;
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(header)) return undefined;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
