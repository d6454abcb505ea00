/** Waits this many milliseconds; resolves early once the signal aborts. */
export type Sleep = (milliseconds: number, signal?: AbortSignal) => Promise<unknown>;

/**
 * Runs work with a signal that aborts (`TimeoutError`) once the work has taken too long. The timer ends with the work. It resembles
 * `AbortSignal.timeout`, but uses the clock of its caller.
 */
export async function withTimeLimit<T>(
  sleep: Sleep,
  milliseconds: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const done = new AbortController();
  void sleep(milliseconds, done.signal).then(() => {
    if (!done.signal.aborted) limit.abort(new DOMException('the time limit has passed', 'TimeoutError'));
  });
  try {
    return await work(limit.signal);
  } finally {
    done.abort();
  }
}
