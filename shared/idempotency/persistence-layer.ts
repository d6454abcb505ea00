import type { JSONValue } from '@aws-lambda-powertools/commons/types';
import {
  IdempotencyItemAlreadyExistsError,
  IdempotencyItemNotFoundError,
} from '@aws-lambda-powertools/idempotency';
import { BasePersistenceLayer, IdempotencyRecord } from '@aws-lambda-powertools/idempotency/persistence';
import type { ControlRecord, ControlTable } from './control-record.ts';

/** One run of the work: what it would write if it is the first. */
export interface Attempt {
  readonly table: ControlTable;
  readonly now: () => number;
  /** The record to create: identity, new operation id, this run's lease. */
  readonly record: ControlRecord;
  /** Whether a record of the same id was written for the same request. */
  readonly isSame: (standing: ControlRecord) => boolean;
  /** Take the lease from a run that may still be at work: this one has no time left to wait. */
  readonly impatient: boolean;
  /** The final state could not be written; the work's outcome stands all the same. */
  readonly onUnsettled: (error: unknown) => void;
}

/** What the wrapped function returns: how its outcome is recorded. Never its content. */
export interface Final {
  readonly [member: string]: JSONValue;
  readonly state: 'completed' | 'failed';
  readonly terminalStatus: number;
}

/**
 * Powertools' persistence over our control table. A class because Powertools asks for one; one object for each run of the work, since its
 * base keeps configuration and ours keeps the record.
 *
 * It differs from the stock layers where the specification does: the stored columns are ours and hold no response; a throw releases the
 * lease instead of deleting the record; a take-over compares the request and keeps operation id and creation time; a run that has lost its
 * lease settles or adopts instead of failing; the 24 hours are counted from the creation and by our clock.
 */
export class ControlPersistenceLayer extends BasePersistenceLayer {
  readonly #attempt: Attempt;
  /** What Powertools computes of this request's hash; known once it has asked us to write. */
  #payloadHash = '';
  /** The record under which this run works, or the settled one that it found. */
  record: ControlRecord | undefined;
  /** Whether an earlier request created the record. */
  resumed = false;

  /** What Powertools is given as the payload: both are digests. */
  readonly request: { readonly key: string; readonly hash: string };

  constructor(attempt: Attempt) {
    super();
    this.#attempt = attempt;
    this.request = { key: attempt.record.id, hash: attempt.record.hash };
  }

  /** The id is an HMAC already. */
  protected override getHashedIdempotencyKey(): string {
    return this.#attempt.record.id;
  }

  /** The lease is ours; Powertools only warns on the console when it is given none. */
  override saveInProgress(data: JSONValue): Promise<void> {
    return super.saveInProgress(data, Math.max(1, this.#attempt.record.leaseUntil - this.#attempt.now()));
  }

  protected override async _putRecord(incoming: IdempotencyRecord): Promise<void> {
    this.#payloadHash = incoming.payloadHash ?? '';
    const { table, now, record, impatient, isSame } = this.#attempt;
    const standing = await table.create(record, now());
    if (standing === undefined) {
      this.record = record;
      return;
    }
    this.resumed = true;
    this.record = standing;
    const lease = { attemptId: record.attemptId, leaseUntil: record.leaseUntil };
    const free = standing.leaseUntil <= now() || impatient;
    if (isSame(standing) && standing.state === 'started' && free) {
      // Lost to another run: stays "in progress", so that the caller looks again.
      if (await table.takeOver(standing, lease, now())) {
        this.record = { ...standing, ...lease };
        return;
      }
    }
    throw new IdempotencyItemAlreadyExistsError('A record of this key exists.', this.#translate(standing));
  }

  protected override async _getRecord(): Promise<IdempotencyRecord> {
    const found = await this.#attempt.table.read(this.#attempt.record.id, this.#attempt.now());
    if (found === undefined) throw new IdempotencyItemNotFoundError('No record of this key exists.');
    return this.#translate(found);
  }

  /** False from the table means: settled by a run of the same request that took over, or expired. Both leave nothing to do. */
  protected override async _updateRecord(outcome: IdempotencyRecord): Promise<void> {
    const final = outcome.getResponse() as Final;
    if (this.record === undefined) throw new Error('A record is settled before it was created.');
    try {
      await this.#attempt.table.settle(this.record, final, this.#attempt.now());
    } catch (error) {
      this.#attempt.onUnsettled(error);
    }
  }

  /** Called after every throw of the work: the record stays `started`, so that a retry resumes. */
  protected override async _deleteRecord(): Promise<void> {
    if (this.record === undefined) return;
    try {
      await this.#attempt.table.release(this.record, this.#attempt.now());
    } catch (error) {
      this.#attempt.onUnsettled(error);
    }
  }

  /** Expiry is decided by the table with our clock, so Powertools is given none to compare with its own. */
  #translate(found: ControlRecord): IdempotencyRecord {
    return new IdempotencyRecord({
      idempotencyKey: found.id,
      status: found.state === 'started' ? 'INPROGRESS' : 'COMPLETED',
      payloadHash: this.#attempt.isSame(found) ? this.#payloadHash : 'another request',
    });
  }
}
