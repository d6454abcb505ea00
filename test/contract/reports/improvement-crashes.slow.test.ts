import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { analyzeAdministration } from '#shared/contract/reports/routes/analyze-administration.ts';
import { listRevisionOrders } from '#shared/contract/reports/routes/list-revision-orders.ts';
import { readAlignmentReport } from '#shared/contract/reports/routes/read-alignment-report.ts';
import { readImprovementRun } from '#shared/contract/reports/routes/read-improvement-run.ts';
import type { RunKey } from '#shared/improvement/records.ts';
import { ALWAYS } from '#test/lemmas/faults.ts';
import { openImprovementRuns } from '#test/support/improvement-runs.ts';
import type { Analysis } from '#test/support/improvement-runs.ts';
import { lazily } from '#test/support/lazily.ts';
import { callsDuring } from '#test/support/platform-calls.ts';
import { reportsAnswerOf, reportsProblemOf } from '#test/support/reports-call.ts';
import { useTestStack } from '#test/support/stack.ts';

// An analysis and its worker that are interrupted at any of their steps, over the bundled functions: the same request brings it to its one
// run, the same message the run to its one end.

const TENANT = 'tenant-aurora';

const stack = useTestStack({ bundled: true });
const runs = lazily(() => openImprovementRuns(stack, TENANT));
beforeEach(async () => {
  await stack.control('POST', 'reset');
  stack.improvement.pause();
});
afterEach(async () => {
  stack.awsFaults.reset();
  await stack.control('DELETE', 'faults');
  await workOn();
});

const administrationId = (): string => runs.administration('spring-gate');
const request = (): Analysis => runs.request(administrationId());
const killed = (): Promise<number> => stack.killWorkers(analyzeAdministration.operationId);
const stateOf = async (run: RunKey): Promise<string> => (await runs.progress(run)).run.state;

async function workOn(): Promise<void> {
  stack.improvement.resume();
  await stack.improvement.settled();
}

/** A run whose message is in the queue, which is paused. */
const waitingRun = (): Promise<RunKey> => runs.analyze(administrationId());

/** How many runs the table holds of the administration. */
async function runsHeld(): Promise<number> {
  const items = await runs.records.items();
  return items.filter((item) => item['sk']?.S === '0-run').length;
}

/** Ends what was begun: one run, which is worked to its end. */
async function endsWell(analysis: Analysis, heldBefore: number): Promise<void> {
  const { run } = await analysis.succeed();
  expect(run.status).toBe('queued');
  expect(await analysis.record()).toMatchObject({ state: 'completed', terminalStatus: 200 });
  expect(await runsHeld()).toBe(heldBefore + 1);
  await workOn();
  expect((await analysis.succeed()).run).toMatchObject({
    improvementRunId: run.improvementRunId,
    status: 'completed',
  });
}

describe('a function that dies', () => {
  it('before one of the calls of an analysis to AWS after another: one run for each request, and none is lost [RP-292, RP-293]', async () => {
    const analyses: Analysis[] = [];
    let leftARun = 0;
    // What a container reads once it has read from here on.
    await request().succeed();
    const before = await runsHeld();
    for (let calls = 0; ; calls += 1) {
      const analysis = request();
      analyses.push(analysis);
      const held = stack.awsFaults.hold(calls).then(() => 'held');
      const answering = analysis.send();
      if ((await Promise.race([held, answering])) !== 'held') break;
      expect(await killed()).toBe(1);
      expect(reportsAnswerOf(await answering)).toBe('500 internal-error');
      if ((await runsHeld()) === before + analyses.length) leftARun += 1;
      const record = await analysis.record();
      if (record !== undefined && record.leaseUntil > 0 && record.state === 'started')
        await analysis.endLease();
      await analysis.succeed();
      expect(await runsHeld()).toBe(before + analyses.length);
    }
    stack.awsFaults.reset();
    expect(analyses.length).toBeGreaterThan(8);
    // At least: not yet sent, not yet woken, not yet settled.
    expect(leftARun).toBeGreaterThanOrEqual(3);
    await workOn();
    for (const analysis of analyses) expect((await analysis.succeed()).run.status).toBe('completed');
    const { improvementRunId } = (await analyses[0]!.succeed()).run;
    await runs.endedWell(administrationId(), { tenantId: TENANT, improvementRunId });
  }, 300_000);

  it('before one of the calls of a worker to AWS after another, life after life, ends the run whole [RP-150, RP-190, RP-217]', async () => {
    const mortal = await waitingRun();
    let lives = 0;
    for (let calls = 0; ; calls += 3) {
      runs.sendMessage(mortal);
      const held = stack.awsFaults.hold(calls).then(() => 'held');
      stack.improvement.resume();
      const outcome = await Promise.race([held, stack.improvement.settled().then(() => 'settled')]);
      if (outcome === 'settled') break;
      lives += 1;
      stack.improvement.pause();
      expect(await runs.killWorkers()).toBeGreaterThan(0);
      await stack.improvement.settled();
    }
    // What was left to hold would meet the calls of this test.
    stack.awsFaults.reset();
    expect(lives).toBeGreaterThan(10);
    await runs.endedWell(administrationId(), mortal);
  }, 300_000);
});

it('two runs at once find the same: one order at each receiver, which the second run is told [RP-190, RP-219]', async () => {
  const both = [await waitingRun(), await waitingRun()];
  for (const run of both) runs.sendMessage(run);
  await workOn();
  await runs.endedWell(administrationId(), ...both);
  const [first, second] = await Promise.all(both.map(runs.progress));
  expect(second!.orders.map(({ revisionOrderId }) => revisionOrderId)).toEqual(
    first!.orders.map(({ revisionOrderId }) => revisionOrderId),
  );
  for (const [at, { status }] of first!.orders.entries())
    expect([status, second!.orders[at]!.status].toSorted()).toEqual(['accepted', 'replayed']);
});

