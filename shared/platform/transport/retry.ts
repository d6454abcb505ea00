/** Retries after the first attempt, at most. */
export const MAX_RETRIES = 1;

const BASE_DELAY = 100;
const MAX_DELAY = 2_000;

/**
 * Milliseconds to wait before the next attempt: what the owner asked for, plus full jitter over an exponentially growing window, so that
 * parallel calls which failed together do not come back together.
 * @param failures attempts so far, from 1
 * @param random in [0, 1)
 */
export function retryDelay(failures: number, retryAfter: number | undefined, random: number): number {
  return (retryAfter ?? 0) + random * Math.min(MAX_DELAY, BASE_DELAY * 2 ** (failures - 1));
}

/** `Retry-After` (RFC 9110 section 10.2.3) in milliseconds from `now`: delay seconds or an HTTP-date; undefined when absent or neither. */
export function parseRetryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000;
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(header)) return undefined;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
