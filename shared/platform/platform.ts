import type * as z from 'zod';
import type { Result } from '#shared/kernel/result.ts';
import type { UpstreamFault } from './fault.ts';
import type { UpstreamOperation } from './operation.ts';
import type { FaultKind } from './verdicts.ts';

/** The values of one call in addition to its row and its tenant. Each value in `path` is percent-encoded as one segment. */
export interface UpstreamCall<Operation extends UpstreamOperation> {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Operation['body'] extends z.ZodType ? z.input<Operation['body']> : never;
  /** Sent as `Idempotency-Key`; deterministic. */
  readonly idempotencyKey?: string;
  /** Milliseconds that the call may take, including repetitions; default: until the request's deadline. */
  readonly timeLimit?: number;
}

/** A validated answer with the facts that a receipt needs. */
export interface UpstreamAnswer<T> {
  readonly value: T;
  /** The ETag header as sent, or undefined. */
  readonly etag: string | undefined;
  readonly upstreamRequestId: string | undefined;
  /** SHA-256 hex of the answer's bytes. */
  readonly bodyHash: string;
}

/** One line of the redacted trace: enough for a replay and a dispute, and nothing about a learner [MA-088]. */
export interface TraceEntry {
  readonly operation: string;
  readonly service: string;
  /** 304 if the owner confirmed a known version. */
  readonly status: number | null;
  readonly outcome: 'answered' | FaultKind;
  readonly upstreamRequestId: string | null;
  readonly version: string | null;
  readonly responseHash: string | null;
  /** Offsets from the request's start in milliseconds: they show which calls ran in sequence. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly attempts: number;
  /** Whether the answer was about the profile's tenant; `not-named` if the owner's contract does not name one, or there was no answer. */
  readonly tenant: 'same' | 'other' | 'not-named';
  /** The tenant that the answer named. */
  readonly namedTenant: string | null;
}

/** The platform for one request, with the service profile of one tenant. */
export interface Platform {
  call<Operation extends UpstreamOperation>(
    operation: Operation,
    call: UpstreamCall<Operation>,
  ): Promise<Result<UpstreamAnswer<z.output<Operation['answer']>>, UpstreamFault>>;
  /**
   * Calls a GET row with `If-None-Match` (RFC 9110 section 13.1.2), to ask whether an earlier answer is still valid. Returns `'unchanged'` if the owner
   * still has that version (304), else a full answer: the owner has another version, or ignores the condition.
   * @param etag the entity tag of that answer, weak or strong
   */
  revalidate<Operation extends UpstreamOperation>(
    operation: Operation,
    call: UpstreamCall<Operation>,
    etag: string,
  ): Promise<Result<'unchanged' | UpstreamAnswer<z.output<Operation['answer']>>, UpstreamFault>>;
  /** Waits 250 to 1,000 ms before a contradicting read is repeated, but at most half of the request's remaining time. */
  pause(): Promise<void>;
  /** Returns the calls so far, in the order of their ends. */
  trace(): readonly TraceEntry[];
}
