/** Waits; settles early, by resolving or rejecting, once the signal aborts. */
export type Sleep = (milliseconds: number, signal?: AbortSignal) => Promise<unknown>;

/**
 * The real one, for the files that bind a Lambda's dependencies. Aborted, it resolves: `node:timers/promises` would make an error with a
 * stack each time, and every call that is answered in time aborts its timer.
 */
export const sleep: Sleep = (milliseconds, signal) =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve(undefined);
    };
    const timer = setTimeout(end, milliseconds);
    if (signal?.aborted === true) end();
    else signal?.addEventListener('abort', end);
  });
