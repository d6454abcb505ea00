import { AsyncLocalStorage } from 'node:async_hooks';
import { withTimeLimit, type Sleep } from './sleep.ts';

/** The part of an invocation's time, after its stores and owners have had theirs, reserved to respond before the gateway gives up. */
export const ANSWER_MS = 1_500;

/** A store of the deployment gave no usable response in time, or rejected a call because of its load: a retry may succeed. */
export class StoreOutage extends Error {
  constructor(cause?: unknown) {
    super('a store of the deployment returned no usable response', { cause });
    // Log lines name errors: the store's own name is more specific.
    this.name = cause instanceof Error ? cause.name : 'StoreOutage';
  }
}

/** Returns whether a failure is caused by a store's outage, even if a library has wrapped it. */
export function isStoreOutage(error: unknown): boolean {
  return error instanceof Error && (error instanceof StoreOutage || isStoreOutage(error.cause));
}

const budget = new AsyncLocalStorage<AbortSignal>();

/** Runs work whose store calls are cut off after this many milliseconds, instead of at the outer limit. */
export function withStoreBudget<T>(
  sleep: Sleep,
  milliseconds: number,
  work: (end: AbortSignal) => Promise<T>,
): Promise<T> {
  return withTimeLimit(sleep, Math.max(0, milliseconds), (end) => budget.run(end, () => work(end)));
}

/** Wraps a Lambda handler so that its stores have the rest of each invocation, less the time to respond. */
export function withinInvocation<
  Event,
  Context extends { readonly getRemainingTimeInMillis: () => number },
  Answer,
>(
  { sleep }: { readonly sleep: Sleep },
  handler: (event: Event, context: Context) => Promise<Answer>,
): (event: Event, context: Context) => Promise<Answer> {
  return (event, context) =>
    withStoreBudget(sleep, context.getRemainingTimeInMillis() - ANSWER_MS, () => handler(event, context));
}

/**
 * Calls a store within the budget; a command has none. Throws a StoreOutage if the store is at fault, else the error of the call.
 * @param limit a narrower limit
 */
export async function callStore<T>(
  call: (end: AbortSignal | undefined) => Promise<T>,
  limit?: AbortSignal,
): Promise<T> {
  const end = budget.getStore();
  if (end === undefined) return call(end);
  try {
    return await call(limit === undefined ? end : AbortSignal.any([end, limit]));
  } catch (error) {
    throw isOutage(error) ? new StoreOutage(error) : error;
  }
}

/** The errors by which AWS rejects a call because of its load, or because it came too slowly. */
const OVERLOAD = /Throttl|SlowDown|TooManyRequests|ThroughputExceeded|RequestLimit|RequestTimeout|InProgress/;
/** A code of the network, not one of Node's own errors. */
const NETWORK_CODE = /^E(?!RR_)[A-Z_]+$/;

/** Returns whether AWS or the way to it is at fault: it failed, did not respond in time, or rejected the call because of its load. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { name, $fault, code } = error as Error & { readonly $fault?: unknown; readonly code?: unknown };
  if ($fault === 'client') return OVERLOAD.test(name);
  return (
    $fault === 'server' ||
    name === 'TimeoutError' ||
    name === 'AbortError' ||
    (typeof code === 'string' && NETWORK_CODE.test(code))
  );
}
