import type { Log } from '#shared/observability/logger.ts';
import { canonicalJson, sha256Hex } from '#shared/kernel/canonical-json.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { Sleep } from '#shared/kernel/sleep.ts';
import { readCapped } from '#shared/network/http-client.ts';
import type { Fetch } from '#shared/network/http-client.ts';
import pLimit from 'p-limit';
import type * as z from 'zod';
import type { UpstreamFault } from './fault.ts';
import type { UpstreamOperation } from './operation.ts';
import type { Platform, TraceEntry, UpstreamAnswer, UpstreamCall } from './platform.ts';
import type { ServiceProfile } from './service-profiles.ts';
import { addressOf } from './transport/address.ts';
import type { AnswerMemo } from './transport/answer-memo.ts';
import {
  faultOfStatus,
  isEntityTag,
  isJson,
  keptHeaders,
  matchesWeakly,
  parseBytes,
} from './transport/answer.ts';
import { MAX_RETRIES, parseRetryAfter, retryDelay } from './transport/retry.ts';

export interface PlatformOptions {
  /** Whose platform it is. Its credential is the only one that is ever sent [MA-008]. */
  readonly profile: ServiceProfile;
  readonly fetch: Fetch;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly sleep: Sleep;
  /** In [0, 1): spreads retries. */
  readonly random: () => number;
  /** Epoch milliseconds by which every call has ended. */
  readonly deadline: number;
  /** Epoch milliseconds that the trace's offsets count from; default: now. */
  readonly startedAt?: number;
  /** Calls in flight at once; the rest waits. */
  readonly maxConcurrency?: number;
  /** Milliseconds that one attempt may take, its body included. */
  readonly attemptTimeout?: number;
  /** Keeps validated projections between requests of one container. */
  readonly memo?: AnswerMemo;
  /** Takes one log line for each call: `UPSTREAM_CALL` when it was answered, `UPSTREAM_CALL_FAILED` when not. */
  readonly log?: Log;
}

/** How one attempt, and in the end one call, came out. */
type Outcome =
  | (UpstreamAnswer<unknown> & { readonly kind: 'answered' })
  | {
      readonly kind: 'unchanged';
      readonly status: number;
      readonly etag: string;
      readonly upstreamRequestId: string | undefined;
      readonly bodyHash?: never;
    }
  | {
      readonly kind: UpstreamFault['kind'];
      readonly status?: number;
      readonly etag?: string | undefined;
      readonly upstreamRequestId?: string | undefined;
      readonly bodyHash?: string;
      readonly retryAfter?: number | undefined;
      /** The tenant that an answer about another one named. */
      readonly namedTenant?: string | null;
      /** Of `malformed`: the answer is sound as far as it was read, and will be as large the next time. */
      readonly tooLarge?: true;
    };

interface PreparedCall {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** What `If-None-Match` asks about. */
  readonly etag: string | undefined;
  readonly timeLimit: number | undefined;
}

/** One for all: without a reason, each abort would make an error with a stack of its own. Nobody sees it. */
const ATTEMPT_ENDED = new Error('the attempt has ended');
/** Milliseconds before a contradicting reading is repeated: long enough for a replica to catch up, short enough for a request. */
const SHORTEST_PAUSE = 250;
const LONGEST_PAUSE = 1_000;
const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;

/**
 * The platform over HTTP, for one tenant and one request. Each call follows its row: address, body, success, answer schema, size. Failures
 * are values; a call that does not fit its row throws, since no caller and no owner can cause it.
 *
 * Attempts are bounded in number, each by `attemptTimeout` and all of them by the deadline. Only what was not answered, cut off, or answered
 * with 408, 425, 429 or 5xx is repeated, and once a safe read whose answer is malformed: a proxy on the way can garble one answer, and a final
 * refusal would end a run for it. Every row is a safe read or a write that its owner recognises again. Redirects are not followed.
 * Neither faults nor the trace hold anything of a body, an address or a credential.
 */
