import { describe, expect, it } from 'vitest';
import { analyzeRun, sweepRuns } from '#shared/contract/background.ts';
import { createQueue } from '#local/aws/queue.ts';
import type { Outcome } from '#local/gateway/environment.ts';
import { startImprovement } from './improvement.ts';

const answered = (value: unknown): Outcome => ({ kind: 'answered', value });
const idle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface Invocation {
  readonly name: string;
  readonly event: unknown;
  readonly answer: (outcome: Outcome) => void;
}

/** The consumer with functions that answer when, and as, a test says. */
function open() {
  const deadLetters = createQueue({ queueName: 'dead' }, undefined, Date.now);
  const redrive = { deadLetterQueueName: 'dead', maxReceiveCount: 5 };
  const runs = { queueName: 'runs', visibilityTimeoutSeconds: 1800, redrive };
  const queue = createQueue(runs, deadLetters, Date.now);
  const running: Invocation[] = [];
  const killed: (string | undefined)[] = [];
  const improvement = startImprovement({
    queue,
    deployed: [analyzeRun, sweepRuns],
    pool: {
      invoke: (name, event) => new Promise((resolve) => running.push({ name, event, answer: resolve })),
      kill: (name) => {
        killed.push(name);
        const chosen = running.filter((invocation) => invocation.name === name);
        for (const { answer } of chosen) answer({ kind: 'crashed', message: 'killed' });
        return Promise.resolve(chosen.length);
      },
    },
  });
  /** The next invocation, once it has begun. */
  async function next(): Promise<Invocation> {
    for (;;) {
      const invocation = running.shift();
      if (invocation !== undefined) return invocation;
      await idle();
    }
  }
  return { queue, improvement, next, running, killed };
}

const bodyOf = ({ event }: Invocation): unknown =>
  (event as { readonly Records: readonly { readonly body: unknown }[] }).Records[0]?.body;

describe('the consumer of the queue', () => {
  it.each([
    ['names it as a failure', answered({ batchItemFailures: [{ itemIdentifier: 'x' }] })],
    ['throws', { kind: 'threw', message: 'x' }],
    ['runs out of time', { kind: 'timed-out', message: 'x' }],
    ['dies', { kind: 'crashed', message: 'x' }],
  ] as const)(
    'gives a message back at once when the worker %s, and up after five times',
    async (_, outcome) => {
      const { improvement, next } = open();
      improvement.send('in vain');
      for (let time = 1; time <= 5; time += 1) {
        const invocation = await next();
        expect(invocation.event).toMatchObject({
          Records: [{ attributes: { ApproximateReceiveCount: String(time) } }],
        });
        invocation.answer(outcome);
      }
      await improvement.settled();
      expect(improvement.deadLetters()).toEqual(['in vain']);
      await improvement.stop();
    },
  );

  it('takes nothing while it is paused, ends what it has begun, and goes on afterwards', async () => {
    const { improvement, next, running } = open();
    improvement.send('before');
    const before = await next();
    improvement.pause();
    improvement.pause();
    improvement.send('meanwhile');
    let settled = false;
    const settling = improvement.settled().then(() => (settled = true));
    await idle();
    expect({ running, settled }).toEqual({ running: [], settled: false });
    before.answer(answered(undefined));
    await settling;
    await idle();
    expect(running).toEqual([]);
    improvement.resume();
    // At once again, before any taker has seen the pause.
    improvement.pause();
    improvement.resume();
    const meanwhile = await next();
    expect(bodyOf(meanwhile)).toBe('meanwhile');
    meanwhile.answer(answered(undefined));
    await improvement.settled();
    for (const body of ['x', 'y']) improvement.send(body);
    for (const invocation of [await next(), await next()]) invocation.answer(answered(undefined));
    await improvement.settled();
    await improvement.stop();
  });

  it('ends with its workers, and gives back what they had', async () => {
    const { improvement, queue, next, running, killed } = open();
    improvement.send('unfinished');
    running.push(await next());
    await improvement.stop();
    expect(killed).toEqual(['analyzeImprovementRun', 'sweepImprovementRuns']);
    expect(await queue.receive()).toMatchObject({ body: 'unfinished', receiveCount: 2 });
  });
});

describe('the sweeper', () => {
  it('runs when it is told to, and says when it failed', async () => {
    const { improvement, next } = open();
    const swept = improvement.sweep();
    const first = await next();
    expect(first).toMatchObject({ name: 'sweepImprovementRuns', event: {} });
    first.answer(answered(undefined));
    await swept;
    const failed = improvement.sweep();
    (await next()).answer({ kind: 'threw', message: 'x' });
    await expect(failed).rejects.toThrow('sweepImprovementRuns failed: threw');
    await improvement.stop();
  });
});
