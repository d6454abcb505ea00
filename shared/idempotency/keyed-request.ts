import type { Control } from '#shared/http/operation.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { Log } from '#shared/observability/logger.ts';
import type { Problem } from '#shared/problems/problem.ts';

/** How one request runs its work. All times in epoch milliseconds. */
export interface RunOptions {
  /** HTTP status that a success is recorded with. */
  readonly successStatus: number;
  /** From then on a request no longer waits for one in flight but takes over, so that enough time is left for the work. */
  readonly waitUntil: number;
  /** Until then nobody takes over while this run is silent. */
  readonly leaseUntil: number;
  /** The answer to a key that stands for another request. */
  readonly conflict: (operationId: string) => Problem;
  readonly log: Log;
}

/** A request's place in the control table. */
export interface KeyedRequest {
  /** The operation of the other request that this key stands for, or undefined: 409 before any upstream work [MA-191]. */
  readonly reusedBy: string | undefined;
  /** The operation that an earlier request of this key has begun, or undefined. */
  readonly begun: string | undefined;
  /**
   * Runs the work under the control record. A settled record runs it again to compose the answer anew [MA-190]; a started one is waited
   * for, then resumed. Throws when the table cannot be reached before the work has begun.
   */
  run<T>(
    work: (control: Control) => Promise<Result<T, Problem>>,
    options: RunOptions,
  ): Promise<Result<T, Problem>>;
}