export function createPlatform(options: PlatformOptions): Platform {
  const { profile, fetch, now, sleep, random, deadline, memo, log } = options;
  const { attemptTimeout = 5_000 } = options;
  const origin = options.startedAt ?? now();
  const limit = pLimit(options.maxConcurrency ?? 32);
  const entries: TraceEntry[] = [];

  function prepare<O extends UpstreamOperation>(
    operation: O,
    call: UpstreamCall<O>,
    etag: string | undefined,
  ): PreparedCall | undefined {
    const url = addressOf(operation, profile, call.path ?? {}, call.query ?? {});
    const headers: Record<string, string> = {
      accept: 'application/json',
      authorization: `Bearer ${profile.credential.reveal()}`,
    };
    if (call.idempotencyKey !== undefined) {
      if (!IDEMPOTENCY_KEY.test(call.idempotencyKey))
        throw new TypeError(`${operation.id}: malformed idempotency key`);
      headers['idempotency-key'] = call.idempotencyKey;
    }
    if (etag !== undefined) {
      if (operation.method !== 'GET')
        throw new TypeError(`${operation.id}: only a GET row can be revalidated`);
      if (!isEntityTag(etag)) throw new TypeError(`${operation.id}: malformed entity tag`);
      headers['if-none-match'] = etag;
    }
    const body = bodyOf(operation, call.body);
    if (body !== undefined) headers['content-type'] = 'application/json';
    return url === undefined ? undefined : { url, headers, body, etag, timeLimit: call.timeLimit };
  }

  async function exchange(
    operation: UpstreamOperation,
    call: PreparedCall,
    signal: AbortSignal,
    freshConnection: boolean,
  ): Promise<Outcome> {
    const response = await fetch(call.url, {
      method: operation.method,
      headers: call.headers,
      signal,
      freshConnection,
      ...(call.body === undefined ? {} : { body: call.body }),
    });
    const head = { status: response.status, ...keptHeaders(response.headers) };
    if (response.status === 304 && call.etag !== undefined) {
      const { etag = call.etag } = head;
      // A 304 that names another version than the one asked about confirms nothing.
      return { ...head, kind: matchesWeakly(etag, call.etag) ? 'unchanged' : 'malformed', etag };
    }
    if (!operation.success.includes(response.status)) {
      return {
        kind: faultOfStatus(response.status),
        ...head,
        retryAfter: parseRetryAfter(response.headers.get('retry-after'), now()),
      };
    }
    if (operation.bodyIgnored === true) {
      return { kind: 'answered', ...head, bodyHash: sha256Hex(''), value: undefined };
    }
    const bytes = await readCapped(response.body, operation.maxAnswerBytes);
    if (bytes === undefined) return { kind: 'malformed', ...head, tooLarge: true };
    const bodyHash = sha256Hex(bytes);
    const answer = understand(operation, bytes, bodyHash, response.headers.get('content-type'), memo);
    if (answer === undefined) return { kind: 'malformed', ...head, bodyHash };
    if (operation.tenantInAnswer) {
      const namedTenant = namedTenantOf(answer.value);
      if (namedTenant !== profile.tenantId) return { kind: 'wrong-tenant', ...head, bodyHash, namedTenant };
    }
    return { kind: 'answered', ...head, bodyHash, value: answer.value };
  }

  /** One attempt within its time. Aborting at the end stops the timer, and whatever of the exchange is still under way or unread. */
  async function attempt(
    operation: UpstreamOperation,
    call: PreparedCall,
    { timeout, freshConnection }: { readonly timeout: number; readonly freshConnection: boolean },
  ): Promise<Outcome> {
    const controller = new AbortController();
    const late = sleep(timeout, controller.signal).then((): Outcome => ({ kind: 'unavailable' }));
    try {
      return await Promise.race([exchange(operation, call, controller.signal, freshConnection), late]);
    } catch {
      // Whatever fetch or the body's stream rejects with means the same: there is no whole answer. Its message may name hosts.
      return { kind: 'unavailable' };
    } finally {
      controller.abort(ATTEMPT_ENDED);
    }
  }

  async function attempts(operation: UpstreamOperation, call: PreparedCall): Promise<[Outcome, number]> {
    let outcome: Outcome = { kind: 'unavailable' };
    const end = Math.min(deadline, now() + (call.timeLimit ?? Infinity));
    // Not of a write: its owner has taken it, whatever it said.
    const repetitions = { unavailable: MAX_RETRIES, malformed: operation.method === 'GET' ? 1 : 0 };
    for (let made = 0; ;) {
      const remaining = end - now();
      if (remaining <= 0) return [outcome, made];
      // After a container has slept, all kept connections may be dead: the retry must not meet another of them.
      const timeout = Math.min(attemptTimeout, remaining);
      outcome = await attempt(operation, call, { timeout, freshConnection: made > 0 });
      made += 1;
      if (outcome.kind !== 'unavailable' && outcome.kind !== 'malformed') return [outcome, made];
      if (outcome.tooLarge === true || repetitions[outcome.kind] === 0) return [outcome, made];
      repetitions[outcome.kind] -= 1;
      const delay = retryDelay(outcome.retryAfter, random());
      if (now() + delay >= end) return [outcome, made];
      await sleep(delay);
    }
  }

  function logCall(operation: UpstreamOperation, outcome: Outcome, made: number, durationMs: number): void {
    const { status = null, upstreamRequestId = null } = outcome;
    const about = { owner: operation.service, upstreamOperation: operation.id, status, upstreamRequestId };
    if (outcome.kind === 'answered' || outcome.kind === 'unchanged')
      log?.('UPSTREAM_CALL', { ...about, durationMs, attempts: made });
    else
      log?.('UPSTREAM_CALL_FAILED', {
        ...about,
        kind: outcome.kind,
        transient: outcome.kind === 'unavailable',
      });
  }

  /** One call from its address to its line in the trace and in the log. Only what was asked about a version can be unchanged. */
  async function perform<O extends UpstreamOperation>(
    operation: O,
    call: UpstreamCall<O>,
    asked?: string,
  ): Promise<Result<'unchanged' | UpstreamAnswer<z.output<O['answer']>>, UpstreamFault>> {
    const issuedAt = now() - origin;
    const prepared = prepare(operation, call, asked);
    // An identifier that no address can carry names nothing that the owner could have.
    const [outcome, made]: [Outcome, number] =
      prepared === undefined ? [{ kind: 'not-found' }, 0] : await limit(() => attempts(operation, prepared));
    entries.push({
      operation: operation.id,
      service: operation.service,
      status: outcome.status ?? null,
      outcome: outcome.kind === 'unchanged' ? 'answered' : outcome.kind,
      upstreamRequestId: outcome.upstreamRequestId ?? null,
      version: outcome.etag ?? null,
      responseHash: outcome.bodyHash ?? null,
      startedAt: issuedAt,
      endedAt: now() - origin,
      attempts: made,
      ...tenantOf(operation, outcome),
    });
    logCall(operation, outcome, made, now() - origin - issuedAt);
    if (outcome.kind === 'unchanged') return ok('unchanged');
    if (outcome.kind !== 'answered') return err(faultOf(operation, outcome));
    const { value, etag, status, upstreamRequestId, bodyHash } = outcome;
    // SAFETY: `value` passed this row's schema, here or when its bytes were remembered under this row.
    return ok({ value: value as z.output<O['answer']>, etag, status, upstreamRequestId, bodyHash });
  }

  return {
    tenantId: profile.tenantId,
    // SAFETY: without a version to ask about, an answer is never `unchanged`.
    call: perform as Platform['call'],
    revalidate: perform,
    async pause() {
      const drawn = SHORTEST_PAUSE + random() * (LONGEST_PAUSE - SHORTEST_PAUSE);
      await sleep(Math.max(0, Math.min(drawn, (deadline - now()) / 2)));
    },
    trace: () => [...entries],
  };
}

