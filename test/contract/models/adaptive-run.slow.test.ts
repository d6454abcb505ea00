import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { sentenceOf, useAdaptiveRuns, type RunGiven, type RunRequest } from '#test/support/adaptive-run.ts';
import { useTestStack } from '#test/support/stack.ts';

// Any order of a client's requests, against a model of a run: a chain of steps, of which each offers one item.

/** The policy of the bank stops after five items. */
const ITEMS = 5;

/** A run as its client sees it. Every step but the last has been answered. */
interface Model {
  /** How many items have been offered. */
  steps: number;
  isLastAnswered: boolean;
  hasEnded: boolean;
}

/** What the client holds. */
interface Held {
  /** The run as each step was first returned; after the end also the completed run. */
  readonly steps: RunGiven[];
  /** The advances so far, each with its answer. */
  readonly advances: { readonly request: RunRequest; readonly at: number; readonly answer: RunGiven }[];
}

const stack = useTestStack({ inProcess: () => ({}) });
const runs = useAdaptiveRuns(stack);

const offerOf = ({ body }: RunGiven): string | undefined => body.offeredItem?.deliverySessionId;
const NEWEST = -1;
/** A step by a number that fast-check draws. */
const stepOf = ({ steps }: Held, drawn: number): { at: number; run: RunGiven } => {
  const at = drawn === NEWEST ? steps.length - 1 : drawn % steps.length;
  return { at, run: steps[at]! };
};

type Command = fc.AsyncCommand<Model, Held>;
const always = (): boolean => true;

const answer = (score: 0 | 1): Command => ({
  check: ({ isLastAnswered, hasEnded }) => !isLastAnswered && !hasEnded,
  run: async (model, { steps }) => {
    await runs.play(steps.at(-1)!.body, score);
    model.isLastAnswered = true;
  },
  toString: () => `answer ${score === 1 ? 'right' : 'wrong'}`,
});

/** Whatever step's token it is, the run is shown as that step, and nothing changes. */
const inspect = (drawn: number): Command => ({
  check: always,
  run: async (_, held) => {
    const { run } = stepOf(held, drawn);
    const seen = await runs.inspect(run.body.continuationToken).sendForRun();
    expect([seen.body.status, offerOf(seen)]).toEqual([run.body.status, offerOf(run)]);
  },
  toString: () => `inspect ${drawn}`,
});

const advance = (drawn: number): Command => ({
  check: always,
  run: async (model, held) => {
    const { at, run } = stepOf(held, drawn);
    const token = run.body.continuationToken;
    const { etag } = await runs.inspect(token).sendForRun();
    const request = runs.advance(token, etag);
    const next = await request.sendForRun();
    held.advances.push({ request, at, answer: next });
    const isLast = at === model.steps - 1;
    if (at === model.steps || (isLast && !model.isLastAnswered)) {
      // The end, or nothing to consume.
      expect([next.body.status, offerOf(next)]).toEqual([run.body.status, offerOf(run)]);
    } else if (!isLast || model.hasEnded) {
      // A step back leads to where it led before.
      const after = held.steps[at + 1]!;
      expect([next.body.status, offerOf(next)]).toEqual([after.body.status, offerOf(after)]);
    } else {
      held.steps.push(next);
      model.hasEnded = model.steps === ITEMS;
      if (!model.hasEnded) Object.assign(model, { steps: model.steps + 1, isLastAnswered: false });
      expect(next.body.status).toBe(model.hasEnded ? 'completed' : 'in_progress');
      expect(new Set(held.steps.map((step) => offerOf(step))).size).toBe(held.steps.length);
    }
  },
  toString: () => `advance ${drawn}`,
});

const advanceStale = (drawn: number): Command => ({
  check: always,
  run: async (_, held) => {
    const { run } = stepOf(held, drawn);
    const refused = await runs.advance(run.body.continuationToken, '"stale"').send();
    expect(sentenceOf(refused)).toBe('412 stream-conflict retryable');
  },
  toString: () => `advance ${drawn} with a stale tag`,
});

const repeat = (drawn: number): Command => ({
  check: always,
  run: async ({ steps, isLastAnswered }, held) => {
    const one = held.advances[drawn % Math.max(1, held.advances.length)];
    if (one === undefined) return;
    const hasConsumed = offerOf(one.answer) !== offerOf(held.steps[one.at]!);
    const isAnsweredSince = one.at < steps - 1 || (one.at === steps - 1 && isLastAnswered);
    if (!hasConsumed && isAnsweredSince) {
      // It found nothing to consume, and its tag has passed: the client inspects and advances under a fresh key [MA-193].
      expect(sentenceOf(await one.request.send())).toBe('412 stream-conflict retryable');
      return;
    }
    const again = await one.request.sendForRun();
    expect([again.body.status, offerOf(again)]).toEqual([one.answer.body.status, offerOf(one.answer)]);
  },
  toString: () => `repeat advance ${drawn}`,
});

const drawn = fc.nat(20);
const commands = fc.commands(
  [
    ...[fc.constant(answer(1)), fc.constant(answer(0)), fc.constant(answer(1))],
    // The newest step is the one that most clients go on with.
    ...[fc.constant(advance(NEWEST)), drawn.map(advance), fc.constant(advance(NEWEST))],
    ...[drawn.map(inspect), drawn.map(advanceStale), drawn.map(repeat)],
  ],
  { maxCommands: 25 },
);

it('a run is a chain: each step consumes one answer and offers one item, whatever is repeated or sent late', async () => {
  await fc.assert(
    fc.asyncProperty(commands, async (drawnCommands) => {
      const before = (await runs.state()).counts;
      const held: Held = { steps: [await runs.start().sendForRun()], advances: [] };
      const model: Model = { steps: 1, isLastAnswered: false, hasEnded: false };
      await fc.asyncModelRun(() => ({ model, real: held }), drawnCommands);
      // Nothing was offered or published beside the chain.
      const after = (await runs.state()).counts;
      const grown = (entity: string): number => (after[entity] ?? 0) - (before[entity] ?? 0);
      expect(grown('qti.session')).toBe(model.steps);
      expect(grown('results.record')).toBe(model.hasEnded ? 1 : 0);
    }),
    { numRuns: 20, seed: 1 },
  );
}, 300_000);
