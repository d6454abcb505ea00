/** Runs work now or, when too much is running already, in order of arrival. */
export type Limiter = <T>(work: () => Promise<T>) => Promise<T>;

/** At most `maximum` pieces of work at once; the rest waits first in, first out. */
export function createLimiter(maximum: number): Limiter {
  if (!Number.isInteger(maximum) || maximum < 1)
    throw new RangeError('createLimiter: the maximum is a positive integer');
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= maximum) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      // A waiter takes over the place: `running` stays as it is, so that a newcomer cannot slip in between.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
