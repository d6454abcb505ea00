/** How often and how long a request is repeated. */
export interface RetryLimits {
  readonly maxRetries: number;
  /** Milliseconds of waiting, over all retries. */
  readonly maxWaiting: number;
  /** In [0, 1). */
  readonly random: () => number;
}

export const defaultLimits = { maxRetries: 4, maxWaiting: 70_000 } as const;

const BACKOFF_MILLISECONDS = 500;

/**
 * Returns the waits before the retries of one request, in milliseconds: full jitter over a doubling time, after what `Retry-After` asks
 * for, so that callers that one limit held back do not return together.
 * @returns undefined to give up, since the retries are used up or the wait would be too long
 */
export function createBackoff({
  maxRetries,
  maxWaiting,
  random,
}: RetryLimits): (retryAfterSeconds: number | undefined) => number | undefined {
  let retries = 0;
  let waited = 0;
  return (retryAfterSeconds) => {
    const wait = (retryAfterSeconds ?? 0) * 1000 + random() * BACKOFF_MILLISECONDS * 2 ** retries;
    if (retries === maxRetries || waited + wait > maxWaiting) return undefined;
    retries += 1;
    waited += wait;
    return wait;
  };
}

/** Returns the seconds of a response's `Retry-After`, a number or a date; undefined without a valid one. */
export function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get('retry-after') ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - Date.now()) / 1000));
}

/** Waits; rejects with the signal's reason as soon as it aborts. */
export type Sleep = (milliseconds: number, signal: AbortSignal | undefined) => Promise<void>;

export const sleep: Sleep = (milliseconds, signal) =>
  new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(reasonOf(signal));
      return;
    }
    const abort = (): void => {
      clearTimeout(timer);
      if (signal !== undefined) reject(reasonOf(signal));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', abort, { once: true });
  });

/** Returns what a promise rejects with when a signal aborts. */
export function reasonOf(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason : new Error('the call was aborted', { cause: reason });
}
