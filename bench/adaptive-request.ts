import { randomUUID } from 'node:crypto';
import { attemptRequest } from '#local/attempt-request.ts';
import { testOf } from '#local/call/example-request.ts';
import type { Stack } from '#local/stack/stack.ts';
import type { AdaptiveRun } from '#shared/contract/mastery/adaptive-run.ts';
import { advanceAdaptiveRun } from '#shared/contract/mastery/routes/advance-adaptive-run.ts';
import { inspectAdaptiveRun } from '#shared/contract/mastery/routes/inspect-adaptive-run.ts';
import { startAdaptiveRun } from '#shared/contract/mastery/routes/start-adaptive-run.ts';
import type { Route } from '#shared/contract/route.ts';
import { proxyEvent } from '#test/support/lambda.ts';
import { buildFunctions } from '#tools/bundling/build.ts';
import { openFunction, type OpenFunction } from './function.ts';
import type { Invocation } from './function-process.ts';
import { startLargeStack, variablesBeside, type LargeBank } from './large-stack.ts';
import { duration, quantile, table, unwrap, type Part, type Progress, type Report } from './measure.ts';

export const TENANT = 'tenant-aurora';
/** Items that a run takes before it is over; the last advance only publishes. */
const MAX_ITEMS = 30;
/** The largest pool, fewer of its components in scope, and fewer items: the differences show where the time goes. */
const BANKS: readonly LargeBank[] = [
  { items: 10_000, kcs: 500, scope: 500, maxItems: MAX_ITEMS },
  { items: 10_000, kcs: 500, scope: 10, maxItems: MAX_ITEMS },
  { items: 500, kcs: 10, scope: 10, maxItems: MAX_ITEMS },
];

const QUICK_BANKS: readonly LargeBank[] = [{ items: 500, kcs: 10, scope: 10, maxItems: 3 }];

/** A route's function in a process of its own. */
export interface OpenRoute extends AsyncDisposable, Pick<OpenFunction, 'setClock' | 'startCpu'> {
  /** What has been measured so far. */
  readonly invocations: Invocation[];
  /** Asks as a client of the tenant does. Throws for any answer but a success. */
  readonly ask: (
    body: object,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<{ readonly run: AdaptiveRun; readonly etag: string }>;
}

export async function openRoute(
  stack: Stack,
  files: ReadonlyMap<string, string>,
  route: Route,
  token: string,
  collects?: true,
): Promise<OpenRoute> {
  const opened = await openFunction({
    file: files.get(route.operationId) ?? '',
    variables: variablesBeside(stack, route),
    ...(collects && { collects }),
  });
  const invocations: Invocation[] = [];
  return {
    invocations,
    startCpu: opened.startCpu,
    setClock: opened.setClock,
    ask: async (body: object, headers: Readonly<Record<string, string>> = {}) => {
      const request = { body, headers: { 'Idempotency-Key': randomUUID(), ...headers } };
      const invocation = await opened.invoke(
        proxyEvent(route, request, { Authorization: `Bearer ${token}` }),
      );
      if (invocation.status !== route.success.status) throw new Error(invocation.body);
      invocations.push(invocation);
      return { run: JSON.parse(invocation.body) as AdaptiveRun, etag: invocation.headers['ETag'] ?? '' };
    },
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}

/** One conformance run to its end, inspected before every advance. */
async function takeRun(bank: LargeBank, progress: Progress): Promise<string[][]> {
  progress(`${bank.items} items: starting`);
  const built = unwrap(await buildFunctions());
  const files = new Map(built.map(({ operationId, file }) => [operationId, file]));
  await using stack = await startLargeStack(bank);
  const token = await stack.tokenFor(TENANT, ['mastery:run', 'mastery:read']);
  await using start = await openRoute(stack, files, startAdaptiveRun, token);
  await using inspect = await openRoute(stack, files, inspectAdaptiveRun, token);
  await using advance = await openRoute(stack, files, advanceAdaptiveRun, token);
  const fixture = stack.seededTenants.get(TENANT)?.fixtures.mastery.banks[0];
  if (fixture === undefined) throw new Error('the stack has no bank');
  const body = { ...testOf(fixture), runMode: 'owner_conformance' };
  for (let n = 0; n < Math.min(10, bank.maxItems); n += 1) await start.ask(body);
  let { run } = await start.ask(body);
  while (run.offeredItem !== null) {
    progress(`${bank.items} items, ${bank.scope} KCs: item ${run.offeredItem.sequence} of ${bank.maxItems}`);
    await play(stack, run.offeredItem.deliverySessionId, run.offeredItem.sequence % 2 === 1);
    const { continuationToken } = run;
    const { etag } = await inspect.ask({ continuationToken });
    ({ run } = await advance.ask({ continuationToken }, { 'If-Match': etag }));
  }
  if (advance.invocations.length !== bank.maxItems)
    throw new Error(`the run ended after ${advance.invocations.length} of ${bank.maxItems} items`);
  const rows = { start, inspect, advance };
  return Object.entries(rows).map(([name, route]) => rowOf(name, bank, route));
}

export async function play(stack: Stack, deliverySessionId: string, correct: boolean): Promise<void> {
  const { platformUrl } = stack.urls;
  const playerToken = await stack.tokenFor(TENANT, []);
  await fetch(...attemptRequest({ platformUrl, tenantId: TENANT, playerToken, deliverySessionId, correct }));
}

function rowOf(name: string, { items, scope }: LargeBank, { startCpu, invocations }: OpenRoute): string[] {
  const [cold, ...warm] = invocations;
  const median = (of: 'cpu' | 'last'): number =>
    quantile(
      warm.map((each) => each[of]),
      0.5,
    );
  const peak = Math.max(...warm.map((each) => each.peak));
  return [
    `${name}, ${items} items, ${scope} KCs`,
    duration(cold?.cpu ?? NaN),
    duration(median('cpu')),
    duration(median('last')),
    `${peak.toFixed(0)} MB`,
    duration(startCpu),
  ];
}

async function adaptiveRequest(progress: Progress, isQuick: boolean): Promise<Report> {
  const rows: string[][] = [];
  for (const bank of isQuick ? QUICK_BANKS : BANKS) rows.push(...(await takeRun(bank, progress)));
  return {
    text: table(['', 'CPU, cold', 'CPU, warm', 'with its owners, warm', 'peak', 'CPU, start'], rows),
    missed: [],
  };
}

export const adaptiveRequestPart: Part = {
  title:
    'Adaptive run: start, inspect and advance from event to answer, each function in a process of its own, owners and stores over HTTP',
  run: adaptiveRequest,
};
