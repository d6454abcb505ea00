import * as z from 'zod';

/**
 * What the service stores about a request that may be repeated, and nothing else [MA-004, MA-006]: no body, no response, no id of a learner or a
 * session. Both digests are HMACs, so that neither key nor body can be guessed from the table.
 */
export const controlRecord = z.object({
  /** HMAC of tenant, method, canonical path and Idempotency-Key. */
  id: z.string(),
  /** HMAC of the canonical request with its defaults filled in; in records of versions up to 0.1.0, of the request as sent. */
  hash: z.string(),
  /** Moves from `started` to one of the others once, and never back [MA-145]. */
  state: z.enum(['started', 'completed', 'failed']),
  /** HTTP status of the response, 100-599, only in a final state [MA-146]. */
  terminalStatus: z.int().exactOptional(),
  /** Random and opaque, `op_…`: every deterministic name that this operation writes derives from it. */
  operationId: z.string(),
  /** Epoch milliseconds. The 24 hours count from here, even after a take-over. */
  createdAt: z.int(),
  /** Which run of the work holds the lease. */
  attemptId: z.string(),
  /** Epoch milliseconds up to which that run may still be working; 0 once it has released the lease. */
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

/** Returns whether a record still counts. One that does not is treated as absent, however late the table purges it. */
export function isUsable(record: Pick<ControlRecord, 'createdAt'>, now: number): boolean {
  return now < record.createdAt + controlLifetimeMs;
}

/**
 * The store of idempotency records. Every write is conditional, so that one of two racing writers wins and the other learns that it lost; an expired
 * record is never read, taken over, settled or respected. The calls throw if the store cannot be reached.
 */
export interface ControlTable {
  /** Returns the usable record of an id, read consistently. */
  read(id: string, now: number): Promise<ControlRecord | undefined>;
  /** Writes a new record unless a usable one exists; returns the existing one, or undefined if the new one was written. */
  create(record: ControlRecord, now: number): Promise<ControlRecord | undefined>;
  /** Moves the lease from the observed run to another one. Returns false if the record has changed since. */
  takeOver(
    seen: ControlRecord,
    lease: { readonly attemptId: string; readonly leaseUntil: number },
    now: number,
  ): Promise<boolean>;
  /** Moves the end of this run's lease. Returns false if another run has taken over, or if there is no lease to hold any more. */
  renew(record: ControlRecord, leaseUntil: number, now: number): Promise<boolean>;
  /** Moves `started` to a final state, for any run of the same request. Returns false if it is no longer `started`. */
  settle(
    record: ControlRecord,
    final: { readonly state: 'completed' | 'failed'; readonly terminalStatus: number },
    now: number,
  ): Promise<boolean>;
  /** Ends the lease of this run and leaves the record `started`. Returns false if another run has taken over. */
  release(record: ControlRecord, now: number): Promise<boolean>;
}