describe('AWS', () => {
  const UNAVAILABLE = '503 dependency-unavailable unknown';

  it.each<[string, () => void]>([
    ['takes no message', () => stack.awsFaults.unavailable('sqs', ALWAYS)],
    ['throttles messages', () => stack.awsFaults.throttle('SendMessage', ALWAYS)],
    ['throttles writes', () => stack.awsFaults.throttle('PutItem', ALWAYS)],
    ['throttles reads', () => stack.awsFaults.throttle('GetItem', ALWAYS)],
    ['throttles queries', () => stack.awsFaults.throttle('Query', ALWAYS)],
    ['throttles transactions', () => stack.awsFaults.throttle('TransactWriteItems', ALWAYS)],
    ['has no tables', () => stack.awsFaults.unavailable('dynamodb', ALWAYS)],
    ['opens no key', () => stack.awsFaults.unavailable('kms', ALWAYS)],
    ['shows no service profile', () => stack.awsFaults.unavailable('ssm', ALWAYS)],
  ])(
    '%s: a retryable problem without a reason, and the same request ends in its one run [RP-293]',
    async (_, fail) => {
      const before = await runsHeld();
      const analysis = request();
      await killed();
      fail();
      const reply = await analysis.send();
      stack.awsFaults.reset();
      expect(reportsAnswerOf(reply)).toBe(UNAVAILABLE);
      expect(reportsProblemOf(reply).retryable).toBe(true);
      expect(reply.headers.has('retry-after')).toBe(true);
      expect(reply.text).not.toMatch(/dynamo|sqs|throttl|demand|arn:|queue/i);
      await endsWell(analysis, before);
    },
  );

  it.each(['GetItem', 'PutItem', 'Query', 'TransactWriteItems', 'SendMessage'])(
    'throttles %s for a moment: the analysis begins',
    async (operation) => {
      stack.awsFaults.throttle(operation, 2);
      expect((await request().succeed()).replayed).toBe(false);
    },
  );

  it.each([
    ['throttles queries', () => stack.awsFaults.throttle('Query', 4)],
    ['throttles transactions', () => stack.awsFaults.throttle('TransactWriteItems', 4)],
    ['throttles updates', () => stack.awsFaults.throttle('UpdateItem', 7)],
    ['throttles writes', () => stack.awsFaults.throttle('PutItem', 4)],
    ['has no table for a while', () => stack.awsFaults.unavailable('dynamodb', 8)],
    ['has no bucket for a while', () => stack.awsFaults.unavailable('s3', 8)],
    ['throttles the bucket', () => stack.awsFaults.throttle('PutObject', 4)],
    ['is writing the same bundle', () => stack.awsFaults.conflict(7)],
  ])('%s: the message comes again, and everything is there once [RP-150, RP-190]', async (_, fail) => {
    const run = await waitingRun();
    fail();
    await workOn();
    await runs.endedWell(administrationId(), run);
  });

  it('gives a message up: what failed all five times is a dead letter, and the sweeper sends the run on', async () => {
    const before = stack.improvement.deadLetters().length;
    const run = await waitingRun();
    stack.awsFaults.unavailable('s3', ALWAYS);
    await workOn();
    expect(stack.improvement.deadLetters()).toHaveLength(before + 1);
    stack.awsFaults.reset();
    await stack.improvement.sweep();
    await stack.improvement.settled();
    expect(await stateOf(run)).toBe('analyzing');
    await runs.leaveAlone(run);
    await stack.improvement.sweep();
    await runs.endedWell(administrationId(), run);
  });

  it('takes no message: the run that was begun is found by the repetition, and by the sweeper once there is a queue', async () => {
    const { key, send } = request();
    stack.awsFaults.unavailable('sqs', ALWAYS);
    expect((await send()).status).toBe(503);
    stack.awsFaults.reset();
    const run = await runs.analyze(administrationId(), key);
    expect(await stateOf(run)).toBe('queued');
    await runs.leaveAlone(run);
    stack.awsFaults.unavailable('sqs', ALWAYS);
    await expect(stack.improvement.sweep()).rejects.toThrow();
    stack.awsFaults.reset();
    await stack.improvement.sweep();
    await workOn();
    await runs.endedWell(administrationId(), run);
  });

  it('does not show a run just now: a retryable problem for which no owner is asked, and then the run [RP-266, RP-324]', async () => {
    const { improvementRunId } = await waitingRun();
    await workOn();
    const [sourceKey = ''] = runs.caller.fixtures(TENANT).sourceKeys;
    for (const [route, path] of [
      [readImprovementRun, { improvementRunId }],
      [readAlignmentReport, { improvementRunId, sourceKey }],
      [listRevisionOrders, { improvementRunId }],
    ] as const) {
      const read = () => callsDuring(stack, () => runs.caller.call(route, { path }));
      // Once in a container that knows the release, once in one that does not.
      for (const isKnown of [true, false]) {
        expect(reportsAnswerOf((await read()).result)).toBe('200');
        if (!isKnown) await stack.killWorkers(route.operationId);
        stack.awsFaults.unavailable('dynamodb', ALWAYS);
        const { result, calls } = await read();
        stack.awsFaults.reset();
        expect([reportsAnswerOf(result), reportsProblemOf(result).retryable, calls]).toEqual([
          UNAVAILABLE,
          true,
          [],
        ]);
      }
    }
  });
});
