import type { SendSegment } from '#shared/network/trace-segments.ts';
import { canonicalJson } from '#shared/kernel/canonical-json.ts';
import { randomFraction, type RandomBytes } from '#shared/kernel/random.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { Sleep } from '#shared/kernel/sleep.ts';
import type { Fetch, FetchRequest } from '#shared/network/http-client.ts';
import pLimit from 'p-limit';
import type * as z from 'zod';
import type { UpstreamFault } from './fault.ts';
import type { PlatformRequest } from './open-platform.ts';
import type { UpstreamOperation } from './operation.ts';
import type { Platform, TraceEntry, UpstreamAnswer, UpstreamCall } from './platform.ts';
import type { ServiceProfile } from './service-profiles.ts';
import { repetitions, type FaultKind } from './verdicts.ts';
import { addressOf } from './transport/address.ts';
import type { AnswerMemo } from './transport/answer-memo.ts';
import { namesOf, readAnswer, type Outcome } from './transport/answer.ts';
import { createCircuits, type Circuits } from './transport/circuits.ts';

/** The network, the clock and the randomness of a function. */
export interface PlatformPorts {
  readonly fetch: Fetch;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly sleep: Sleep;
  /** Spreads retries. */
  readonly random: RandomBytes;
  readonly traceCall?: SendSegment | undefined;
}

export interface PlatformOptions {
  /** The most calls in flight at once; the others wait. */
  readonly maxConcurrency?: number;
  /** Caches validated projections between the requests of one binding. */
  readonly memo?: AnswerMemo;
}

interface PreparedCall extends Omit<FetchRequest, 'signal' | 'freshConnection'> {
  readonly url: string;
  /** The value of `If-None-Match`. */
  readonly asked: string | undefined;
  /** The values of path, query and body, which the answer has to repeat. */
  readonly named: Readonly<Record<string, unknown>>;
}

/** The reason of every abort: without one, each abort would create an error with a stack. */
const ATTEMPT_ENDED = new Error('the attempt has ended');
/** Milliseconds before a contradicting read is repeated: long enough for a replica to catch up, short enough for a request. */
const SHORTEST_PAUSE = 250;
const LONGEST_PAUSE = 1_000;
/** How often a call is repeated for each kind of answer that is repeated at once. */
export const MAX_RETRIES = 1;
/** Milliseconds that one attempt may take, including its body; at most a quarter of the request's time, so that two of them fit into half. */
const ATTEMPT_MS = 5_000;
/** Silence for so long is more than slowness; an attempt that the deadline cuts shorter proves nothing. */
const SILENCE_MS = 3_000;
/** An attempt that ends so much later than its timer was frozen with its container: the owner is not at fault. */
const FROZEN_MS = 1_000;
/** Milliseconds over which repetitions are spread, so that parallel calls that failed together are not repeated together. */
const JITTER = 100;

/**
 * Opens the platform over HTTP for one container, and returns what connects one tenant and one request to it, with only the credential of its profile
 * [MA-008], until the deadline. The circuits of the owners that do not answer are the container's (`createCircuits`). Each call follows
 * its row (address, body, success, answer schema, size) and writes one log line: `UPSTREAM_CALL`, or `UPSTREAM_CALL_FAILED` without a usable answer.
 * Failures are values; a call that does not match its row throws, since neither a caller nor an owner can cause it.
 *
 * A time limit applies to each attempt, and the deadline to all of them. An answer of a kind that is repeated at once is repeated once per kind: a proxy can
 * garble or misroute one answer, and a final refusal would end a run for it. Redirects are not followed. Neither faults nor the trace contain a part of
 * a body, an address or a credential.
 */
export function createPlatform(
  ports: PlatformPorts,
  options: PlatformOptions = {},
): (profile: ServiceProfile, request: Omit<PlatformRequest, 'principal'>) => Platform {
  const circuits = createCircuits(ports);
  return (profile, request) => connect(ports, profile, request, { ...options, circuits });
}

