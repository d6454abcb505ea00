import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { sentenceOf, useAdaptiveRuns, type RunGiven } from '#test/support/adaptive-run.ts';
import { callsDuring } from '#test/support/platform-calls.ts';
import { useTestStack } from '#test/support/stack.ts';

const stack = useTestStack();
const runs = useAdaptiveRuns(stack);
let started: RunGiven;
let played: RunGiven;
beforeAll(async () => {
  started = await runs.start().sendForRun();
  played = await runs.playAndInspect(started.body);
});
afterEach(() => {
  stack.awsFaults.reset();
});

/** More than the SDK and the function try together. */
const ALWAYS = 1_000;
const outage = '424 upstream-unavailable platform_auth retryable';

/** The three requests of a run, each with a key of its own. */
const requests = [
  ['start', () => runs.start()],
  ['inspect', () => runs.inspect(started.body.continuationToken)],
  ['advance', () => runs.advance(started.body.continuationToken, played.etag)],
] as const;

describe.each(requests)('%s', (name, requestOf) => {
  it.each([
    ['throttles the creation of records', () => stack.awsFaults.throttle('PutItem', ALWAYS)],
    ['throttles reading', () => stack.awsFaults.throttle('GetItem', ALWAYS)],
    ['is unavailable', () => stack.awsFaults.unavailable('dynamodb', ALWAYS)],
  ])(
    'while the control table %s: 424, no write anywhere, and later as if nothing had happened [MA-154, MA-190]',
    async (_, fail) => {
      const request = requestOf();
      fail();
      const { result, calls } = await callsDuring(stack, () => request.send());
      expect(sentenceOf(result)).toBe(outage);
      expect(calls.every(({ method }) => method === 'GET')).toBe(true);
      stack.awsFaults.reset();
      expect(await request.record()).toBeUndefined();
      await request.sendForRun();
      expect(await request.record()).toMatchObject({ state: 'completed' });
    },
  );

  it('while the control table takes no final state: the answer counts, the record stays started, a repetition resumes it [MA-145]', async () => {
    const request = requestOf();
    stack.awsFaults.throttle('UpdateItem', ALWAYS);
    const first = await request.sendForRun();
    stack.awsFaults.reset();
    expect(await request.record()).toMatchObject({ state: 'started' });
    await request.endLease();
    const again = await request.sendForRun();
    expect(again.body.offeredItem).toStrictEqual(first.body.offeredItem);
    expect(await request.record()).toMatchObject({ state: 'completed', terminalStatus: first.status });
  });

  it('without KMS: 424 and no call in a function that has just been started, no difference in one that knows keys and profile [MA-009, MA-154, MA-218]', async () => {
    const request = requestOf();
    await stack.killWorkers();
    stack.awsFaults.unavailable('kms', ALWAYS);
    const { result, calls } = await callsDuring(stack, () => request.send());
    expect([sentenceOf(result), calls]).toEqual([outage, []]);
    expect(result.body).not.toHaveProperty('continuationToken');
    // No call was made, so that there is no request id of an owner.
    expect(result.body).toHaveProperty('upstream', {
      service: 'platform_auth',
      operation: 'platform_auth.own_stores',
    });
    stack.awsFaults.reset();
    await request.sendForRun();
    stack.awsFaults.unavailable('kms', ALWAYS);
    await requestOf().sendForRun();
  });

  it('is not affected by a control table that throttles a call or two', async () => {
    const request = requestOf();
    stack.awsFaults.throttle('PutItem', 1);
    stack.awsFaults.throttle('UpdateItem', 2);
    await request.sendForRun();
    expect([name, await request.record()]).toMatchObject([name, { state: 'completed' }]);
  });
});
