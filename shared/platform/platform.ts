import type * as z from 'zod';
import type { Result } from '#shared/kernel/result.ts';
import type { UpstreamFault } from './fault.ts';
import type { UpstreamOperation } from './operation.ts';
import type { FaultKind } from './verdicts.ts';

/** What one call needs besides its row and its tenant. Values in `path` are percent-encoded as one segment each. */
export interface UpstreamCall<Operation extends UpstreamOperation> {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Operation['body'] extends z.ZodType ? z.input<Operation['body']> : never;
  /** Sent as `Idempotency-Key`; deterministic. */
  readonly idempotencyKey?: string;
  /** Milliseconds that the call may take, repetitions included; default: until the request's deadline. */
  readonly timeLimit?: number;
}

/** A validated answer with what a receipt needs. */
export interface UpstreamAnswer<T> {
  readonly value: T;
  /** The ETag header as sent, or undefined. */
  readonly etag: string | undefined;
  readonly upstreamRequestId: string | undefined;
  /** SHA-256 hex of the answer's bytes. */
  readonly bodyHash: string;
}

/** One line of the redacted trace: enough to replay and to argue, nothing about a learner [MA-088]. */
export interface TraceEntry {
  readonly operation: string;
  readonly service: string;
  /** 304 when the owner confirmed a version that was known before. */
  readonly status: number | null;
  readonly outcome: 'answered' | FaultKind;
  readonly upstreamRequestId: string | null;
  readonly version: string | null;
  readonly responseHash: string | null;
  /** Offsets from the request's start in milliseconds: they show which calls ran one after another. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly attempts: number;
  /** Whether the answer was about the profile's tenant; `not-named` when the owner's contract does not name one, or nothing was answered. */
  readonly tenant: 'same' | 'other' | 'not-named';
  /** The tenant that the answer named. */
  readonly namedTenant: string | null;
}

/** The platform as one tenant's service profile sees it, for the length of one request. */
export interface Platform {
  call<Operation extends UpstreamOperation>(
    operation: Operation,
    call: UpstreamCall<Operation>,
  ): Promise<Result<UpstreamAnswer<z.output<Operation['answer']>>, UpstreamFault>>;
  /**
   * Asks whether what an earlier answer told is still so: a GET row called with `If-None-Match` (RFC 9110 section 13.1.2).
   * `'unchanged'`: the owner still holds that version (304). A full answer, validated as any other: the owner holds another one, or
   * ignores the condition. In everything else it is a `call`.
   * @param etag the entity tag as that answer gave it, weak or strong
   */
  revalidate<Operation extends UpstreamOperation>(
    operation: Operation,
    call: UpstreamCall<Operation>,
    etag: string,
  ): Promise<Result<'unchanged' | UpstreamAnswer<z.output<Operation['answer']>>, UpstreamFault>>;
  /** Waits 250 to 1,000 ms before a reading that contradicts is repeated, and never longer than half of what the request has left. */
  pause(): Promise<void>;
  /** The calls so far, in the order in which they ended. */
  trace(): readonly TraceEntry[];
}
