import { afterEach, describe, expect, it } from 'vitest';
import {
  receiptOf,
  sentenceOf,
  SHORT_BANK,
  TIMED_BANK,
  useAdaptiveRuns,
} from '#test/support/adaptive-run.ts';
import type { RunGiven } from '#test/support/adaptive-run.ts';
import type { PolicyChange } from '#test/support/released-records.ts';
import { useTestStack } from '#test/support/stack.ts';
import { mastery as kinds } from '#test/lemmas/faults-expected.ts';

const { conflict, waitFor } = kinds;

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

/** A run that goes on until a rule of the change ends it. */
const endless = (change: PolicyChange): PolicyChange => ({
  ...{ kcCutScore: 0.5, confidenceThreshold: 0.999999, precisionTarget: 1e-9 },
  ...{ maxItems: runs.membersOf(SHORT_BANK).length + 5, timeBudgetSeconds: null, coverageFloors: [] },
  ...change,
});
/** A learner's run before the advance that ends it, its last answer scored. */
async function beforeItsEnd(change: PolicyChange, items: number): Promise<RunGiven> {
  let run = await runs.start(await runs.bodyUnder(endless(change))).sendForRun();
  for (let answered = 1; answered < items; answered += 1) run = await runs.answer(run);
  await runs.play(run.body);
  return run;
}

describe('at the advance by which a rule stops the run, Content blocks nothing', () => {
  const oneComponent = () => ({ kcScope: runs.membersOf(SHORT_BANK)[0]!.kcGuids.slice(0, 1) });
  it.each<[string, () => PolicyChange, number]>([
    // The one component is settled as soon as anything is known of it.
    [
      'classifications_complete',
      () => ({ confidenceThreshold: 0.5000001, eligibilityRules: oneComponent() }),
      1,
    ],
    ['precision_target_met', () => ({ precisionTarget: 1 }), 1],
    ['max_items', () => ({ maxItems: 2 }), 2],
  ])('%s [MA-067, MA-137, MA-138, MA-198]', async (stopReason, change, items) => {
    const run = await beforeItsEnd(change(), items);
    await edit(run);
    const inspected = await runs.inspect(run.body.continuationToken).sendForRun();
    const ended = await runs.advance(run.body.continuationToken, inspected.etag).sendForRun();
    expect(ended.body).toMatchObject({ status: 'completed', stopReason });
    const standing = [inspected, ended].map(({ body }) => receiptOf(stack, body.receiptId)['content']);
    expect(standing).toEqual(['differs', 'differs']);
  });

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

  it('under slots too, which an exhausted pool would need [MA-111, MA-198]', async () => {
    const all = runs.membersOf(TIMED_BANK).map(({ qtiIdentifier }) => qtiIdentifier);
    const body = await runs.bodyUnder(
      { timeBudgetSeconds: 2, eligibilityRules: { blueprintCoverage: 'slots', enemySets: [all] } },
      { bank: TIMED_BANK },
    );
    const ends: unknown[] = [];
    for (const strike of [() => Promise.resolve(), edit]) {
      const run = await runs.start(body).sendForRun();
      await stack.control('POST', 'clock', { advanceSeconds: 60 });
      const { etag } = await runs.playAndInspect(run.body);
      await strike(run);
      ends.push((await runs.advance(run.body.continuationToken, etag).sendForRun()).body.stopReason);
    }
    // What Content says by then does not decide by which rule a run ends.
    expect(ends).toEqual(['time_budget', 'time_budget']);
  });
});

describe('where selection itself ends the run', () => {
  const oneItem = (blueprintCoverage: 'slots' | 'none'): PolicyChange => ({
    eligibilityRules: {
      blueprintCoverage,
      enemySets: [runs.membersOf(SHORT_BANK).map(({ qtiIdentifier }) => qtiIdentifier)],
    },
  });

  it('Content binds it under slots, whose minima come from the blueprint [MA-067]', async () => {
    const run = await beforeItsEnd(oneItem('slots'), 1);
    const { etag } = await runs.inspect(run.body.continuationToken).sendForRun();
    await edit(run);
    const inspect = runs.inspect(run.body.continuationToken);
    const advance = runs.advance(run.body.continuationToken, etag);
    expect([sentenceOf(await inspect.send()), sentenceOf(await advance.send())]).toEqual([
      conflict,
      conflict,
    ]);
  });

  it('and not otherwise [MA-138]', async () => {
    const run = await beforeItsEnd(oneItem('none'), 1);
    await edit(run);
    const { etag } = await runs.inspect(run.body.continuationToken).sendForRun();
    const ended = await runs.advance(run.body.continuationToken, etag).sendForRun();
    expect(ended.body).toMatchObject({ status: 'completed', stopReason: 'max_items' });
  });
});

describe('while a run goes on', () => {
  it('Content binds every offer: drifted it is 409, down it is waited for [MA-066, MA-067]', async () => {
    const run = await beforeItsEnd({}, 2);
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
