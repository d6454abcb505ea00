import { afterEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { operations } from '#shared/platform/all-operations.ts';
import { MAX_RETRIES } from '#shared/platform/http-platform.ts';
import { linesOf, sentenceOf, TIMED_BANK, useAdaptiveRuns } from '#test/support/adaptive-run.ts';
import type { RunGiven, RunReply, RunRequest } from '#test/support/adaptive-run.ts';
import { callsSoFar } from '#test/support/platform-calls.ts';
import { useTestStack } from '#test/support/stack.ts';

const stack = useTestStack({ bundled: true });
const runs = useAdaptiveRuns(stack);
afterEach(async () => {
  await stack.control('DELETE', 'faults');
});

/** Longer than any test: the function is still waiting when it dies. */
const FOREVER_MS = 120_000;
const { offerSelectedItem, writeResultRecord, writeKcComponents, emitEvent, readEvidenceAck } = operations;
/** The steps of a finalization, in their order. */
const steps = [writeResultRecord, writeKcComponents, emitEvent, readEvidenceAck] as const;
type Operation = (typeof steps)[number] | typeof offerSelectedItem;

/** Ends the function while a call is on its way to its owner, who has not done anything yet. */
async function crashBefore(request: RunRequest, { id: operation, method }: Operation): Promise<RunReply> {
  await stack.fault({ operation, method, kind: 'latency', milliseconds: FOREVER_MS });
  return crashWhenStruck(request);
}

/** Ends the function after the owner has done the work: the acknowledgement is lost, and the second try is under way. */
async function crashAfter(request: RunRequest, operation: Operation): Promise<RunReply> {
  await stack.fault({ operation: operation.id, method: 'POST', kind: 'lost_acknowledgement' });
  return crashBefore(request, operation);
}

async function crashWhenStruck(request: RunRequest): Promise<RunReply> {
  const answering = request.send();
  await stack.faultsStruck();
  expect(await stack.killWorkers(request.operationId)).toBe(1);
  const reply = await answering;
  expect(await request.record()).toMatchObject({ state: 'started' });
  return reply;
}

const died = '500 internal-error retryable';
const moments = [
  ['before QTI has made the session', crashBefore],
  ['after QTI has made the session', crashAfter],
] as const;

/** How many new things the owners hold since a moment. */
async function openCounts() {
  const before = (await runs.state()).counts;
  return async () => {
    const { counts } = await runs.state();
    const [sessions, records, components, events] = [
      'qti.session',
      'results.record',
      'results.component',
      'caliper.event',
    ].map((name) => counts[name]! - before[name]!);
    return { sessions, records, components, events };
  };
}
const nothing = { sessions: 0, records: 0, components: 0, events: 0 };

describe('a function that dies while it offers an item', () => {
  it.each(moments)(
    'start, %s: the repetition has one session and ends well [MA-145, MA-190]',
    async (_, crash) => {
      const made = await openCounts();
      const start = runs.start(runs.startBody({ bank: TIMED_BANK }));
      expect(sentenceOf(await crash(start, offerSelectedItem))).toBe(died);
      await start.endLease();
      const started = await start.sendForRun();
      expect(started.body).toMatchObject({ status: 'in_progress', offeredItem: { sequence: 1 } });
      expect(await start.record()).toMatchObject({ state: 'completed', terminalStatus: 201 });
      expect(await made()).toEqual({ ...nothing, sessions: 1 });
      await stack.control('POST', 'clock', { advanceSeconds: 60 });
      expect((await runs.answer(started)).body.status).toBe('completed');
    },
  );

  it.each([
    ...moments.map(([when, crash]) => [`${when}: the repetition`, crash, false] as const),
    ['after QTI has made the session: a request with a fresh key', crashAfter, true] as const,
  ])('advance, %s consumes once and has one next session [MA-190]', async (_, crash, isFresh) => {
    const started = await runs.start(runs.startBody({ bank: 'fraction-subtraction' })).sendForRun();
    const { etag } = await runs.playAndInspect(started.body);
    const made = await openCounts();
    const requestOf = () => runs.advance(started.body.continuationToken, etag);
    const advance = requestOf();
    await crash(advance, offerSelectedItem);
    if (!isFresh) await advance.endLease();
    const { body } = await (isFresh ? requestOf() : advance).sendForRun();
    expect(body.offeredItem).toMatchObject({ sequence: 2 });
    expect(await made()).toEqual({ ...nothing, sessions: 1 });
  });

  it('has one session when the first write arrives after its repetition [MA-190]', async () => {
    const made = await openCounts();
    await stack.control('DELETE', 'calls');
    const start = runs.start();
    const late = { operation: offerSelectedItem.id, fault: 'latency' };
    await stack.fault({ operation: late.operation, kind: late.fault, milliseconds: 2_000 });
    await crashWhenStruck(start);
    await start.endLease();
    const { body } = await start.sendForRun();
    await expect
      .poll(() => callsSoFar(stack), { timeout: 20_000 })
      .toContainEqual(expect.objectContaining(late));
    expect(await made()).toEqual({ ...nothing, sessions: 1 });
    expect((await start.sendForRun()).body.offeredItem).toStrictEqual(body.offeredItem);
  });
});

describe('a function that dies while it finalizes', () => {
  it.each([
    ...steps.map((step, at) => [`before ${step.id}`, step, at, crashBefore] as const),
    ...steps.slice(0, 3).map((step, at) => [`after ${step.id}`, step, at + 1, crashAfter] as const),
  ])(
    '%s: one record, one event, completed [MA-002, MA-034, MA-138, MA-190, MA-202]',
    async (_, operation, done, crash) => {
      const { advance } = await runs.playedOut();
      const made = await openCounts();
      expect(sentenceOf(await crash(advance, operation))).toBe(died);
      // Everything before the step was done when the function died, and nothing else.
      const { records, components, events } = await made();
      expect([records, components! > 0, events]).toEqual([Number(done >= 1), done >= 2, Number(done >= 3)]);
      await advance.endLease();
      // The repetition, and once more without any new thing upstream.
      for (let sent = 0; sent < 2; sent += 1) await expectOnce(made, await advance.sendForRun());
    },
  );

  it('has one record and one event after every acknowledgement was lost in turn [MA-190, MA-202]', async () => {
    const { advance } = await runs.playedOut();
    const made = await openCounts();
    for (const { id: operation, method } of steps) {
      const kind = method === 'POST' ? 'lost_acknowledgement' : 'cut';
      await stack.fault({ operation, method, kind, times: MAX_RETRIES + 1 });
      expect(sentenceOf(await advance.send())).toBe('200 finalizing reportable');
      await stack.faultsStruck();
    }
    await expectOnce(made, await advance.sendForRun());
  });

  it('counts in the log what Results has refused, and nothing that may succeed later [MA-169, MA-219]', async () => {
    const { advance } = await runs.playedOut();
    for (const [status, counted] of [
      [422, 1],
      [503, 0],
      [401, 0],
    ]) {
      const before = linesOf(stack, 'FINALIZATION_REFUSED');
      await stack.fault({ operation: writeResultRecord.id, kind: 'status', status, times: MAX_RETRIES + 1 });
      await advance.send();
      await stack.control('DELETE', 'faults');
      expect(linesOf(stack, 'FINALIZATION_REFUSED') - before).toBe(counted);
    }
  });

  async function expectOnce(made: () => Promise<object>, { body }: RunGiven): Promise<void> {
    expect(body.status).toBe('completed');
    const components = body.kcClassifications.length;
    expect(await made()).toEqual({ sessions: 0, records: 1, components, events: 1 });
    const { entities } = await runs.state();
    expect(entities['results.record']).toHaveProperty([body.resultRecordRef!]);
    expect(entities['caliper.event']).toHaveProperty([body.caliperEventRef!]);
  }
});

describe('the lease of a function that died', () => {
  it('makes a repetition wait, and lets it take over once it has ended; a request with another key does not wait [MA-145, MA-189, MA-190]', async () => {
    const start = runs.start();
    await crashAfter(start, offerSelectedItem);
    const before = stack.logs().length;
    const logLine = z.looseObject({ code: z.string() });
    const lines = () =>
      stack
        .logs()
        .slice(before)
        .map(({ line }) => logLine.parse(line));
    const repeated = start.send();
    await expect
      .poll(() => lines().map(({ code }) => code), { timeout: 10_000 })
      .toContain('REQUEST_STARTED');
    expect(lines().map(({ code }) => code)).not.toContain('OPERATION_BEGUN');
    expect(sentenceOf(await runs.start().send())).toBe('201 in_progress pending');
    await start.endLease();
    expect(sentenceOf(await repeated)).toBe('201 in_progress pending');
    expect(lines()).toContainEqual(expect.objectContaining({ code: 'OPERATION_BEGUN', origin: 'resumed' }));
  });
});
