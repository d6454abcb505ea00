/** Returns whether less than `limit` milliseconds have passed since `at`; false if the clock was set back, which makes them unknown. */
export function isWithin(limit: number, at: number, now: number): boolean {
  return now >= at && now - at < limit;
}

/** A read that concurrent callers share. */
export interface SharedReading<T> {
  readonly isUnderWay: () => boolean;
  /** Returns the read that is under way, or a new one. A read beyond its limit hangs on a connection that a freeze has cut. */
  readonly begin: () => Promise<T>;
}

/**
 * Shares a read among its callers until it ends; a failure is not cached.
 * @param limit milliseconds that one read may take
 * @param read gets the time of its start: it sees everything written before
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
