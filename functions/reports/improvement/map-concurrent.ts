import pLimit from 'p-limit';

/**
 * Processes values concurrently, in their order, until `shouldContinue` returns false; it does not begin the remaining ones. After a failure it
 * begins no further value either, and throws the failure once every value under way has ended.
 * @param concurrency how many values are processed at once
 * @param shouldContinue asked before each value
 * @returns whether all of them were processed
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
      // Another value may have stopped it meanwhile.
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
