import { sleep, type Sleep } from '#client/retry.ts';
import { createStore } from './store.ts';
import { PlainError } from './words.ts';

/** A wait before the next try, which the person may end. */
export interface Pause {
  /** What it waits for: a sentence without a full stop. */
  readonly why: string;
  /** Milliseconds since 1970. */
  readonly until: number;
  readonly stop: () => void;
}

/** Shorter waits are over before anyone has read of them. Milliseconds. */
const WORTH_A_WORD = 1000;

/** The waits of the page. */
export const pauses = createStore<readonly Pause[]>([]);

/** Returns a `sleep` for the client that shows its waits; it rejects when the person stops one. */
export function pausing(why: () => string): Sleep {
  return async (milliseconds, signal) => {
    if (milliseconds < WORTH_A_WORD) return sleep(milliseconds, signal);
    const controller = new AbortController();
    const pause: Pause = {
      why: why(),
      until: Date.now() + milliseconds,
      stop: () => controller.abort(new PlainError('You have stopped the wait. Nothing is lost')),
    };
    pauses.set([...pauses.get(), pause]);
    try {
      await sleep(
        milliseconds,
        AbortSignal.any([controller.signal, ...(signal === undefined ? [] : [signal])]),
      );
    } finally {
      pauses.set(pauses.get().filter((other) => other !== pause));
    }
  };
}
