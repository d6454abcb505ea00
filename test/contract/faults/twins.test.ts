import { describe, expect, it } from 'vitest';
import { runOf, sessionOf, TIMED_BANK, useAdaptiveRuns } from '#test/support/adaptive-run.ts';
import type { RunGiven, RunRequest } from '#test/support/adaptive-run.ts';
import { useTestStack } from '#test/support/stack.ts';

const stack = useTestStack();
const runs = useAdaptiveRuns(stack);

const TWINS = 20;

/** Sends requests side by side; a run must come back for each of them. Resolves also to how many new things the owners hold. */
async function sendAll(requests: readonly RunRequest[]) {
  const before = (await runs.state()).counts;
  const given = (await Promise.all(requests.map((request) => request.send()))).map(runOf);
  const after = (await runs.state()).counts;
  const made = Object.entries(after).map(([name, count]) => [name, count - (before[name] ?? 0)] as const);
  return { given, made: Object.fromEntries(made.filter(([, count]) => count !== 0)) };
}

const twinsOf = (request: RunRequest) => Array.from({ length: TWINS }, () => request);

/** What the answers to one step have in common: everything but the token and the receipt of the calls. */
function expectAlike(given: readonly RunGiven[]): void {
  const [first, ...others] = given.map(({ status, etag, body }) => {
    const { continuationToken, continuationExpiresAt, receiptId, ...rest } = body;
    return { http: status, etag, ...rest, own: [continuationToken, continuationExpiresAt, receiptId].length };
  });
  for (const other of others) expect(other).toStrictEqual(first);
}

async function playedOnce(bank?: string): Promise<RunGiven> {
  const started = await runs.start(runs.startBody(bank === undefined ? {} : { bank })).sendForRun();
  // A run over the timed bank ends with its first answer then; the other banks have no time budget.
  await stack.control('POST', 'clock', { advanceSeconds: 60 });
  return runs.playAndInspect(started.body);
}
const advanceOf = ({ body, etag }: RunGiven) => runs.advance(body.continuationToken, etag);

describe('requests at the same time', () => {
  it(`${TWINS} identical starts are one run with one session [MA-135, MA-190]`, async () => {
    const { given, made } = await sendAll(twinsOf(runs.start()));
    expectAlike(given);
    expect(made).toEqual({ 'qti.session': 1 });
    // Each of the tokens is a handle of that run, and leads to the same next item.
    const { etag } = await runs.playAndInspect(given[0]!.body);
    const advances = [given[0]!, given.at(-1)!].map(({ body }) => runs.advance(body.continuationToken, etag));
    expectAlike((await sendAll(advances)).given);
  });

  it.each([
    ['identical advances', twinsOf],
    ['advances of one token with keys of their own', () => undefined],
  ])('%s consume once and have one next session [MA-073, MA-136, MA-190]', async (_, twins) => {
    const played = await playedOnce();
    const { given, made } = await sendAll(
      twins(advanceOf(played)) ?? Array.from({ length: 4 }, () => advanceOf(played)),
    );
    expectAlike(given);
    expect(given[0]!.body.offeredItem).toMatchObject({ sequence: 2 });
    expect(made).toEqual({ 'qti.session': 1 });
  });

  it(`${TWINS} identical advances that end a run publish it once [MA-034, MA-190, MA-202]`, async () => {
    const { given, made } = await sendAll(twinsOf(advanceOf(await playedOnce(TIMED_BANK))));
    expectAlike(given);
    const { status, kcClassifications } = given[0]!.body;
    expect(status).toBe('completed');
    expect(made).toEqual({
      'results.record': 1,
      'results.component': kcClassifications.length,
      'caliper.event': 1,
    });
  });

  it('starts with keys of their own are runs of their own [MA-189]', async () => {
    const { given, made } = await sendAll(Array.from({ length: 4 }, () => runs.start()));
    expect(new Set(given.map(sessionOf)).size).toBe(4);
    expect(made).toEqual({ 'qti.session': 4 });
  });
});
