import { setTimeout } from 'node:timers/promises';

/** Waits; settles early, by resolving or rejecting, once the signal aborts. */
export type Sleep = (milliseconds: number, signal?: AbortSignal) => Promise<unknown>;

/** The real one, for the files that bind a Lambda's dependencies. */
export const sleep: Sleep = (milliseconds, signal) =>
  setTimeout(milliseconds, undefined, signal === undefined ? {} : { signal });
