import pLimit from 'p-limit';

/**
 * Works on values side by side, begun in their order, until they may not go on: values that have not been begun then are left out. After
 * a failure none is begun either, and it is thrown once whatever is under way has ended.
 * @param concurrency how many values are worked on at once
 * @param shouldContinue asked before each value
 * @returns whether all of them were worked on
 */
export async function mapConcurrent<T>(
  concurrency: number,
  values: readonly T[],
  shouldContinue: () => boolean | Promise<boolean>,
  work: (value: T) => Promise<void>,
): Promise<boolean> {
  const limit = pLimit(concurrency);
  let isStopped = false;
  const attempt = async (value: T): Promise<void> => {
    if (isStopped) return;
    try {
      const goesOn = await shouldContinue();
      // Another one may have stopped meanwhile.
      isStopped ||= !goesOn;
      if (!isStopped) await work(value);
    } catch (error) {
      isStopped = true;
      throw error;
    }
  };
  const ended = await Promise.allSettled(values.map((value) => limit(attempt, value)));
  const failed = ended.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return !isStopped;
}
