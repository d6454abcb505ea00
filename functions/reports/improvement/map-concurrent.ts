/**
 * Works on values side by side, begun in their order, until they may not go on: values that have not been begun then are left out. After
 * a failure none is begun either, and it is thrown once whatever is under way has ended.
 * @param lanes how many values are worked on at once
 * @param mayGoOn asked before each value
 * @returns whether all of them were worked on
 */
export async function inLanes<T>(
  lanes: number,
  values: readonly T[],
  mayGoOn: () => boolean | Promise<boolean>,
  work: (value: T) => Promise<void>,
): Promise<boolean> {
  const waiting = values.values();
  let isStopped = false;
  const lane = async (): Promise<void> => {
    // One iterator for all lanes: each takes what none has taken.
    for (const value of waiting) {
      if (isStopped) return;
      const goesOn = await mayGoOn();
      // Another lane may have stopped meanwhile.
      isStopped ||= !goesOn;
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
