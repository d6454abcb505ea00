import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { storeFaults, storeNames, type StoreName } from '#local/aws/faults.ts';
import { grantsOf, type Grant } from '#shared/contract/grants.ts';
import type { Route } from '#shared/contract/route.ts';
import type { OperationId } from '#shared/contract/routes.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { useAdaptiveRuns } from '#test/support/adaptive-run.ts';
import { lazily } from '#test/support/lazily.ts';
import { useTestStack } from '#test/support/stack.ts';
import { answerOf } from './answers.ts';
import { openWorlds, operations } from './worlds.ts';

// Every store of the deployment, in every way in which it can fail, under every route that may touch it. The functions without a caller:
// stores-background.slow.test.ts.

/** The time that stores have in one invocation, where it is not the function's: a test does not wait for half a minute. */
const budget: { milliseconds?: number } = {};
/** How far the clock of the functions is ahead. */
const clock = { ahead: 0 };
/** Only the budget of an invocation is longer. */
const LONGEST_OTHER_MS = 20_000;

const { sleep } = processRuntime();
const stack = useTestStack({
  inProcess: () => ({
    now: () => Date.now() + clock.ahead,
    sleep: (milliseconds, signal) =>
      sleep(milliseconds > LONGEST_OTHER_MS ? (budget.milliseconds ?? milliseconds) : milliseconds, signal),
  }),
});
const worlds = lazily(() => openWorlds(stack));
const adaptiveRuns = useAdaptiveRuns(stack);

/** The stores behind the parts of grants. */
const storesOfThings = {
  records: ['records'],
  control: ['control'],
  improvement: ['improvement'],
  keys: ['settings', 'kms'],
  ring: ['settings', 'kms', 'ssm'],
  release: ['settings'],
  profiles: ['settings', 'kms'],
  receipts: ['s3'],
  stage: ['settings', 'kms', 'ssm', 's3'],
} as const satisfies Readonly<
  Record<
    Exclude<Grant, 'sandbox:call' | 'canary:run'> extends `${infer Thing}:${string}` ? Thing : never,
    readonly StoreName[]
  >
>;

function storesOf(grant: Grant): readonly StoreName[] {
  if (grant === 'improvement:queue') return ['sqs'];
  // A link is made without its bucket, and a request that cannot be counted is admitted.
  return grant === 'receipts:link' || grant === 'control:count'
    ? []
    : storesOfThings[grant.split(':')[0] as keyof typeof storesOfThings];
}

/** What these requests do without. */
const spared: Readonly<Partial<Record<OperationId, readonly StoreName[]>>> = {
  // The record is the tenant's own: whether the tenant may read the system's makes no difference.
  readSelectionPolicy: ['settings', 'kms'],
  readScaleCalibration: ['settings', 'kms'],
};
const isTouching = (route: Route, store: StoreName): boolean =>
  grantsOf(route).flatMap(storesOf).includes(store) &&
  spared[route.operationId as OperationId]?.includes(store) !== true;

/** What a route returns while a store gives no usable answer. */
const outage = ({ service }: Route): string =>
  service === 'mastery' ? '424 upstream-unavailable retryable' : '503 dependency-unavailable retryable';
/** KMS authenticates what it returns, no route reads the bucket, and the queue returns nothing that a route uses. */
const cannotBeWrong: ReadonlySet<StoreName> = new Set(['kms', 's3', 'sqs']);
const success = ({ success: { status } }: Route): string => `${status}`;

/** A request that can be sent again under its key. */
interface Sendable {
  readonly route: Route;
  readonly send: () => Promise<string>;
}

/** One request to each route. */
function requests(): Promise<readonly Sendable[]> {
  return Promise.all(
    operations.map(async ({ route, operation }) => {
      const keyed = route.request.idempotencyKey ? { key: randomUUID() } : {};
      const call = { ...(await worlds.request(operation)), ...keyed };
      return { route, send: async () => answerOf(route, await worlds.send(operation, call)).join(' ') };
    }),
  );
}

const sendAll = (sent: readonly Sendable[]): Promise<readonly (readonly [string, string])[]> =>
  Promise.all(sent.map(async ({ route, send }) => [route.operationId, await send()] as const));
const expected = (sent: readonly Sendable[], answer: (route: Route) => string) =>
  sent.map(({ route }) => [route.operationId, answer(route)]);

beforeAll(async () => {
  // What the requests name is made before any store fails.
  await requests();
  stack.improvement.pause();
});
afterEach(() => {
  stack.awsFaults.reset();
  delete budget.milliseconds;
});

describe.each(storeNames.filter((store) => operations.some(({ route }) => isTouching(route, store))))(
  'while the store %s',
  (store) => {
    it.each(
      storeFaults.filter((how) => how !== 'stalls' && !(how === 'is wrong' && cannotBeWrong.has(store))),
    )(
      '%s: every route that needs it returns a problem that may be repeated, in time, and never 500 [MA-154, MA-162, MA-168, MA-184, RP-233, RP-258, RP-265]',
      async (how) => {
        const sent = (await requests()).filter(({ route }) => isTouching(route, store));
        // A record that is there can be mistaken for another.
        if (how === 'is wrong' && store === 'control') await sendAll(sent);
        await stack.killWorkers();
        stack.awsFaults.break(store, how);
        const isSilent = how === 'hangs' || how === 'is late';
        if (isSilent) budget.milliseconds = 1_000;
        expect(await sendAll(sent)).toEqual(expected(sent, outage));
        delete budget.milliseconds;
        stack.awsFaults.reset();
        if (isSilent) expect(await sendAll(sent)).toEqual(expected(sent, success));
      },
    );
  },
);

it('keys and profiles that a function has read serve while their stores hang', async () => {
  await sendAll(await requests());
  stack.awsFaults.break('kms', 'hangs');
  const sent = await requests();
  expect(await sendAll(sent)).toEqual(expected(sent, success));
});

describe('a control table that hangs once the work is done', () => {
  it('changes no answer: the record stays started, and a repetition takes it over ten seconds later [MA-145, MA-190, RP-220]', async () => {
    const { advance } = await adaptiveRuns.playedOut('owner_conformance');
    const final: Sendable = {
      route: operations.find(({ operation }) => operation === 'advanceAdaptiveRun')!.route,
      async send() {
        const { status, body } = await advance.sendForRun();
        return body.status === 'completed' ? `${status}` : body.status;
      },
    };
    const sent = [...(await requests()).filter(({ route }) => route.request.idempotencyKey), final];
    // What a function reads first takes no part of it.
    await sendAll(await requests());
    const from = stack.logs().length;
    stack.awsFaults.break('control', 'hangs', 'UpdateItem');
    expect(await sendAll(sent)).toEqual(expected(sent, success));
    const codes = stack
      .logs()
      .slice(from)
      .map(({ line }) => (line as { readonly code?: string }).code);
    expect(codes.filter((code) => code === 'OPERATION_UNSETTLED')).toHaveLength(sent.length);
    expect(await advance.record()).toMatchObject({ state: 'started' });
    stack.awsFaults.reset();
    clock.ahead += 10_000;
    expect(await sendAll(sent)).toEqual(expected(sent, success));
    expect(await advance.record()).toMatchObject({ state: 'completed' });
  });
});