/** The bytes to send: canonical, so that a repeated write repeats every byte. */
function bodyOf(operation: UpstreamOperation, body: unknown): string | undefined {
  if (operation.body === undefined) {
    if (body !== undefined) throw new TypeError(`${operation.id}: takes no body`);
    return undefined;
  }
  const checked = operation.body.safeParse(body);
  if (checked.success) return canonicalJson(checked.data);
  const places = checked.error.issues.map((issue) => `/${issue.path.map(String).join('/')}`);
  throw new TypeError(`${operation.id}: the body breaks its schema at ${places.join(', ')}`);
}

/** The validated value of an answer's bytes; undefined when they are not what the row promises. */
function understand(
  operation: UpstreamOperation,
  bytes: Uint8Array,
  bodyHash: string,
  contentType: string | null,
  memo: AnswerMemo | undefined,
): { readonly value: unknown } | undefined {
  if (bytes.byteLength === 0) {
    const empty = operation.answer.safeParse(undefined);
    return empty.success ? { value: empty.data } : undefined;
  }
  if (!isJson(contentType)) return undefined;
  const known = memo?.get(operation, bodyHash);
  if (known !== undefined) return known;
  const parsed = parseBytes(bytes);
  if (parsed === undefined) return undefined;
  const checked = operation.answer.safeParse(parsed.value);
  if (!checked.success) return undefined;
  memo?.set(operation, bodyHash, checked.data, bytes.byteLength);
  return { value: checked.data };
}

function tenantOf(
  operation: UpstreamOperation,
  outcome: Outcome,
): Pick<TraceEntry, 'tenant' | 'namedTenant'> {
  if (outcome.kind === 'wrong-tenant') return { tenant: 'other', namedTenant: outcome.namedTenant ?? null };
  return outcome.kind === 'answered' && operation.tenantInAnswer
    ? { tenant: 'same', namedTenant: namedTenantOf(outcome.value) }
    : { tenant: 'not-named', namedTenant: null };
}

function namedTenantOf(value: unknown): string | null {
  return typeof value === 'object' &&
    value !== null &&
    'tenantId' in value &&
    typeof value.tenantId === 'string'
    ? value.tenantId
    : null;
}

function faultOf(
  operation: UpstreamOperation,
  outcome: Exclude<Outcome, { kind: 'answered' | 'unchanged' }>,
): UpstreamFault {
  const { kind, status, upstreamRequestId, retryAfter } = outcome;
  const transient = kind === 'unavailable';
  return {
    kind,
    service: operation.service,
    operation: operation.id,
    status,
    upstreamRequestId,
    retryAfterSeconds: transient && retryAfter !== undefined ? Math.ceil(retryAfter / 1_000) : undefined,
    transient,
  };
}
