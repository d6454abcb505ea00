import { afterEach, describe, expect, it } from 'vitest';
import { receiptOf, sentenceOf, useAdaptiveRuns } from '#test/support/adaptive-run.ts';
import type { RunGiven } from '#test/support/adaptive-run.ts';
import { useTestStack } from '#test/support/stack.ts';
import { mastery as kinds } from '#test/lemmas/faults-expected.ts';

const { conflict, waitFor } = kinds;

// Which steps Content binds: functions/mastery/run/bound-pool.test.ts.

const stack = useTestStack();
const runs = useAdaptiveRuns(stack);
let undo: (() => Promise<void>)[] = [];
afterEach(async () => {
  await stack.control('DELETE', 'faults');
  for (const one of undo) await one();
  undo = [];
});

/** Edits what Content holds of a run's test. */
async function edit({ body }: RunGiven): Promise<void> {
  const id = body.executionPins.testSpecId;
  undo.push(
    await runs.change({
      entity: 'content.blueprint',
      id,
      changes: [
        { pointer: '/title', value: 'edited' },
        { pointer: '/subject', value: 'edited' },
      ],
    }),
  );
}
const fault = (kind: string) => (): Promise<void> =>
  stack.fault({ operation: 'content.read_test_spec', kind, times: 10 });

describe('at the advance by which a rule stops the run, Content blocks nothing', () => {
  it.each<[string, string, (run: RunGiven) => Promise<void>]>([
    ['drifted', 'differs', edit],
    ['down', 'not_read', fault('down')],
    ['broken', 'not_read', fault('malformed')],
  ])('time_budget, with a Content that is %s [MA-067, MA-137, MA-198]', async (_, standing, strike) => {
    const { started, advance } = await runs.playedOut();
    await strike(started);
    const ended = await advance.sendForRun();
    expect(ended.body).toMatchObject({ status: 'completed', stopReason: 'time_budget' });
    expect(receiptOf(stack, ended.body.receiptId)['content']).toBe(standing);
  });
});

describe('while a run goes on', () => {
  it('Content binds every offer: drifted it is 409, down it is waited for [MA-066, MA-067]', async () => {
    const run = await runs.start().sendForRun();
    await runs.play(run.body);
    const { etag } = await runs.inspect(run.body.continuationToken).sendForRun();
    const advance = runs.advance(run.body.continuationToken, etag);
    const inspect = runs.inspect(run.body.continuationToken);
    await fault('down')();
    expect(sentenceOf(await advance.send())).toBe(waitFor('content'));
    await stack.control('DELETE', 'faults');
    await edit(run);
    expect([sentenceOf(await inspect.send()), sentenceOf(await advance.send())]).toEqual([
      conflict,
      conflict,
    ]);
  });

  it('an advance without news offers nothing, and an answer on its way may be the last: neither is ended by an edit [MA-142]', async () => {
    const run = await runs.start().sendForRun();
    await edit(run);
    const idle = await runs.advance(run.body.continuationToken, run.etag).sendForRun();
    expect(idle.body.offeredItem).toEqual(run.body.offeredItem);
    expect(sentenceOf(await runs.inspect(run.body.continuationToken).send())).toBe(conflict);
    await stack.control('POST', 'qti', { tenantId: 'tenant-aurora', scores: 'later' });
    await runs.play(run.body);
    const handedIn = await runs.inspect(run.body.continuationToken).send();
    await stack.control('POST', 'qti', { tenantId: 'tenant-aurora', scores: 'at_once' });
    expect(sentenceOf(handedIn)).toBe('200 in_progress pending');
  });
});
