import { testOf } from '#local/call/example-request.ts';
import type { AdaptiveRun } from '#shared/contract/mastery/adaptive-run.ts';
import { advanceAdaptiveRun } from '#shared/contract/mastery/routes/advance-adaptive-run.ts';
import { inspectAdaptiveRun } from '#shared/contract/mastery/routes/inspect-adaptive-run.ts';
import { startAdaptiveRun } from '#shared/contract/mastery/routes/start-adaptive-run.ts';
import { buildFunctions } from '#tools/bundling/build.ts';
import { openRoute, play, TENANT } from './adaptive-request.ts';
import type { Invocation } from './function-process.ts';
import { startLargeStack } from './large-stack.ts';
import { duration, quantile, table, unwrap, type Part, type Progress, type Report } from './measure.ts';

const MINUTES = 30;
const QUICK_MINUTES = 2;
const RUNS_PER_MINUTE = 1;
const bank = { items: 500, kcs: 10, scope: 10, maxItems: 12 } as const;
/** Lambda gives a function one whole processor at this memory, and a share of it below. */
const MB_PER_PROCESSOR = 1_769;
/** How much the heap may grow from the second to the last third of the minutes. In the first one, V8 still compiles what is called often. */
const GROWTH = 1.08;

/**
 * Learners take one test after another for half an hour of the functions' clock: one container per route, which keeps what it keeps between requests and
 * reads again what has become old.
 */
async function load(progress: Progress, isQuick: boolean): Promise<Report> {
  const minutes = isQuick ? QUICK_MINUTES : MINUTES;
  const built = unwrap(await buildFunctions());
  const files = new Map(built.map(({ operationId, file }) => [operationId, file]));
  await using stack = await startLargeStack(bank);
  const token = await stack.tokenFor(TENANT, ['mastery:run', 'mastery:read']);
  await using start = await openRoute(stack, files, startAdaptiveRun, token, true);
  await using inspect = await openRoute(stack, files, inspectAdaptiveRun, token, true);
  await using advance = await openRoute(stack, files, advanceAdaptiveRun, token, true);
  const fixture = stack.seededTenants.get(TENANT)?.fixtures.mastery.banks[0];
  if (fixture === undefined) throw new Error('the stack has no bank');
  const body = { ...testOf(fixture), runMode: 'owner_conformance' };
  const steps = minutes * RUNS_PER_MINUTE;
  for (let taken = 0; taken < steps; taken += 1) {
    const minute = Math.floor(taken / RUNS_PER_MINUTE);
    progress(`minute ${minute + 1} of ${minutes}`);
    for (const route of [start, inspect, advance]) route.setClock(minute * 60_000);
    let run: AdaptiveRun = (await start.ask(body)).run;
    while (run.offeredItem !== null) {
      // Three of five answers are right, in a pattern that differs between learners.
      await play(stack, run.offeredItem.deliverySessionId, (run.offeredItem.sequence * 7 + taken) % 5 < 3);
      const { continuationToken } = run;
      const { etag } = await inspect.ask({ continuationToken });
      ({ run } = await advance.ask({ continuationToken }, { 'If-Match': etag }));
    }
  }
  const rows = [
    { route: startAdaptiveRun, ...start },
    { route: inspectAdaptiveRun, ...inspect },
    { route: advanceAdaptiveRun, ...advance },
  ].map(({ route, invocations }) => ({ route, warm: invocations.slice(1) }));
  const heaps = rows.map(({ warm }) => {
    const third = Math.ceil(warm.length / 3);
    return [warm.slice(0, third), warm.slice(third, -third), warm.slice(-third)].map(heapOf);
  });
  const grown = rows.flatMap(({ route }, at) => {
    const [, middle = NaN, last = NaN] = heaps[at] ?? [];
    return last > GROWTH * middle
      ? [`${route.operationId}: the heap grew from ${middle.toFixed(1)} to ${last.toFixed(1)} MB`]
      : [];
  });
  return {
    text: table(
      ['', 'calls', 'p50', 'p95', 'p99', 'heap, first third', 'second', 'last'],
      rows.map(({ route: { operationId, lambda }, warm }, at) => {
        const times = warm.map((call) => inLambda(call, lambda.memoryMb));
        return [
          operationId,
          String(warm.length),
          ...[0.5, 0.95, 0.99].map((share) => duration(quantile(times, share))),
          ...(heaps[at] ?? []).map((heap) => (Number.isFinite(heap) ? `${heap.toFixed(1)} MB` : '–')),
        ];
      }),
    ),
    // One small round ends before V8 has compiled what is called often.
    missed: isQuick ? [] : grown,
  };
}

/** How long a call would take with the share of a processor that its memory brings: its own work takes longer, the wait for owners does not. */
function inLambda({ cpu, last }: Invocation, memoryMb: number): number {
  return Math.max(0, last - cpu) + cpu / Math.min(1, memoryMb / MB_PER_PROCESSOR);
}

/** Megabytes that a function keeps: the least of many calls. */
function heapOf(calls: readonly Invocation[]): number {
  return Math.min(...calls.map(({ heap }) => heap));
}

export const loadPart: Part = {
  title:
    'Half an hour of adaptive runs over 500 items and 10 KCs: times with the processor share of each function’s memory, and its heap; any answer but a success ends the part',
  run: load,
};
