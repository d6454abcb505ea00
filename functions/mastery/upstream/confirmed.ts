import type { Result } from '#shared/kernel/result.ts';
import type { Platform } from '#shared/platform/platform.ts';
import type { Problem } from '#shared/problems/problem.ts';

/**
 * A reading, made again after a pause when it contradicts: a 409 ends a run for good, and a replica that lags looks just like one.
 * @param read makes the reading and compares it
 * @param first what it came to the first time, where that is known
 */
export async function confirmed<T>(
  platform: Pick<Platform, 'pause'>,
  read: () => Promise<Result<T, Problem>>,
  first: Result<T, Problem> | Promise<Result<T, Problem>> = read(),
): Promise<Result<T, Problem>> {
  const result = await first;
  if (result.ok || result.error.status !== 409) return result;
  await platform.pause();
  return read();
}
