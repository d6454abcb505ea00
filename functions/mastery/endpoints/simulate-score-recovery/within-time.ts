/** The time that a piece of work has. */
export interface TimeLimit {
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Epoch milliseconds by which all of it has to be done. */
  readonly until: number;
}

/**
 * Does long synchronous work on one value after another, and lets the event loop have its turn in between: the pipeline's own watch over
 * the request must be able to strike. Nothing is begun that would end too late if it took as long as the longest before it.
 * @returns the results in order; fewer than there are values when time ran out
 */
export async function mapWithinTime<T, R>(
  values: readonly T[],
  work: (value: T) => R,
  { now, until }: TimeLimit,
): Promise<readonly R[]> {
  const results: R[] = [];
  let longest = 0;
  for (const value of values) {
    const began = now();
    if (began + longest >= until) break;
    results.push(work(value));
    longest = Math.max(longest, now() - began);
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  return results;
}
