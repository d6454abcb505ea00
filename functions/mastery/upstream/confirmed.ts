import { err, type Err, type Result } from '#shared/kernel/result.ts';
import type { UpstreamOperation } from '#shared/platform/operation.ts';
import type { Platform } from '#shared/platform/platform.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { found } from './problems.ts';

/** The problem of a reading that contradicts what is pinned. It counts once another reading is equal. */
export interface UnconfirmedProblem {
  readonly problem: Problem;
  readonly operation: UpstreamOperation;
  /** What distinguishes this reading from others with the same problem. */
  readonly reading: string;
}

/** Returns the problem of a reading of an operation as one that another reading has to confirm. */
export function unconfirmed(
  problem: Problem,
  operation: UpstreamOperation,
  reading: string,
): Err<UnconfirmedProblem> {
  return err({ problem, operation, reading });
}

/** Returns a reading of an operation that differs from what is pinned. `detail` is a constant sentence. */
export function differing(
  operation: UpstreamOperation,
  reading: string,
  detail?: string,
): Err<UnconfirmedProblem> {
  return unconfirmed(found('differs', operation, undefined, detail), operation, reading);
}

/**
 * Makes a reading that contradicts again after a pause: a 409 ends a run permanently, and a replica that lags looks just like one. Two equal
 * readings are believed. Where no two of three are equal, the owner is changing: 424, retryable.
 * @param read makes the reading and compares it
 * @param first the first reading, if it has been made already
 */
export async function confirmed<T>(
  platform: Pick<Platform, 'pause'>,
  read: () => Promise<Result<T, Problem | UnconfirmedProblem>>,
  first: Result<T, Problem | UnconfirmedProblem> | Promise<Result<T, Problem | UnconfirmedProblem>> = read(),
): Promise<Result<T, Problem>> {
  const earlier: UnconfirmedProblem[] = [];
  let result = await first;
  for (;;) {
    if (result.ok) return result;
    const { error } = result;
    if (!('problem' in error)) return err(error);
    if (earlier.some((other) => keyOf(other) === keyOf(error))) return err(error.problem);
    if (earlier.length === 2)
      return err(
        found('pending', error.operation, undefined, 'The owner’s readings differ from one another.'),
      );
    earlier.push(error);
    await platform.pause();
    result = await read();
  }
}

function keyOf({ problem, operation, reading }: UnconfirmedProblem): string {
  return JSON.stringify([problem.code, operation.id, reading]);
}
