import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openAdaptiveRuns, sentenceOf } from '#test/support/adaptive-run.ts';
import type { AdaptiveRuns, RunGiven } from '#test/support/adaptive-run.ts';
import { startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';

let stack: TestStack;
let runs: AdaptiveRuns;
let started: RunGiven;
let played: RunGiven;
beforeAll(async () => {
  stack = await startTestStack();
  runs = openAdaptiveRuns(stack);
  started = await runs.start().sendForRun();
  played = await runs.playAndInspect(started.body);
});
afterEach(() => {
  stack.awsFaults.reset();
});
afterAll(async () => {
  runs.close();
  await stack.close();
});

/** More than the SDK and the function try together. */
const ALWAYS = 1_000;
const outage = '500 internal-error retryable';

/** The three requests of a run, each with a key of its own. */
const requests = {
  start: () => runs.start(),
  inspect: () => runs.inspect(started.body.continuationToken),
  advance: () => runs.advance(started.body.continuationToken, played.etag),
} as const;
const names = Object.keys(requests) as (keyof typeof requests)[];

async function writes(): Promise<number> {
  return (await runs.takeCalls()).filter(({ method }) => method === 'POST').length;
}

describe.each(names)('%s, while the control table', (name) => {
  it.each([
    ['throttles the creation of records', () => stack.awsFaults.throttle('PutItem', ALWAYS)],
    ['throttles reading', () => stack.awsFaults.throttle('GetItem', ALWAYS)],
    ['is unavailable', () => stack.awsFaults.unavailable('dynamodb', ALWAYS)],
  ])('%s: 500, no write anywhere, and later as if nothing had been [MA-190, MA-224]', async (_, fail) => {
    const request = requests[name]();
    await writes();
    fail();
    expect(sentenceOf(await request.send())).toBe(outage);
    expect(await writes()).toBe(0);
    stack.awsFaults.reset();
    expect(await request.record()).toBeUndefined();
    await request.sendForRun();
    expect(await request.record()).toMatchObject({ state: 'completed' });
  });

  it('takes no final state: the answer stands, the record stays started, a repetition resumes it [MA-145]', async () => {
    const request = requests[name]();
    stack.awsFaults.throttle('UpdateItem', ALWAYS);
    const first = await request.sendForRun();
    stack.awsFaults.reset();
    expect(await request.record()).toMatchObject({ state: 'started' });
    await request.endLease();
    const again = await request.sendForRun();
    expect(again.body.offeredItem).toStrictEqual(first.body.offeredItem);
    expect(await request.record()).toMatchObject({ state: 'completed', terminalStatus: first.status });
  });
});

it('start is not touched by a control table that throttles a call or two', async () => {
  const request = requests.start();
  stack.awsFaults.throttle('PutItem', 1);
  stack.awsFaults.throttle('UpdateItem', 2);
  await request.sendForRun();
  expect(await request.record()).toMatchObject({ state: 'completed' });
});

describe.each(names)('%s, in a function that has just been started', (name) => {
  it('without KMS: 500 and no token, nothing asked and nothing kept; later fine [MA-224]', async () => {
    const request = requests[name]();
    await stack.killWorkers();
    await runs.takeCalls();
    stack.awsFaults.unavailable('kms', ALWAYS);
    const reply = await request.send();
    expect(sentenceOf(reply)).toBe(outage);
    expect(reply.body).not.toHaveProperty('continuationToken');
    expect(await runs.takeCalls()).toEqual([]);
    stack.awsFaults.reset();
    expect(await request.record()).toBeUndefined();
    await request.sendForRun();
  });

  it('without the parameter store: 424 of the service profile, retryable, and no call [MA-009, MA-154, MA-218]', async () => {
    const request = requests[name]();
    await stack.killWorkers();
    await runs.takeCalls();
    stack.awsFaults.unavailable('ssm', ALWAYS);
    const reply = await request.send();
    expect(sentenceOf(reply)).toBe('424 upstream-unavailable platform_auth retryable');
    // No call was made, so that there is no request id of an owner.
    expect(reply.body).toHaveProperty('upstream', {
      service: 'platform_auth',
      operation: 'platform.service_profile',
    });
    expect(await runs.takeCalls()).toEqual([]);
    stack.awsFaults.reset();
    await request.sendForRun();
  });
});

describe('a function whose keys and profile are known', () => {
  it.each(names)('%s needs neither KMS nor the parameter store', async (name) => {
    await requests[name]().sendForRun();
    stack.awsFaults.unavailable('kms', ALWAYS);
    stack.awsFaults.unavailable('ssm', ALWAYS);
    await requests[name]().sendForRun();
  });
});
