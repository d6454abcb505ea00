import { err } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';

/** A try that gave nothing, and whether the same request may be sent again. */
export interface Attempted<Failure> {
  readonly failure: Failure;
  readonly mayRepeat: boolean;
  /** What the service asks for in `Retry-After`. */
  readonly retryAfterSeconds: number | undefined;
}

export interface Patience<Failure> {
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** In [0, 1). */
  readonly random: () => number;
  readonly onRetry: (why: Failure, waitMilliseconds: number) => void;
}

const MAX_TRIES = 5;
const MAX_WAITING_MILLISECONDS = 60_000;
const BACKOFF_MILLISECONDS = 250;

/**
 * Sends a request until it succeeds, must not be repeated, or five tries or a minute of waiting are used up. Waits with full jitter over a
 * doubling time; what the service asks for is the least, and a wait that is too long is not begun.
 */
export async function repeat<Value, Failure>(
  once: () => Promise<Result<Value, Attempted<Failure>>>,
  { sleep, random, onRetry }: Patience<Failure>,
): Promise<Result<Value, Failure>> {
  let waited = 0;
  for (let tries = 1; ; tries += 1) {
    const answer = await once();
    if (answer.ok) return answer;
    const { failure, mayRepeat, retryAfterSeconds } = answer.error;
    const backoff = random() * BACKOFF_MILLISECONDS * 2 ** tries;
    const wait = Math.max((retryAfterSeconds ?? 0) * 1000, backoff);
    if (!mayRepeat || tries === MAX_TRIES || waited + wait > MAX_WAITING_MILLISECONDS) return err(failure);
    waited += wait;
    onRetry(failure, wait);
    await sleep(wait);
  }
}

/** The seconds of an answer's `Retry-After`; undefined where there are none, or a date. */
export function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get('retry-after') ?? '';
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}
