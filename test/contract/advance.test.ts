import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { advanceAdaptiveRun as advance } from '#shared/contract/mastery/routes/advance-adaptive-run.ts';
import { runOf, sentenceOf, useAdaptiveRuns, type RunGiven } from '#test/support/adaptive-run.ts';
import { callMastery, problemOf, refusalOf } from '#test/support/mastery-call.ts';
import { callsDuring } from '#test/support/platform-calls.ts';
import { useTestStack } from '#test/support/stack.ts';

const stack = useTestStack();
const runs = useAdaptiveRuns(stack);
/** The second item is offered; it has been played, and QTI has scored it. */
let offered: RunGiven;
let played: RunGiven;
beforeAll(async () => {
  offered = (await runs.underWay()).second;
  played = await runs.playAndInspect(offered.body, 0);
});

const token = () => ({ continuationToken: offered.body.continuationToken });
const writes = (calls: readonly { readonly method: string }[]) =>
  calls.filter(({ method }) => method !== 'GET');

describe('the precondition', () => {
  it.each([
    ['stale', () => offered.etag],
    ['of another run', () => '"0000"'],
    ['weak', (etag: string) => `W/${etag}`],
    ['a wildcard', () => '*'],
    ['a list', (etag: string) => `"a", ${etag}`],
    ['a list of itself', (etag: string) => `${etag}, ${etag}`],
    ['unquoted', (etag: string) => etag.slice(1, -1)],
    ['in other case', (etag: string) => etag.toUpperCase()],
  ])(
    '%s: 412 with the current tag, one read, and the key stays free [MA-047, MA-166, MA-172, MA-211]',
    async (_, spoil) => {
      const key = randomUUID();
      const ifMatch = spoil(played.etag);
      expect(ifMatch).not.toBe(played.etag);
      const { result, calls } = await callsDuring(stack, () =>
        callMastery(stack, advance, { key, body: token(), ifMatch }),
      );
      expect(problemOf(result)).toMatchObject({
        status: 412,
        code: 'stream-conflict',
        retryable: true,
        currentEtag: played.etag,
      });
      expect(result.headers.get('retry-after')).not.toBeNull();
      expect(calls.map(({ operation }) => operation)).toEqual(['qti.read_candidate_runtime']);
      const other = await callMastery(stack, advance, { key, body: token(), ifMatch: '"another"' });
      expect(refusalOf(other)).toBe('412 stream-conflict');
    },
  );

  it('is met by the current tag of a 412 under a fresh key [MA-193]', async () => {
    const refused = await callMastery(stack, advance, { body: token(), ifMatch: offered.etag });
    const { currentEtag } = problemOf(refused);
    const reply = await callMastery(stack, advance, { body: token(), ifMatch: currentEtag! });
    expect(reply.status).toBe(200);
  });
});

describe('advance without news', () => {
  it('echoes token, expiry, offer and tag, and writes nothing', async () => {
    const fresh = await runs.start().sendForRun();
    const { result, calls } = await callsDuring(stack, () =>
      runs.advance(fresh.body.continuationToken, fresh.etag).sendForRun(),
    );
    const { receiptId, ...same } = fresh.body;
    expect(result.body).toEqual({ ...same, receiptId: expect.any(String) as string });
    expect(result.body.receiptId).not.toBe(receiptId);
    expect(result.etag).toBe(fresh.etag);
    expect(writes(calls)).toEqual([]);
  });
});

describe('a predecessor token', () => {
  it('is no way back once the run has gone further: no outcome is lost and nothing is offered twice [MA-073]', async () => {
    const first = await runs.start().sendForRun();
    const one = await runs.playAndInspect(first.body);
    const second = await runs.advance(first.body.continuationToken, one.etag).sendForRun();
    const two = await runs.playAndInspect(second.body);
    const third = await runs.advance(second.body.continuationToken, two.etag).sendForRun();
    const before = await runs.state();
    const back = await runs.advance(first.body.continuationToken, one.etag).send();
    // The same successor once more: its item is scored by now, so it can only be inspected and left behind again.
    expect(sentenceOf(back)).toBe('200 in_progress reportable');
    expect(runOf(back).body.offeredItem).toEqual(second.body.offeredItem);
    expect((await runs.state()).counts).toEqual(before.counts);
    const current = await runs.inspect(runOf(back).body.continuationToken).sendForRun();
    const forth = await runs.advance(runOf(back).body.continuationToken, current.etag).sendForRun();
    expect(forth.body.offeredItem).toEqual(third.body.offeredItem);
    expect((await runs.state()).counts).toEqual(before.counts);
  });
});

describe('a completed run', () => {
  it('stays as it is: no renewed token, no write, the same references [MA-085, MA-086]', async () => {
    const run = await runs.toEnd(await runs.start().sendForRun());
    expect(run.body).toMatchObject({
      resultRecordRef: expect.any(String) as string,
      caliperEventRef: expect.any(String) as string,
    });
    const { result: again, calls } = await callsDuring(stack, () =>
      runs.advance(run.body.continuationToken, run.etag).sendForRun(),
    );
    expect({ ...again.body, receiptId: '' }).toEqual({ ...run.body, receiptId: '' });
    expect(again.etag).toBe(run.etag);
    expect(writes(calls)).toEqual([]);
  });
});
