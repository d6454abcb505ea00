import { createRecent } from '#shared/kernel/recent.ts';
import { randomFraction, type RandomBytes } from '#shared/kernel/random.ts';

/** How many requests in a row, without any answer of the owner between them, open its circuit. */
const FAILED_REQUESTS = 3;
/** After so long without a failure the earlier ones no longer count. */
const QUIET_MS = 60_000;
const FIRST_MS = 2_000;
const LONGEST_MS = 30_000;
/** How long other requests wait for the one that tries again: a container may be frozen before it ends. */
const PROBE_MS = 12_000;
/** Circuits of tenants and owners that a container remembers. */
const MAX_CIRCUITS = 10_000;

interface Circuit {
  failures: number;
  /** The last request that failed. */
  request: object;
  failedAt: number;
  /** Milliseconds for which it was opened last; 0: closed. */
  openMs: number;
  /** When a call may try again. */
  until: number;
  /** The request that tries again: all its calls may be made. */
  probing?: object;
}

/** The circuits of the owners that one container calls, each by a name. */
export interface Circuits {
  /** Returns the milliseconds for which calls of a request must not be made, or 0 if they may be made now. */
  readonly wait: (name: string, request: object) => number;
  readonly answered: (name: string) => void;
  /** Notes that a request had a call without an answer. Returns for how many milliseconds this opens the circuit, if it does. */
  readonly failed: (name: string, request: object) => number | undefined;
  /** Lets the next request try at once if this one has tried and its call ended with neither, for example because it ran out of time. */
  readonly ended: (name: string, request: object) => void;
}

/**
 * Creates the circuits of one container. An owner that gives no answer costs each request seconds and the stage an execution; once that is certain,
 * calls fail at once for a while, and then one request tries. It counts requests and not calls: one request for one damaged thing can make many.
 */
export function createCircuits({
  now,
  random,
}: {
  readonly now: () => number;
  readonly random: RandomBytes;
}): Circuits {
  const circuits = createRecent<Circuit | undefined>(MAX_CIRCUITS);
  return {
    wait(name, request) {
      const circuit = circuits.get(name);
      if (circuit === undefined || circuit.openMs === 0 || circuit.probing === request) return 0;
      const left = circuit.until - now();
      // More is left only if the clock was set back.
      if (left > 0 && left <= LONGEST_MS) return left;
      circuit.until = now() + PROBE_MS;
      circuit.probing = request;
      return 0;
    },
    answered: (name) => {
      if (circuits.get(name) !== undefined) circuits.set(name, undefined);
    },
    failed(name, request) {
      const known = circuits.get(name);
      // It may be the one that tries again, in the middle of long work.
      if (known?.request === request && known.probing !== request) return undefined;
      const isRecent = known !== undefined && (known.openMs > 0 || now() - known.failedAt <= QUIET_MS);
      const failures = isRecent ? known.failures + 1 : 1;
      const before = isRecent ? known.openMs : 0;
      const isOpen = failures >= FAILED_REQUESTS;
      const openMs = isOpen ? Math.min(LONGEST_MS, Math.max(FIRST_MS, 2 * before)) : 0;
      const until = now() + Math.ceil(openMs * (0.5 + randomFraction(random) / 2));
      circuits.set(name, { failures, request, failedAt: now(), openMs, until });
      return isOpen ? until - now() : undefined;
    },
    ended(name, request) {
      const circuit = circuits.get(name);
      if (circuit?.probing !== request) return;
      delete circuit.probing;
      circuit.until = now();
    },
  };
}
