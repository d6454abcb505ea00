import { withStoreBudget } from '#shared/kernel/store-calls.ts';
import type { Runtime } from '#shared/runtime/runtime.ts';

/** The milliseconds that a function may wait before its first event for what it prepares: an outage delays a start by no more. */
const START_MS = 1_000;

/**
 * Binds a function for its deployed handler. While Lambda starts it, it also opens its parts and reads what every request needs: the
 * issuer's keys, the stage's keys, the release. Until its first event a function has a whole processor, afterwards the share that its memory buys.
 */
export async function startFunction<F>(bind: (runtime: Runtime) => F, runtime: Runtime): Promise<F> {
  // Only Lambda sets it: a test or a command that imports a handler reads nothing.
  if (runtime.environment['AWS_LAMBDA_INITIALIZATION_TYPE'] === undefined) return bind(runtime);
  const begun: Promise<unknown>[] = [];
  let isStarting = true;
  const prepare: Runtime['prepare'] = (work) => {
    if (isStarting) begun.push(work().catch(() => undefined));
  };
  return withStoreBudget(runtime.sleep, START_MS, async (end) => {
    const bound = bind({ ...runtime, prepare });
    const late = new Promise((resolve) => {
      end.addEventListener('abort', resolve);
    });
    await Promise.race([allOf(begun), late]);
    isStarting = false;
    return bound;
  });
}

/** Waits for all work, including what is begun meanwhile. */
async function allOf(begun: readonly Promise<unknown>[]): Promise<void> {
  for (const work of begun) await work;
}
