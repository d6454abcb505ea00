/** A limit as API Gateway states it: tokens per second, and how many of them a bucket holds. */
export interface Throttle {
  /** `method`: each method of each resource has a bucket of its own; `account`: all requests share one. */
  readonly per: 'account' | 'method';
  readonly ratePerSecond: number;
  readonly burst: number;
}

/**
 * The token buckets in front of an API. A request takes one token of each limit that applies to it.
 * @returns whether a request of this resource and method may pass
 */
export function createThrottles(
  throttles: readonly Throttle[],
  now: () => number,
): (method: string) => boolean {
  const buckets = new Map<string, { tokens: number; filledAt: number }>();
  return (method) => {
    const used = throttles.map(({ per, ratePerSecond, burst }) => {
      const name = per === 'account' ? '' : method;
      const bucket = buckets.get(name) ?? { tokens: burst, filledAt: now() };
      buckets.set(name, bucket);
      const seconds = (now() - bucket.filledAt) / 1000;
      bucket.tokens = Math.min(burst, bucket.tokens + seconds * ratePerSecond);
      bucket.filledAt = now();
      return bucket;
    });
    if (used.some(({ tokens }) => tokens < 1)) return false;
    for (const bucket of used) bucket.tokens -= 1;
    return true;
  };
}
