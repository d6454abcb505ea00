import {
  IdempotencyAlreadyInProgressError,
  IdempotencyConfig,
  IdempotencyValidationError,
  makeIdempotent,
} from '@aws-lambda-powertools/idempotency';
import { err, type Result } from '#shared/kernel/result.ts';
import type { RandomBytes } from '#shared/kernel/random.ts';
import type { KeyRing } from '#shared/keys/key-ring.ts';
import { nameOf } from '#shared/observability/describe-error.ts';
import type { Log } from '#shared/observability/logger.ts';
import type { Problem } from '#shared/problems/problem.ts';
import type { Runtime } from '#shared/runtime/runtime.ts';
import type { Control, ControlTable } from './control-record.ts';
import { ControlPersistenceLayer, leaseEnd, type Attempt, type Final } from './persistence-layer.ts';
import { identifyRequest, isSameRequest, type IdentifiedRequest } from './request-identity.ts';

export interface IdempotencyDependencies extends Pick<Runtime, 'now' | 'sleep' | 'random'> {
  readonly table: ControlTable;
  readonly keys: KeyRing;
}

/** How one request runs its work. All times in epoch milliseconds. */
export interface RunOptions extends Pick<Attempt, 'deadline' | 'endsAt'> {
  /** HTTP status recorded for a success. */
  readonly successStatus: number;
  /** From then on a request no longer waits for one in flight but takes over, so that enough time is left for the work. */
  readonly waitUntil: number;
  /** The problem of a key that was used for another request. */
  readonly conflict: (operationId: string) => Problem;
  readonly log: Log;
}

/** A request's place in the control table. */
export interface KeyedRequest {
  /** The operation of the other request for which this key was used, or undefined: 409 before any upstream work [MA-191]. */
  readonly reusedBy: string | undefined;
  /** The operation that an earlier request of this key has begun, or undefined. */
  readonly startedOperation: string | undefined;
  /**
   * Runs the work under the idempotency record. If the record is settled, it runs the work again to compose the response anew [MA-190]; if it is
   * started, it waits, then resumes the work. Throws if the table cannot be reached before the work has begun.
   */
  run<T>(
    work: (control: Control) => Promise<Result<T, Problem>>,
    options: RunOptions,
  ): Promise<Result<T, Problem>>;
}

export type Idempotency = (request: IdentifiedRequest) => Promise<KeyedRequest>;

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 800;

/** Ends the wrapped function without settling, so that Powertools lets the layer release the lease. */
class Unsettled extends Error {}

/**
 * Creates the idempotency of one function: Powertools' `makeIdempotent` around the work, over the control table. It does not use its Middy
 * middleware, which deletes records of other runs (docs/pipeline.md).
 */
export function createIdempotency(dependencies: IdempotencyDependencies): Idempotency {
  const { table, keys, now, sleep, random } = dependencies;

  return async (request) => {
    const identity = await identifyRequest(keys, request);
    const existing = await table.read(identity.id, now());

    async function run<T>(
      work: (control: Control) => Promise<Result<T, Problem>>,
      options: RunOptions,
    ): Promise<Result<T, Problem>> {
      const began = now();
      const attemptId = token(random);
      let pause = FIRST_PAUSE_MS;
      for (;;) {
        const layer = new ControlPersistenceLayer({
          table,
          now,
          sleep,
          impatient: now() >= options.waitUntil,
          deadline: options.deadline,
          endsAt: options.endsAt,
          record: {
            id: identity.id,
            hash: identity.hash,
            state: 'started',
            operationId: `op_${token(random)}`,
            createdAt: now(),
            attemptId,
            leaseUntil: leaseEnd(now(), options.endsAt),
          },
          isSame: (other) => isSameRequest(other, identity),
          onUnsettled: (operationId, error) =>
            options.log('OPERATION_UNSETTLED', { control: operationId, error: nameOf(error) }),
        });
        const outcome = await once(layer, work, options, now() - began);
        if (outcome !== 'in flight') return outcome;
        await sleep(Math.max(1, Math.min(pause, options.waitUntil - now())));
        pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
      }
    }

    const isReused = existing !== undefined && !isSameRequest(existing, identity);
    return {
      reusedBy: isReused ? existing.operationId : undefined,
      startedOperation: isReused ? undefined : existing?.operationId,
      run,
    };
  };
}

/** Makes one pass through Powertools. */
async function once<T>(
  layer: ControlPersistenceLayer,
  work: (control: Control) => Promise<Result<T, Problem>>,
  options: RunOptions,
  waitedMs: number,
): Promise<Result<T, Problem> | 'in flight'> {
  const done: { outcome?: Result<T, Problem> } = {};
  const begin = (origin: string): Promise<Result<T, Problem>> => {
    const control = controlOf(layer);
    options.log('OPERATION_BEGUN', { control: control.operationId, origin, waitedMs });
    return work(control);
  };

  // One per pass: Powertools keeps the Lambda context and the first configuration in it. Validation is on, but covers nothing: the layer itself
  // compares the requests.
  const config = new IdempotencyConfig({ payloadValidationJmesPath: '' });
  if (!config.isEnabled())
    throw new Error('POWERTOOLS_IDEMPOTENCY_DISABLED is set: the function would run every repetition');
  const settle = async (): Promise<Final> => {
    const stop = new AbortController();
    void layer.keepLease(stop.signal);
    const outcome = await begin(layer.resumed ? 'resumed' : 'new').finally(() => stop.abort());
    done.outcome = outcome;
    const final = finalOf(outcome, options.successStatus);
    options.log('OPERATION_SETTLED', {
      control: layer.record.operationId,
      state: final?.state ?? 'started',
      status: outcome.ok ? options.successStatus : outcome.error.status,
    });
    if (final === undefined) throw new Unsettled();
    return final;
  };
  const guarded = makeIdempotent(settle, { persistenceStore: layer, config });

  try {
    await guarded();
  } catch (error) {
    if (error instanceof IdempotencyAlreadyInProgressError) return 'in flight';
    if (error instanceof IdempotencyValidationError) return err(options.conflict(layer.record.operationId));
    if (!(error instanceof Unsettled)) throw error;
  }
  return done.outcome ?? begin('settled');
}

function controlOf(layer: ControlPersistenceLayer): Control {
  const { operationId, createdAt, state } = layer.record;
  return { operationId, createdAt, replayed: layer.resumed, completed: state === 'completed' };
}

/** Returns the final state: a success is `completed`, a failure that no retry can change is `failed`; everything else stays `started`. */
function finalOf(outcome: Result<unknown, Problem>, successStatus: number): Final | undefined {
  if (outcome.ok) return { state: 'completed', terminalStatus: successStatus };
  const { status, retryable } = outcome.error;
  return retryable ? undefined : { state: 'failed', terminalStatus: status };
}

/** Returns 128 random bits. */
function token(random: RandomBytes): string {
  return Buffer.from(random(16)).toString('base64url');
}
