import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { TIMED_BANK, openAdaptiveRuns, sentenceOf } from '#test/support/adaptive-run.ts';
import type { AdaptiveRuns, RunGiven, RunReply, RunRequest } from '#test/support/adaptive-run.ts';
import { asBuilt, startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';

let stack: TestStack;
let runs: AdaptiveRuns;
beforeAll(async () => {
  stack = await startTestStack({ bundled: asBuilt });
  runs = openAdaptiveRuns(stack);
});
afterEach(async () => {
  await stack.control('DELETE', 'faults');
});
afterAll(async () => {
  runs.close();
  await stack.close();
});

/** Longer than any test: whoever meets it is still waiting when its function dies. */
const FOREVER_MS = 120_000;
const WRITES = [
  'results.write_result_record',
  'results.write_kc_components',
  'caliper.emit_completion_or_simulation',
] as const;

/** Ends the function while the call is on its way to its owner, who has not done anything yet. */
async function crashBefore(request: RunRequest, operation: string): Promise<RunReply> {
  await stack.fault({ operation, method: methodOf(operation), kind: 'latency', milliseconds: FOREVER_MS });
  return crashWhenStruck(request);
}

/** Ends the function after the owner has done the work: the acknowledgement is lost, and the second try is under way. */
async function crashAfter(request: RunRequest, operation: string): Promise<RunReply> {
  await stack.fault({ operation, method: 'POST', kind: 'lost_acknowledgement' });
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

function methodOf(operation: string): 'GET' | 'POST' {
  return operation === 'caliper.read_evidence_ack' ? 'GET' : 'POST';
}

async function countsOf(): Promise<Readonly<Record<string, number>>> {
  const { counts } = await runs.state();
  return {
    sessions: counts['qti.session']!,
    records: counts['results.record']!,
    components: counts['results.component']!,
    events: counts['caliper.event']!,
  };
}

/** Plays the first item of a run over the timed bank so late that the run ends with it. */
async function playLate(started: RunGiven): Promise<RunGiven> {
  await stack.control('POST', 'clock', { advanceSeconds: 60 });
  return runs.playAndInspect(started.body);
}

async function playedOut(mode: 'production_learner' | 'owner_conformance'): Promise<RunRequest> {
  const started = await runs.start(runs.startBody({ bank: TIMED_BANK, mode })).sendForRun();
  const { etag } = await playLate(started);
  return runs.advance(started.body.continuationToken, etag);
}

describe('a function that dies while it offers an item', () => {
  it.each([
    ['before QTI has made the session', crashBefore],
    ['after QTI has made the session', crashAfter],
  ])('start, %s: the repetition has one session and ends well [MA-145, MA-190]', async (_, crash) => {
    const before = await countsOf();
    const start = runs.start(runs.startBody({ bank: TIMED_BANK }));
    expect(sentenceOf(await crash(start, 'qti.offer_selected_item'))).toBe('500 internal-error retryable');

    await start.endLease();
    const started = await start.sendForRun();
    expect(started.body).toMatchObject({ status: 'in_progress', offeredItem: { sequence: 1 } });
    expect(await start.record()).toMatchObject({ state: 'completed', terminalStatus: 201 });
    expect(await countsOf()).toEqual({ ...before, sessions: before['sessions']! + 1 });

    const { etag } = await playLate(started);
    const { body } = await runs.advance(started.body.continuationToken, etag).sendForRun();
    expect(body.status).toBe('completed');
  });

  it.each([
    ['before QTI has made the session', crashBefore],
    ['after QTI has made the session', crashAfter],
  ])('advance, %s: the repetition consumes once and has one next session [MA-190]', async (_, crash) => {
    const started = await runs.start(runs.startBody({ bank: 'fraction-subtraction' })).sendForRun();
    const { etag } = await runs.playAndInspect(started.body);
    const before = await countsOf();
    const advance = runs.advance(started.body.continuationToken, etag);
    await crash(advance, 'qti.offer_selected_item');

    await advance.endLease();
    const { body } = await advance.sendForRun();
    expect(body.offeredItem).toMatchObject({ sequence: 2 });
    expect(await countsOf()).toEqual({ ...before, sessions: before['sessions']! + 1 });
  });

  it('finds the session of an unfinished advance again with a fresh key too [MA-190]', async () => {
    const started = await runs.start(runs.startBody({ bank: 'fraction-subtraction' })).sendForRun();
    const { etag } = await runs.playAndInspect(started.body);
    const before = await countsOf();
    await crashAfter(runs.advance(started.body.continuationToken, etag), 'qti.offer_selected_item');
    const { body } = await runs.advance(started.body.continuationToken, etag).sendForRun();
    expect(body.offeredItem).toMatchObject({ sequence: 2 });
    expect(await countsOf()).toEqual({ ...before, sessions: before['sessions']! + 1 });
  });

  it('has one session when the first write arrives after its repetition [MA-190]', async () => {
    const before = await countsOf();
    const start = runs.start();
    const delay = { kind: 'latency', milliseconds: 2_000 };
    await stack.fault({ operation: 'qti.offer_selected_item', ...delay });
    await crashWhenStruck(start);
    await start.endLease();
    const { body } = await start.sendForRun();
    const calls: unknown[] = [];
    const late = { operation: 'qti.offer_selected_item', fault: 'latency' };
    await expect
      .poll(
        async () => {
          calls.push(...(await runs.takeCalls()));
          return calls;
        },
        { timeout: 20_000 },
      )
      .toContainEqual(expect.objectContaining(late));
    expect(await countsOf()).toEqual({ ...before, sessions: before['sessions']! + 1 });
    expect((await start.sendForRun()).body.offeredItem).toStrictEqual(body.offeredItem);
  });
});

describe('a function that dies while it finalizes', () => {
  it.each([
    ...WRITES.map((operation) => [`before ${operation}`, operation, crashBefore] as const),
    ...WRITES.map((operation) => [`after ${operation}`, operation, crashAfter] as const),
    ['at the read-back', 'caliper.read_evidence_ack', crashBefore] as const,
  ])(
    '%s: one record, one event, completed [MA-002, MA-034, MA-138, MA-190, MA-202]',
    async (_, operation, crash) => {
      const advance = await playedOut('production_learner');
      const before = await countsOf();
      expect(sentenceOf(await crash(advance, operation))).toBe('500 internal-error retryable');
      const half = await countsOf();
      const done = crash === crashAfter ? 1 : 0;
      const steps = WRITES.indexOf(operation as (typeof WRITES)[number]) + done;
      // What was done when the function died is exactly what stood before the step.
      if (operation !== 'caliper.read_evidence_ack') {
        expect(half['records']! - before['records']!).toBe(steps >= 1 ? 1 : 0);
        expect(half['components']! > before['components']!).toBe(steps >= 2);
        expect(half['events']! - before['events']!).toBe(steps >= 3 ? 1 : 0);
      }

      await advance.endLease();
      const { body } = await advance.sendForRun();
      await expectOnce(before, body);
      // … and once more, without any new thing upstream.
      await expectOnce(before, (await advance.sendForRun()).body);
    },
  );

  it('a conformance run has its event and still nothing in Results [MA-013, MA-139, MA-190]', async () => {
    const advance = await playedOut('owner_conformance');
    const before = await countsOf();
    await crashAfter(advance, 'caliper.emit_completion_or_simulation');
    await advance.endLease();
    expect((await advance.sendForRun()).body.status).toBe('completed');
    expect(await countsOf()).toEqual({ ...before, events: before['events']! + 1 });
  });

  async function expectOnce(before: Readonly<Record<string, number>>, body: RunGiven['body']): Promise<void> {
    expect(body.status).toBe('completed');
    expect(await countsOf()).toEqual({
      sessions: before['sessions'],
      records: before['records']! + 1,
      components: before['components']! + body.kcClassifications.length,
      events: before['events']! + 1,
    });
    const { entities } = await runs.state();
    expect(entities['results.record']).toHaveProperty([body.resultRecordRef!]);
    expect(entities['caliper.event']).toHaveProperty([body.caliperEventRef!]);
  }
});

describe('the lease of a function that died', () => {
  it('makes a repetition wait, and lets it take over once it has ended [MA-145, MA-190]', async () => {
    const start = runs.start();
    await crashAfter(start, 'qti.offer_selected_item');
    const before = stack.logs().length;
    const repeated = start.send();
    await expect.poll(() => linesSince(before).map(({ code }) => code)).toContain('REQUEST_STARTED');
    expect(linesSince(before).map(({ code }) => code)).not.toContain('OPERATION_BEGUN');
    await start.endLease();
    expect(sentenceOf(await repeated)).toBe('201 in_progress pending');
    expect(linesSince(before)).toContainEqual(
      expect.objectContaining({ code: 'OPERATION_BEGUN', origin: 'resumed' }),
    );
  });

  it('does not hold up a request with a key of its own [MA-189]', async () => {
    await crashAfter(runs.start(), 'qti.offer_selected_item');
    expect(sentenceOf(await runs.start().send())).toBe('201 in_progress pending');
  });
});

const logLine = z.looseObject({ code: z.string() });

function linesSince(index: number): readonly z.infer<typeof logLine>[] {
  return stack
    .logs()
    .slice(index)
    .map(({ line }) => logLine.parse(line));
}
