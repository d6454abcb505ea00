/**
 * Works on values side by side, begun in their order, until there is no time left: values that have not been begun then are left out. After
 * a failure none is begun either, and it is thrown once whatever is under way has ended.
 * @param lanes how many values are worked on at once
 * @param isTime asked before each value
 * @returns whether all of them were worked on
 */
export async function inLanes<T>(
  lanes: number,
  values: readonly T[],
  isTime: () => boolean,
  work: (value: T) => Promise<void>,
): Promise<boolean> {
  const waiting = values.values();
  let isStopped = false;
  const lane = async (): Promise<void> => {
    // One iterator for all lanes: each takes what none has taken.
    for (const value of waiting) {
      isStopped ||= !isTime();
      if (isStopped) return;
      try {
        await work(value);
      } catch (error) {
        isStopped = true;
        throw error;
      }
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: lanes }, lane));
  const failed = ended.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return !isStopped;
}
