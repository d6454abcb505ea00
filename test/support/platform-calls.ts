import * as z from 'zod';
import type { Route } from '#shared/contract/route.ts';
import { allOperations } from '#shared/platform/all-operations.ts';
import * as operations from '#shared/platform/operations.ts';
import type { TestStack } from './stack.ts';

const recordedCalls = z.object({
  calls: z.array(
    z.object({
      operation: z.string().nullable(),
      method: z.string(),
      path: z.string(),
      tenantId: z.string().nullable(),
      startedAt: z.number(),
      endedAt: z.number(),
      status: z.number().nullable(),
      fault: z.string().nullable(),
    }),
  ),
});
export type RecordedCall = z.infer<typeof recordedCalls>['calls'][number];

/** What the owners have been asked while something was done, by whomever. */
export async function callsDuring<T>(
  stack: Pick<TestStack, 'control'>,
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly calls: readonly RecordedCall[] }> {
  await stack.control('DELETE', 'calls');
  const result = await work();
  return { result, calls: await callsSoFar(stack) };
}

/** What the owners have been asked since this was last forgotten. */
export async function callsSoFar(stack: Pick<TestStack, 'control'>): Promise<readonly RecordedCall[]> {
  return recordedCalls.parse(await stack.control('GET', 'calls')).calls;
}

/** How many calls count against a row's budget: all but those of single knowledge components. */
export function countedCalls(calls: readonly RecordedCall[]): number {
  return calls.filter(({ operation }) => operation !== operations.readCfItem.id).length;
}

/**
 * The longest chain of slowed calls of which each began only after the one before had ended. A call that another fault
 * struck was not slowed, so that nothing could overlap with it for certain: it does not count.
 */
export function depthOf(calls: readonly RecordedCall[]): number {
  let depth = 0;
  let free = -Infinity;
  const slowed = calls.filter(({ fault }) => fault === 'latency');
  for (const { startedAt, endedAt } of slowed.toSorted((a, b) => a.endedAt - b.endedAt)) {
    if (startedAt < free) continue;
    depth += 1;
    free = endedAt;
  }
  return depth;
}

/** Longer than a busy machine takes to send off what belongs to one wave, so that what is asked side by side overlaps. */
const SLOW_MS = 250;

/** Slows every operation down, for `depthOf`: by less time, what is asked side by side may look like a chain, but never a chain like one wave. */
export async function slowDown(stack: Pick<TestStack, 'fault'>, milliseconds = SLOW_MS): Promise<void> {
  await Promise.all(
    allOperations.map(({ id: operation, method }) =>
      stack.fault({ operation, method, kind: 'latency', milliseconds, times: 10_000 }),
    ),
  );
}

/** What a row's budget limits, as it was seen. */
export function takenBy(calls: readonly RecordedCall[]): Route['budget'] {
  return { calls: countedCalls(calls), depth: depthOf(calls) };
}

/** By how much calls exceed a row's budget. */
export function withinBudget({ budget }: Route, calls: readonly RecordedCall[]): object {
  return {
    calls: Math.max(0, countedCalls(calls) - budget.calls),
    depth: Math.max(0, depthOf(calls) - budget.depth),
  };
}
