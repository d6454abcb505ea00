import * as z from 'zod';

/**
 * What is kept of a request that may be repeated, and nothing else [MA-004, MA-006]: no body, no answer, no id of a learner or a session.
 * Both digests are HMACs, so that neither key nor body can be guessed from the table.
 */
export const controlRecord = z.object({
  /** HMAC of tenant, method, canonical path and Idempotency-Key. */
  id: z.string(),
  /** HMAC of the canonical request with its defaults filled in; of the request as it was sent in records of versions up to 0.1.0. */
  hash: z.string(),
  /** Moves from `started` to one of the others once, and never back [MA-145]. */
  state: z.enum(['started', 'completed', 'failed']),
  /** HTTP status of the answer, 100-599, in a final state only [MA-146]. */
  terminalStatus: z.int().exactOptional(),
  /** Random and opaque, `op_…`: the root of everything deterministic that this operation writes. */
  operationId: z.string(),
  /** Epoch milliseconds. The 24 hours count from here, also after a take-over. */
  createdAt: z.int(),
  /** Which run of the work holds the lease. */
  attemptId: z.string(),
  /** Epoch milliseconds up to which that run may still be at work; 0 once it has let go. */
  leaseUntil: z.int(),
});
export type ControlRecord = Readonly<z.infer<typeof controlRecord>>;

/** The control record of this request's idempotency key. Run identity derives from it, so a replay finds everything again. */
export interface Control {
  readonly operationId: string;
  /** Epoch milliseconds of the record's creation. */
  readonly createdAt: number;
  readonly replayed: boolean;
  /** Whether an earlier request of this key has ended in success: then everything that the operation writes is written. */
  readonly completed: boolean;
}

/** Exactly 24 hours [MA-005, RP-335]. */
export const controlLifetimeMs = 24 * 60 * 60 * 1000;

/** Whether a record still counts. One that does not is as good as absent, however late the table purges it. */
export function isUsable(record: Pick<ControlRecord, 'createdAt'>, now: number): boolean {
  return now < record.createdAt + controlLifetimeMs;
}

/**
 * The store of control records. Every write is conditional, so that of two racing writers one wins and the other is told; an expired record
 * is never read, taken over, settled or respected. A store that cannot be reached throws.
 */
export interface ControlTable {
  /** The usable record of an id, read consistently. */
  read(id: string, now: number): Promise<ControlRecord | undefined>;
  /** Writes a new record unless a usable one stands there; answers that one, or undefined when the new one was written. */
  create(record: ControlRecord, now: number): Promise<ControlRecord | undefined>;
  /** Moves the lease from the run that was seen to another one. False when the record is no longer as seen. */
  takeOver(
    seen: ControlRecord,
    lease: { readonly attemptId: string; readonly leaseUntil: number },
    now: number,
  ): Promise<boolean>;
  /** Moves the end of this run's lease. False when another run has taken over, or nothing is left to hold. */
  renew(record: ControlRecord, leaseUntil: number, now: number): Promise<boolean>;
  /** Moves `started` to a final state, whichever run of the same request asks. False when it is not `started` any more. */
  settle(
    record: ControlRecord,
    final: { readonly state: 'completed' | 'failed'; readonly terminalStatus: number },
    now: number,
  ): Promise<boolean>;
  /** Ends the lease of this run and leaves the record `started`. False when another run has taken over. */
  release(record: ControlRecord, now: number): Promise<boolean>;
}
