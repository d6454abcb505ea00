/** Whether less than `limit` milliseconds have passed since `at`; a clock that was set back tells nothing, so no. */
export function isWithin(limit: number, at: number, now: number): boolean {
  return now >= at && now - at < limit;
}

/** A reading that callers at the same time share. */
export interface SharedReading<T> {
  readonly isUnderWay: () => boolean;
  /** The reading that is under way, or a new one. One that takes longer than it may hangs on a connection that a freeze has cut. */
  readonly begin: () => Promise<T>;
}

/**
 * Shares a reading among its callers until it ends; a failure is not remembered.
 * @param limit milliseconds that one may take
 * @param read is told when it began: what was written before that is in it
 */
export function shareReading<T>(
  limit: number,
  now: () => number,
  read: (at: number) => Promise<T>,
): SharedReading<T> {
  let reading: { readonly at: number; readonly result: Promise<T> } | undefined;
  return {
    isUnderWay: () => reading !== undefined,
    begin() {
      const at = now();
      if (reading !== undefined && isWithin(limit, reading.at, at)) return reading.result;
      const mine = { at, result: read(at) };
      reading = mine;
      const end = (): void => {
        if (reading === mine) reading = undefined;
      };
      mine.result.then(end, end);
      return mine.result;
    },
  };
}
