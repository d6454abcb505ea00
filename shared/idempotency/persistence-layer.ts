import type { JSONValue } from '@aws-lambda-powertools/commons/types';
import { IdempotencyItemAlreadyExistsError } from '@aws-lambda-powertools/idempotency';
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
  readonly onUnsettled: (operationId: string, error: unknown) => void;
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
  #record: ControlRecord | undefined;
  /** Whether an earlier request created the record. */
  resumed = false;

  constructor(attempt: Attempt) {
    super();
    this.#attempt = attempt;
  }

  /** The record under which this run works, or the settled one that it found; known once Powertools has asked us to write. */
  get record(): ControlRecord {
    if (this.#record === undefined) throw new Error('The work begins before its control record.');
    return this.#record;
  }

  /** The id is an HMAC already. */
  protected override getHashedIdempotencyKey(): string {
    return this.#attempt.record.id;
  }

  /** The lease is ours: Powertools' own is not written, but without one it warns on the console. */
  override saveInProgress(data: JSONValue): Promise<void> {
    return super.saveInProgress(data, 1);
  }

  protected override async _putRecord(): Promise<void> {
    const { table, now, record, impatient, isSame } = this.#attempt;
    const standing = await table.create(record, now());
    if (standing === undefined) {
      this.#record = record;
      return;
    }
    this.resumed = true;
    this.#record = standing;
    const lease = { attemptId: record.attemptId, leaseUntil: record.leaseUntil };
    const free = standing.leaseUntil <= now() || impatient;
    if (isSame(standing) && standing.state === 'started' && free) {
      // Lost to another run: stays "in progress", so that the caller looks again.
      if (await table.takeOver(standing, lease, now())) {
        this.#record = { ...standing, ...lease };
        return;
      }
    }
    throw new IdempotencyItemAlreadyExistsError('A record of this key exists.', this.#translate(standing));
  }

  /** Never called: the error of `_putRecord` brings the record along. */
  protected override _getRecord(): Promise<IdempotencyRecord> {
    throw new Error('A record is read a second time.');
  }

  /** False from the table means: settled by a run of the same request that took over, or expired. Both leave nothing to do. */
  protected override async _updateRecord(outcome: IdempotencyRecord): Promise<void> {
    const final = outcome.getResponse() as Final;
    try {
      await this.#attempt.table.settle(this.record, final, this.#attempt.now());
    } catch (error) {
      this.#attempt.onUnsettled(this.record.operationId, error);
    }
  }

  /** Called after every throw of the work: the record stays `started`, so that a retry resumes. */
  protected override async _deleteRecord(): Promise<void> {
    try {
      await this.#attempt.table.release(this.record, this.#attempt.now());
    } catch (error) {
      this.#attempt.onUnsettled(this.record.operationId, error);
    }
  }

  /** Expiry is decided by the table with our clock, so Powertools is given none to compare with its own. */
  #translate(found: ControlRecord): IdempotencyRecord {
    return new IdempotencyRecord({
      idempotencyKey: found.id,
      status: found.state === 'started' ? 'INPROGRESS' : 'COMPLETED',
      payloadHash: this.#attempt.isSame(found) ? '' : 'another request',
    });
  }
}
