import { canonicalJson } from '#shared/kernel/canonical-json.ts';
import { randomFraction } from '#shared/kernel/random.ts';
import type { RandomBytes } from '#shared/kernel/random.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { Sleep } from '#shared/kernel/sleep.ts';
import type { Fetch, FetchRequest } from '#shared/network/http-client.ts';
import pLimit from 'p-limit';
import type * as z from 'zod';
import type { UpstreamFault } from './fault.ts';
import type { PlatformRequest } from './open-platform.ts';
import type { UpstreamOperation } from './operation.ts';
import type { Platform, TraceEntry, UpstreamAnswer, UpstreamCall } from './platform.ts';
import type { ServiceProfile } from './service-profiles.ts';
import { repetitions } from './verdicts.ts';
import type { FaultKind } from './verdicts.ts';
import { addressOf } from './transport/address.ts';
import type { AnswerMemo } from './transport/answer-memo.ts';
import { namesOf, readAnswer } from './transport/answer.ts';
import type { Outcome } from './transport/answer.ts';

/** The network, the clock and the randomness of a function. */
export interface PlatformPorts {
  readonly fetch: Fetch;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly sleep: Sleep;
  /** Spreads retries. */
  readonly random: RandomBytes;
}

export interface PlatformOptions {
  /** Calls in flight at once; the rest waits. */
  readonly maxConcurrency?: number;
  /** Keeps validated projections between the requests of one binding. */
  readonly memo?: AnswerMemo;
}

interface PreparedCall extends Omit<FetchRequest, 'signal' | 'freshConnection'> {
  readonly url: string;
  /** What `If-None-Match` asks about. */
  readonly asked: string | undefined;
  /** The values that the call names in path, query and body: what its answer has to repeat. */
  readonly named: Readonly<Record<string, unknown>>;
}

/** One for all: without a reason, each abort would make an error with a stack of its own. Nobody sees it. */
const ATTEMPT_ENDED = new Error('the attempt has ended');
/** Milliseconds before a contradicting reading is repeated: long enough for a replica to catch up, short enough for a request. */
const SHORTEST_PAUSE = 250;
const LONGEST_PAUSE = 1_000;
/** Repetitions of a call for each kind of answer that is repeated at once. */
export const MAX_RETRIES = 1;
/** Milliseconds that one attempt may take, its body included. */
const ATTEMPT_MS = 5_000;
/** Milliseconds over which repetitions are spread, so that parallel calls which failed together do not come back together. */
const JITTER = 100;

/**
 * The platform over HTTP, for one tenant and one request: with the credential of its profile alone [MA-008], until its deadline. Each call
 * follows its row: address, body, success, answer schema, size. It leaves one log line, `UPSTREAM_CALL` when it was answered,
 * `UPSTREAM_CALL_FAILED` when not. Failures are values; a call that does not fit its row throws, since no caller and no owner can cause it.
 *
 * Attempts are bounded in number, each by `ATTEMPT_MS` and all of them by the deadline. What `repetitions` repeats at once is repeated once
 * per kind: a proxy on the way can garble or misroute one answer, and a final refusal would end a run for it. Redirects are not followed.
 * Neither faults nor the trace hold anything of a body, an address or a credential.
 */
