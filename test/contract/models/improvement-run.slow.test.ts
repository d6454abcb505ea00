import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { orderBankRevision } from '#shared/platform/owners/revision-orders.ts';
import type { RunKey } from '#shared/improvement/records.ts';
import { openImprovementRuns } from '#test/support/improvement-runs.ts';
import { lazily } from '#test/support/lazily.ts';
import { useTestStack } from '#test/support/stack.ts';

// Any order of requests, work, sweeps and outages of a receiver, against a model of improvement runs.

/** Runs as a client and an operator see them. */
interface Model {
  readonly runs: { state: 'queued' | 'blocked_upstream' | 'completed' }[];
  isReceiverDown: boolean;
}
/** The runs in the order of the model, with the keys of their requests. */
type Begun = { readonly key: string; readonly run: RunKey }[];

const stack = useTestStack({ inProcess: () => ({}) });
const runs = lazily(() => openImprovementRuns(stack));
const administrationId = (): string => runs.administration('spring-gate');

type Command = fc.AsyncCommand<Model, Begun>;
const always = (): boolean => true;
const unblock = ({ runs: all }: Model): void => {
  for (const run of all) if (run.state === 'blocked_upstream') run.state = 'queued';
};

const begin: Command = {
  check: ({ runs: all }) => all.length < 3,
  run: async (model, begun) => {
    const key = randomUUID();
    begun.push({ key, run: await runs.analyze(administrationId(), key) });
    // A new analysis sends on what waits in its administration.
    unblock(model);
    model.runs.push({ state: 'queued' });
  },
  toString: () => 'begin',
};

const repeat = (drawn: number): Command => ({
  check: ({ runs: all }) => all.length > 0,
  run: async (_, begun) => {
    const { key, run } = begun[drawn % begun.length]!;
    const again = await runs.request(administrationId(), key).succeed();
    expect([again.replayed, again.run.improvementRunId]).toEqual([true, run.improvementRunId]);
  },
  toString: () => `repeat ${drawn}`,
});

/** The worker takes what the queue holds, until nothing is left. */
const work: Command = {
  check: always,
  run: async (model) => {
    stack.improvement.resume();
    await stack.improvement.settled();
    stack.improvement.pause();
    for (const run of model.runs)
      if (run.state === 'queued') run.state = model.isReceiverDown ? 'blocked_upstream' : 'completed';
  },
  toString: () => 'work',
};

const duplicate = (drawn: number): Command => ({
  check: ({ runs: all }) => all.length > 0,
  run: async (model, begun) => {
    const at = drawn % begun.length;
    runs.sendMessage(begun[at]!.run);
    if (model.runs[at]!.state === 'blocked_upstream') model.runs[at]!.state = 'queued';
    await Promise.resolve();
  },
  toString: () => `a message once more ${drawn}`,
});

const breakReceiver: Command = {
  check: ({ isReceiverDown }) => !isReceiverDown,
  run: async (model) => {
    await stack.fault({ operation: orderBankRevision.id, method: 'POST', kind: 'down', times: 1_000 });
    model.isReceiverDown = true;
  },
  toString: () => 'the receiver goes down',
};
const mendReceiver: Command = {
  check: ({ isReceiverDown }) => isReceiverDown,
  run: async (model) => {
    await stack.control('DELETE', 'faults');
    model.isReceiverDown = false;
  },
  toString: () => 'the receiver is back',
};

/** Runs that have stood still are sent on. */
const sweep: Command = {
  check: always,
  run: async (model, begun) => {
    for (const [at, { run }] of begun.entries())
      if (model.runs[at]!.state !== 'completed') await runs.leaveAlone(run);
    await stack.improvement.sweep();
    unblock(model);
  },
  toString: () => 'sweep',
};

const read: Command = {
  check: always,
  run: async (model, begun) => {
    const states = await Promise.all(begun.map(async ({ run }) => (await runs.progress(run)).run.state));
    // Before its end a run may be shown as any of its phases.
    const seen = states.map((state) => (state.startsWith('completed') ? 'completed' : state));
    for (const [at, { state }] of model.runs.entries()) {
      if (state === 'queued') expect(seen[at]).not.toBe('completed');
      else expect(seen[at]).toBe(state);
    }
  },
  toString: () => 'read',
};

const drawn = fc.nat(10);
const commands = fc.commands(
  [
    ...[fc.constant(begin), drawn.map(repeat), fc.constant(work), fc.constant(work)],
    ...[drawn.map(duplicate), fc.constant(breakReceiver), fc.constant(mendReceiver)],
    ...[fc.constant(sweep), fc.constant(read)],
  ],
  { maxCommands: 18 },
);

it('a run ends once, whole, and only when its receivers have acknowledged everything', async () => {
  const all: RunKey[] = [];
  await fc.assert(
    fc.asyncProperty(commands, async (drawnCommands) => {
      // An attempt that failed may have left it otherwise.
      await stack.control('DELETE', 'faults');
      stack.improvement.pause();
      const model: Model = { runs: [], isReceiverDown: false };
      const begun: Begun = [];
      await fc.asyncModelRun(() => ({ model, real: begun }), drawnCommands);
      await fc.asyncModelRun(
        () => ({ model, real: begun }),
        [...(model.isReceiverDown ? [mendReceiver] : []), sweep, work, read],
      );
      all.push(...begun.map(({ run }) => run));
      stack.improvement.resume();
      await runs.endedWell(administrationId(), ...all);
    }),
    { numRuns: 12, seed: 1 },
  );
}, 600_000);
