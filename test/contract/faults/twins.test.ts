import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TIMED_BANK, openAdaptiveRuns, runOf } from '#test/support/adaptive-run.ts';
import type { AdaptiveRuns, RunGiven, RunRequest } from '#test/support/adaptive-run.ts';
import { startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';

let stack: TestStack;
let runs: AdaptiveRuns;
beforeAll(async () => {
  stack = await startTestStack();
  runs = openAdaptiveRuns(stack);
});
afterAll(async () => {
  runs.close();
  await stack.close();
});

const TWINS = 20;

/** Sends the same requests side by side; every one of them must answer a run. */
async function sendAll(requests: readonly RunRequest[]): Promise<readonly RunGiven[]> {
  const replies = await Promise.all(requests.map((request) => request.send()));
  return replies.map(runOf);
}

function twinsOf(request: RunRequest): readonly RunRequest[] {
  return Array.from({ length: TWINS }, () => request);
}

/** What two answers to the same request have in common: everything but how the token is sealed, and the receipt of the calls. */
function essenceOf({ etag, body }: RunGiven): object {
  return { etag, ...body, continuationToken: undefined, receiptId: undefined };
}

function expectAlike(given: readonly RunGiven[]): void {
  const [first, ...others] = given.map(essenceOf);
  for (const other of others) expect(other).toStrictEqual(first);
}

async function counts(): Promise<Readonly<Record<string, number>>> {
  return (await runs.state()).counts;
}

async function playedOnce(bank?: string): Promise<{ readonly started: RunGiven; readonly etag: string }> {
  const started = await runs.start(runs.startBody(bank === undefined ? {} : { bank })).sendForRun();
  // A run over the timed bank ends with its first answer then; the other banks do not look at the clock.
  await stack.control('POST', 'clock', { advanceSeconds: 60 });
  return { started, etag: (await runs.playAndInspect(started.body)).etag };
}

describe('requests at the same time', () => {
  it(`${TWINS} identical starts are one run with one session [MA-135, MA-190]`, async () => {
    const before = await counts();
    const start = runs.start();
    const given = await sendAll(twinsOf(start));
    expectAlike(given);
    expect(given.every(({ status }) => status === 201)).toBe(true);
    expect((await counts())['qti.session']).toBe(before['qti.session']! + 1);
    // Each of the tokens is a handle of that run, and leads to the same next item.
    const { etag } = await runs.playAndInspect(given[0]!.body);
    const advanced = await sendAll(
      [given[0]!, given.at(-1)!].map(({ body }) => runs.advance(body.continuationToken, etag)),
    );
    expect(advanced[1]!.body.offeredItem).toStrictEqual(advanced[0]!.body.offeredItem);
  });

  it(`${TWINS} identical advances consume once and have one next session [MA-136, MA-190]`, async () => {
    const { started, etag } = await playedOnce();
    const before = await counts();
    const given = await sendAll(twinsOf(runs.advance(started.body.continuationToken, etag)));
    expectAlike(given);
    expect(given[0]!.body.offeredItem).toMatchObject({ sequence: 2 });
    expect((await counts())['qti.session']).toBe(before['qti.session']! + 1);
  });

  it('advances of one token with keys of their own lead to the same successor [MA-073, MA-190]', async () => {
    const { started, etag } = await playedOnce();
    const before = await counts();
    const advances = Array.from({ length: 4 }, () => runs.advance(started.body.continuationToken, etag));
    const given = await sendAll(advances);
    expect(new Set(given.map(({ body }) => body.offeredItem!.deliverySessionId)).size).toBe(1);
    expect(new Set(given.map((one) => one.etag)).size).toBe(1);
    expect((await counts())['qti.session']).toBe(before['qti.session']! + 1);
  });

  it(`${TWINS} identical advances that end a run publish it once [MA-034, MA-190, MA-202]`, async () => {
    const { started, etag } = await playedOnce(TIMED_BANK);
    const before = await counts();
    const given = await sendAll(twinsOf(runs.advance(started.body.continuationToken, etag)));
    expectAlike(given);
    expect(given[0]!.body.status).toBe('completed');
    const after = await counts();
    expect(after['results.record']).toBe(before['results.record']! + 1);
    expect(after['results.component']).toBe(
      before['results.component']! + given[0]!.body.kcClassifications.length,
    );
    expect(after['caliper.event']).toBe(before['caliper.event']! + 1);
  });

  it('starts with keys of their own are runs of their own [MA-189]', async () => {
    const before = await counts();
    const given = await sendAll(Array.from({ length: 4 }, () => runs.start()));
    expect(new Set(given.map(({ body }) => body.offeredItem!.deliverySessionId)).size).toBe(4);
    expect((await counts())['qti.session']).toBe(before['qti.session']! + 4);
  });

  it('an advance again, after the run has come further, leads where it led before [MA-190]', async () => {
    const { started, etag } = await playedOnce();
    const advance = runs.advance(started.body.continuationToken, etag);
    const second = await advance.sendForRun();
    const next = await runs.playAndInspect(second.body);
    const third = await runs.advance(second.body.continuationToken, next.etag).sendForRun();
    expect(third.body.offeredItem).toMatchObject({ sequence: 3 });
    const before = await counts();
    expect((await advance.sendForRun()).body.offeredItem).toStrictEqual(second.body.offeredItem);
    expect((await counts())['qti.session']).toBe(before['qti.session']);
  });
});