export function createPlatform(
  { fetch, now, sleep, random }: PlatformPorts,
  profile: ServiceProfile,
  { receivedAt, deadline, log }: Omit<PlatformRequest, 'principal'>,
  { memo, maxConcurrency = 32 }: PlatformOptions = {},
): Platform {
  const limit = pLimit(maxConcurrency);
  const entries: TraceEntry[] = [];

  function prepare<O extends UpstreamOperation>(
    operation: O,
    call: UpstreamCall<O>,
    asked: string | undefined,
  ): PreparedCall | undefined {
    const url = addressOf(operation, profile, call.path ?? {}, call.query ?? {});
    if (url === undefined) return undefined;
    // Canonical, so that a repeated write repeats every byte.
    const body = operation.body && canonicalJson(operation.body.parse(call.body));
    const headers = {
      accept: 'application/json',
      authorization: `Bearer ${profile.credential.reveal()}`,
      ...(call.idempotencyKey === undefined ? {} : { 'idempotency-key': call.idempotencyKey }),
      ...(asked === undefined ? {} : { 'if-none-match': asked }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    return {
      url,
      asked,
      named: namesOf(call),
      method: operation.method,
      headers,
      ...(body === undefined ? {} : { body }),
    };
  }

  /** One attempt within its time. Aborting at the end stops the timer, and whatever of the exchange is still under way or unread. */
  async function attempt(
    operation: UpstreamOperation,
    { url, asked, named, ...request }: PreparedCall,
    timeout: number,
    freshConnection: boolean,
  ): Promise<Outcome> {
    const controller = new AbortController();
    const { signal } = controller;
    const exchange = async (): Promise<Outcome> => {
      const answer = await fetch(url, { ...request, signal, freshConnection });
      return readAnswer(operation, answer, { asked, named, tenantId: profile.tenantId, now: now(), memo });
    };
    const late = sleep(timeout, signal).then((): Outcome => ({ kind: 'unavailable' }));
    try {
      return await Promise.race([exchange(), late]);
    } catch {
      // Whatever fetch or the body's stream rejects with means the same: there is no whole answer. Its message may name hosts.
      return { kind: 'unavailable' };
    } finally {
      controller.abort(ATTEMPT_ENDED);
    }
  }

  async function attempts(
    operation: UpstreamOperation,
    call: PreparedCall,
    timeLimit = Infinity,
  ): Promise<[Outcome, number]> {
    let outcome: Outcome = { kind: 'unavailable' };
    const end = Math.min(deadline, now() + timeLimit);
    const repeated: FaultKind[] = [];
    for (let made = 0; ;) {
      const remaining = end - now();
      if (remaining <= 0) return [outcome, made];
      // After a container has slept, all kept connections may be dead: the retry must not meet another of them.
      outcome = await attempt(operation, call, Math.min(ATTEMPT_MS, remaining), made > 0);
      made += 1;
      const { kind } = outcome;
      if (kind === 'answered' || kind === 'unchanged' || repetitions[kind] !== 'at once')
        return [outcome, made];
      if (repeated.filter((earlier) => earlier === kind).length === MAX_RETRIES) return [outcome, made];
      repeated.push(kind);
      const delay = (outcome.retryAfter ?? 0) + randomFraction(random) * JITTER;
      if (now() + delay >= end) return [outcome, made];
      await sleep(delay);
    }
  }

  function logCall(operation: UpstreamOperation, outcome: Outcome, made: number, durationMs: number): void {
    const { status = null, upstreamRequestId = null } = outcome;
    const about = { owner: operation.service, upstreamOperation: operation.id, status, upstreamRequestId };
    const { kind } = outcome;
    if (kind === 'answered' || kind === 'unchanged')
      log('UPSTREAM_CALL', { ...about, durationMs, attempts: made });
    else log('UPSTREAM_CALL_FAILED', { ...about, kind, transient: kind === 'unavailable' });
  }

  /** One call from its address to its line in the trace and in the log. Only what was asked about a version can be unchanged. */
  async function perform<O extends UpstreamOperation>(
    operation: O,
    call: UpstreamCall<O>,
    asked?: string,
  ): Promise<Result<'unchanged' | UpstreamAnswer<z.output<O['answer']>>, UpstreamFault>> {
    const issuedAt = now() - receivedAt;
    const prepared = prepare(operation, call, asked);
    // An identifier that no address can carry names nothing that the owner could have.
    const [outcome, made]: [Outcome, number] =
      prepared === undefined
        ? [{ kind: 'not-found' }, 0]
        : await limit(() => attempts(operation, prepared, call.timeLimit));
    const { kind, status, etag, upstreamRequestId, bodyHash, namedTenant, value } = outcome;
    entries.push({
      operation: operation.id,
      service: operation.service,
      status: status ?? null,
      outcome: kind === 'unchanged' ? 'answered' : kind,
      upstreamRequestId: upstreamRequestId ?? null,
      version: etag ?? null,
      responseHash: bodyHash ?? null,
      startedAt: issuedAt,
      endedAt: now() - receivedAt,
      attempts: made,
      tenant: namedTenant === undefined ? 'not-named' : kind === 'wrong-tenant' ? 'other' : 'same',
      namedTenant: namedTenant ?? null,
    });
    logCall(operation, outcome, made, now() - receivedAt - issuedAt);
    if (kind === 'unchanged') return ok(kind);
    if (kind !== 'answered') return err(faultOf(operation, kind, outcome));
    // SAFETY: an answer has a hash, and passed this row's schema, here or when its bytes were remembered under this row.
    return ok({ value, etag, upstreamRequestId, bodyHash } as UpstreamAnswer<z.output<O['answer']>>);
  }

  return {
    // SAFETY: without a version to ask about, an answer is never `unchanged`.
    call: perform as Platform['call'],
    revalidate: perform,
    async pause() {
      const drawn = SHORTEST_PAUSE + randomFraction(random) * (LONGEST_PAUSE - SHORTEST_PAUSE);
      await sleep(Math.max(0, Math.min(drawn, (deadline - now()) / 2)));
    },
    trace: () => [...entries],
  };
}

function faultOf(
  { id, service }: UpstreamOperation,
  kind: UpstreamFault['kind'],
  { status, upstreamRequestId, retryAfter }: Outcome,
): UpstreamFault {
  const transient = kind === 'unavailable';
  const retryAfterSeconds = transient && retryAfter !== undefined ? Math.ceil(retryAfter / 1_000) : undefined;
  return { kind, service, operation: id, status, upstreamRequestId, retryAfterSeconds, transient };
}
