/** Retries after the first attempt, at most. */
export const MAX_RETRIES = 1;

/** Milliseconds over which retries are spread. */
const JITTER = 100;

/**
 * Milliseconds to wait before the retry: what the owner asked for, plus jitter, so that parallel calls which failed together do not come
 * back together.
 * @param retryAfter milliseconds
 * @param random in [0, 1)
 */
export function retryDelay(retryAfter: number | undefined, random: number): number {
  return (retryAfter ?? 0) + random * JITTER;
}

/** `Retry-After` (RFC 9110 section 10.2.3) in milliseconds from `now`: delay seconds or an HTTP-date; undefined when absent or neither. */
export function parseRetryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000;
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(header)) return undefined;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