function connect(
  { fetch, now, sleep, random, traceCall }: PlatformPorts,
  profile: ServiceProfile,
  { receivedAt, deadline, log }: Omit<PlatformRequest, 'principal'>,
  { memo, maxConcurrency = 32, circuits }: PlatformOptions & { readonly circuits: Circuits },
): Platform {
  const attemptMs = Math.min(ATTEMPT_MS, (deadline - receivedAt) / 3);
  const limit = pLimit(maxConcurrency);
  // A circuit is each tenant's own.
  const place = JSON.stringify([profile.tenantId, profile.baseUrl]);
  const circuitOf = ({ service }: UpstreamOperation): string => `${service} ${place}`;
  const entries: TraceEntry[] = [];

  function prepare<O extends UpstreamOperation>(
    operation: O,
    call: UpstreamCall<O>,
    asked: string | undefined,
  ): PreparedCall | undefined {
    const url = addressOf(operation, profile, call.path ?? {}, call.query ?? {});
    if (url === undefined) return undefined;
    // In canonical form, so that a repeated write repeats every byte.
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

  /** Makes one attempt within its time. The abort at the end stops the timer and every part of the exchange that is under way or unread. */
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
      // Any rejection of fetch or of the body's stream means that there is no whole answer. Its message may name hosts.
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
    const circuit = circuitOf(operation);
    for (let made = 0; ;) {
      const began = now();
      const timeout = Math.min(attemptMs, end - began);
      if (timeout <= 0) return [outcome, made];
      // Only a call that has sent nothing yet may end without an attempt.
      const wait = made === 0 ? circuits.wait(circuit, entries) : 0;
      if (wait > 0) return [{ kind: 'unavailable', retryAfter: wait }, 0];
      // All kept connections may be dead after a freeze of the container: the retry must not use another one of them.
      outcome = await attempt(operation, call, timeout, made > 0);
      made += 1;
      const elapsed = now() - began;
      if (isSignOfLife(outcome)) circuits.answered(circuit);
      // The first attempt may have met a dead connection.
      else if (made > 1 && (elapsed < timeout || (timeout >= SILENCE_MS && elapsed < timeout + FROZEN_MS))) {
        const openMs = circuits.failed(circuit, entries);
        if (openMs !== undefined) log('OWNER_CIRCUIT_OPENED', { owner: operation.service, openMs });
      }
      const { kind } = outcome;
      if (kind === 'answered' || kind === 'unchanged' || repetitions[kind] !== 'at once')
        return [outcome, made];
      if (repeated.filter((earlier) => earlier === kind).length === MAX_RETRIES) return [outcome, made];
      repeated.push(kind);
      // The operator hears of it even if the repetition succeeds: an owner that once answers for another tenant is no small matter.
      if (kind !== 'unavailable') log('UPSTREAM_ANSWER_REFUSED', { ...callOf(operation, outcome), kind });
      const delay = (outcome.retryAfter ?? 0) + randomFraction(random) * JITTER;
      if (now() + delay >= end) return [outcome, made];
      await sleep(delay);
    }
  }

  /** Logs a call by its line of the trace. */
  function logCall(operation: UpstreamOperation, outcome: Outcome, entry: TraceEntry): void {
    const { startedAt, endedAt, attempts: made } = entry;
    const { kind } = outcome;
    const about = { ...callOf(operation, outcome), durationMs: endedAt - startedAt, attempts: made };
    const isUsable = kind === 'answered' || kind === 'unchanged';
    traceCall?.({
      ...{ name: operation.service, operation: operation.id, failed: !isUsable },
      ...{ startedAt: receivedAt + startedAt, endedAt: receivedAt + endedAt },
    });
    if (isUsable) log('UPSTREAM_CALL', about);
    else log('UPSTREAM_CALL_FAILED', { ...about, kind, transient: kind === 'unavailable' });
  }

  /** Performs one call, including its line in the trace and in the log. Only a call with an entity tag can be unchanged. */
  async function perform<O extends UpstreamOperation>(
    operation: O,
    call: UpstreamCall<O>,
    asked?: string,
  ): Promise<Result<'unchanged' | UpstreamAnswer<z.output<O['answer']>>, UpstreamFault>> {
    const issuedAt = now() - receivedAt;
    const prepared = prepare(operation, call, asked);
    // The owner can have nothing under an identifier that no address can contain.
    const [outcome, made]: [Outcome, number] =
      prepared === undefined
        ? [{ kind: 'not-found' }, 0]
        : await limit(() => attempts(operation, prepared, call.timeLimit));
    circuits.ended(circuitOf(operation), entries);
    const entry = entryOf(operation, outcome, made, { startedAt: issuedAt, endedAt: now() - receivedAt });
    entries.push(entry);
    logCall(operation, outcome, entry);
    const { kind, etag, upstreamRequestId, bodyHash, value } = outcome;
    if (kind === 'unchanged') return ok(kind);
    if (kind !== 'answered') return err(faultOf(operation, kind, outcome));
    // SAFETY: an answer has a hash and passed this row's schema, now or when its bytes were cached for this row.
    return ok({ value, etag, upstreamRequestId, bodyHash } as UpstreamAnswer<z.output<O['answer']>>);
  }

  return {
    // SAFETY: without an entity tag, an answer is never `unchanged`.
    call: perform as Platform['call'],
    revalidate: perform,
    async pause() {
      const drawn = SHORTEST_PAUSE + randomFraction(random) * (LONGEST_PAUSE - SHORTEST_PAUSE);
      await sleep(Math.max(0, Math.min(drawn, (deadline - now()) / 2)));
    },
    trace: () => [...entries],
  };
}

