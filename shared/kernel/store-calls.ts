import { AsyncLocalStorage } from 'node:async_hooks';
import { withTimeLimit, type Sleep } from './sleep.ts';

/** What an invocation keeps of its time to answer before the gateway gives up, once its stores and owners have had theirs. */
export const ANSWER_MS = 1_500;

/** A store of the deployment gave no usable answer in time, or refused a call for its load: a repetition may succeed. */
export class StoreOutage extends Error {
  constructor(cause?: unknown) {
    super('a store of the deployment gave no usable answer', { cause });
    // Log lines name errors: the store's own name says more.
    this.name = cause instanceof Error ? cause.name : 'StoreOutage';
  }
}

/** Whether a store's outage is behind a failure, whatever a library has wrapped it in. */
export function isStoreOutage(error: unknown): boolean {
  return error instanceof Error && (error instanceof StoreOutage || isStoreOutage(error.cause));
}

const budget = new AsyncLocalStorage<AbortSignal>();

/** Does work whose calls of stores are cut off after so many milliseconds, instead of at the limit that it was begun under. */
export function withStoreBudget<T>(
  sleep: Sleep,
  milliseconds: number,
  work: (end: AbortSignal) => Promise<T>,
): Promise<T> {
  return withTimeLimit(sleep, Math.max(0, milliseconds), (end) => budget.run(end, () => work(end)));
}

/** A Lambda handler whose stores have what is left of each invocation, less the time to answer. */
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
 * Calls a store within the budget; a command has none. Throws a StoreOutage when the store is at fault, else what the call throws.
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

/** How AWS refuses a call for its load, or for having come too slowly. */
const OVERLOAD = /Throttl|SlowDown|TooManyRequests|ThroughputExceeded|RequestLimit|RequestTimeout|InProgress/;
/** A code of the network, not one of Node's own errors. */
const NETWORK_CODE = /^E(?!RR_)[A-Z_]+$/;

function isOutage(error: unknown): boolean {
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
