import { once } from 'node:events';
import type { JSONValue } from '@aws-lambda-powertools/commons/types';
import { IdempotencyItemAlreadyExistsError } from '@aws-lambda-powertools/idempotency';
import { BasePersistenceLayer, IdempotencyRecord } from '@aws-lambda-powertools/idempotency/persistence';
import { ANSWER_MS, withStoreBudget } from '#shared/kernel/store-calls.ts';
import type { Runtime } from '#shared/runtime/runtime.ts';
import type { ControlRecord, ControlTable } from './control-record.ts';

/** How long a run without renewals counts as alive. It bounds how long a repetition waits for a function that crashed. */
const LEASE_MS = 10_000;
/** The interval at which a live run renews its lease, short enough that two renewals may fail. */
const RENEWAL_MS = 3_000;
/** The part of an invocation's time reserved to send its response. */
const SEND_MS = 1_000;

/** Returns the end of a lease that is taken now. @param endsAt when Lambda stops the function */
export function leaseEnd(now: number, endsAt: number): number {
  return Math.min(endsAt, now + LEASE_MS);
}

/** One run of the work: what it writes if it is the first. Times are epoch milliseconds. */
export interface Attempt extends Pick<Runtime, 'now' | 'sleep'> {
  readonly table: ControlTable;
  /** The time by which the work must be done: from then on its lease is not renewed. */
  readonly deadline: number;
  /** When Lambda stops the function. */
  readonly endsAt: number;
  /** The record to create: identity, new operation id, this run's lease. */
  readonly record: ControlRecord;
  /** Whether a record of the same id was written for the same request. */
  readonly isSame: (existing: ControlRecord) => boolean;
  /** Take the lease from a run that may still be at work: this one has no time left to wait. */
  readonly impatient: boolean;
  /** Called if the final state could not be written; the work's outcome is valid anyway. */
  readonly onUnsettled: (operationId: string, error: unknown) => void;
}

/** The result of the wrapped function: how its outcome is recorded, never its content. */
export interface Final {
  readonly [member: string]: JSONValue;
  readonly state: 'completed' | 'failed';
  readonly terminalStatus: number;
}

/**
 * Powertools' persistence over our control table. It is a class because Powertools requires one, with one object per run of the work, since its base
 * keeps configuration and ours keeps the record.
 *
 * It differs from the stock layers where the specification does: the stored columns are ours and contain no response; a throw releases the lease
 * instead of deleting the record; a take-over compares the request and keeps operation id and creation time; a run that has lost its lease settles or
 * adopts instead of failing; the 24 hours count from the creation and by our clock.
 */
export class ControlPersistenceLayer extends BasePersistenceLayer {
  readonly #attempt: Attempt;
  #record: ControlRecord | undefined;
  /** Whether an earlier request created the record. */
  resumed = false;

  constructor(attempt: Attempt) {
    super();
    this.#attempt = attempt;
  }

  /** The record under which this run works, or the settled one that it found; known once Powertools has requested the write. */
  get record(): ControlRecord {
    if (this.#record === undefined) throw new Error('The work begins before its control record.');
    return this.#record;
  }

  /** Returns the id unchanged: it is an HMAC already. */
  protected override getHashedIdempotencyKey(): string {
    return this.#attempt.record.id;
  }

  /** Uses our own lease: Powertools' is not written, but without one it prints a warning. */
  override saveInProgress(data: JSONValue): Promise<void> {
    return super.saveInProgress(data, 1);
  }

  protected override async _putRecord(): Promise<void> {
    const { table, now, record, impatient, isSame } = this.#attempt;
    const existing = await table.create(record, now());
    // It is this run's own where the response to its write was lost, and the store's client has written again.
    if (existing === undefined || (existing.attemptId === record.attemptId && existing.state === 'started')) {
      this.#record = existing ?? record;
      this.resumed = this.#record.operationId !== record.operationId;
      return;
    }
    this.resumed = true;
    this.#record = existing;
    const lease = { attemptId: record.attemptId, leaseUntil: record.leaseUntil };
    const free = existing.leaseUntil <= now() || impatient;
    if (isSame(existing) && existing.state === 'started' && free) {
      // Lost to another run: stays "in progress", so that the caller looks again.
      if (await table.takeOver(existing, lease, now())) {
        this.#record = { ...existing, ...lease };
        return;
      }
    }
    throw new IdempotencyItemAlreadyExistsError('A record of this key exists.', this.#translate(existing));
  }

  /** Never called: the error of `_putRecord` contains the record. */
  protected override _getRecord(): Promise<IdempotencyRecord> {
    throw new Error('A record is read a second time.');
  }

  /** Settles the record. If the table returns false, another run of the request has settled it, or it has expired: nothing is left to do. */
  protected override async _updateRecord(outcome: IdempotencyRecord): Promise<void> {
    const final = outcome.getResponse() as Final;
    await this.#recordEnd(({ table, now }) => table.settle(this.record, final, now()));
  }

  /** Called after every throw of the work: the record stays `started`, so that a retry resumes. */
  protected override async _deleteRecord(): Promise<void> {
    await this.#recordEnd(({ table, now }) => table.release(this.record, now()));
  }

  /**
   * Renews the lease until it is stopped, the request's time is over (a container may have been frozen), or another run has taken over: then both
   * continue, with the same result.
   */
  async keepLease(stop: AbortSignal): Promise<void> {
    const { table, now, sleep, deadline, endsAt } = this.#attempt;
    let isHeld = true;
    while (isHeld) {
      await sleep(RENEWAL_MS, stop);
      if (stop.aborted || now() >= deadline) return;
      isHeld = await table.renew(this.record, leaseEnd(now(), endsAt), now()).catch(() => true);
    }
  }

  /** Records the end of the work: the response waits for the table as long as it can, and is sent either way. */
  async #recordEnd(write: (attempt: Attempt) => Promise<boolean>): Promise<void> {
    const { now, sleep, endsAt, onUnsettled } = this.#attempt;
    const limit = Math.min(ANSWER_MS, endsAt - SEND_MS - now());
    try {
      await withStoreBudget(sleep, limit, (end) =>
        Promise.race([write(this.#attempt), once(end, 'abort').then(() => end.throwIfAborted())]),
      );
    } catch (error) {
      onUnsettled(this.record.operationId, error);
    }
  }

  /** Translates a record. The table decides expiry by our clock, so Powertools gets no expiry to compare with its own. */
  #translate(found: ControlRecord): IdempotencyRecord {
    return new IdempotencyRecord({
      idempotencyKey: found.id,
      status: found.state === 'started' ? 'INPROGRESS' : 'COMPLETED',
      payloadHash: this.#attempt.isSame(found) ? '' : 'another request',
    });
  }
}