/**
 * Returns whether an owner is at work: it answered, even if with a failure of this one request (500), or asked for a wait, perhaps of one tenant (429, or
 * 503 with Retry-After). Such answers are quick, and the caller gets the wait.
 */
function isSignOfLife({ status, retryAfter }: Outcome): boolean {
  return status !== undefined && (status < 502 || status > 504 || retryAfter !== undefined);
}

/** Returns the fields that name a call and its response in every log line. */
function callOf({ id, service }: UpstreamOperation, { status, upstreamRequestId }: Outcome) {
  return {
    owner: service,
    upstreamOperation: id,
    status: status ?? null,
    upstreamRequestId: upstreamRequestId ?? null,
  };
}

/** Returns the line of the trace for a call. */
function entryOf(
  { id, service }: UpstreamOperation,
  outcome: Outcome,
  attempts: number,
  times: Pick<TraceEntry, 'startedAt' | 'endedAt'>,
): TraceEntry {
  const { kind, status = null, upstreamRequestId = null, etag = null, bodyHash = null } = outcome;
  return {
    operation: id,
    service,
    status,
    outcome: kind === 'unchanged' ? 'answered' : kind,
    upstreamRequestId,
    version: etag,
    responseHash: bodyHash,
    ...times,
    attempts,
    tenant: tenantOf(outcome),
    namedTenant: outcome.namedTenant ?? null,
  };
}

function tenantOf({ kind, namedTenant }: Outcome): TraceEntry['tenant'] {
  if (namedTenant === undefined) return 'not-named';
  return kind === 'wrong-tenant' ? 'other' : 'same';
}

function faultOf(
  { id, service }: UpstreamOperation,
  kind: FaultKind,
  { status, upstreamRequestId, retryAfter }: Outcome,
): UpstreamFault {
  const transient = kind === 'unavailable';
  const retryAfterSeconds = transient && retryAfter !== undefined ? Math.ceil(retryAfter / 1_000) : undefined;
  return { kind, service, operation: id, status, upstreamRequestId, retryAfterSeconds, transient };
}
