import { constants } from 'node:os';
import { performance } from 'node:perf_hooks';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
type Signal = (typeof signals)[number];

/** What is listened to, and ended: `process`. */
interface Interruptible {
  on(signal: Signal, listener: () => void): unknown;
  exit(code: number): void;
}

/** npm passes on a signal that the terminal has sent to this process already: within this time, a second one is an echo. */
const ECHO_MILLISECONDS = 500;

/**
 * Resolves at the first SIGINT, SIGTERM or SIGHUP. A later one ends the process at once, without an orderly end,
 * with the exit code of that signal, 130 for Ctrl-C.
 * @param now monotonic milliseconds
 */
export function interrupted(
  process: Interruptible,
  now: () => number = () => performance.now(),
): Promise<void> {
  return new Promise((resolve) => {
    let first: number | undefined;
    for (const signal of signals) {
      process.on(signal, () => {
        if (first === undefined) {
          first = now();
          resolve();
        } else if (now() - first >= ECHO_MILLISECONDS) {
          process.exit(128 + constants.signals[signal]);
        }
      });
    }
  });
}
