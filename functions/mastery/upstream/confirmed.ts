import { err, type Err, type Result } from '#shared/kernel/result.ts';
import type { Platform } from '#shared/platform/platform.ts';
import type { Problem } from '#shared/problems/problem.ts';

/** The problem of a reading that contradicts what is known; it counts once another reading agrees. */
export interface Contradiction {
  readonly contradicts: Problem;
  /** Distinguishes this reading from others; two without it are equal. */
  readonly reading: string | undefined;
}

export function contradicting(contradicts: Problem, reading?: string): Err<Contradiction> {
  return err({ contradicts, reading });
}

/**
 * Repeats a reading that contradicts, after a pause: a 409 ends a run permanently, and a lagging replica looks just like one. Two equal readings count;
 * if the second differs from the first, the third decides.
 * @param read makes the reading and compares it
 * @param first the first reading, if it has been made already
 */
export async function confirmed<T>(
  platform: Pick<Platform, 'pause'>,
  read: () => Promise<Result<T, Problem | Contradiction>>,
  first: Result<T, Problem | Contradiction> | Promise<Result<T, Problem | Contradiction>> = read(),
): Promise<Result<T, Problem>> {
  let earlier: Contradiction | undefined;
  for (let result = await first, left = 2; ; left -= 1) {
    if (result.ok) return result;
    const { error } = result;
    if (!('contradicts' in error)) return err(error);
    if (left === 0 || (earlier !== undefined && earlier.reading === error.reading))
      return err(error.contradicts);
    earlier = error;
    await platform.pause();
    result = await read();
  }
}
