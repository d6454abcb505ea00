import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { analyzeAdministration } from '#shared/contract/reports/routes.ts';
import * as operations from '#shared/platform/operations.ts';
import { analysisOf, readRun } from '#test/support/analyses.ts';
import type { Analysis } from '#test/support/analyses.ts';
import { openControlRecords } from '#test/support/control-records.ts';
import type { ControlRecords } from '#test/support/control-records.ts';
import { openImprovementRuns } from '#test/support/improvement-runs.ts';
import type { ImprovementRuns } from '#test/support/improvement-runs.ts';
import { reportsAnswerOf, reportsProblemOf } from '#test/support/reports-call.ts';
import { asBuilt, startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';

// An analysis that is interrupted at any of its steps, over the bundled functions: the same request brings it to its one run.

let stack: TestStack;
let control: ControlRecords;
let runs: ImprovementRuns;
beforeAll(async () => {
  stack = await startTestStack({ bundled: asBuilt });
  control = openControlRecords(stack);
  runs = openImprovementRuns(stack, TENANT);
});
beforeEach(async () => {
  await stack.control('POST', 'reset');
  stack.improvement.pause();
});
afterEach(async () => {
  stack.awsFaults.reset();
  await stack.control('DELETE', 'faults');
  stack.improvement.resume();
  await stack.improvement.settled();
});
afterAll(async () => {
  runs.close();
  control.close();
  await stack.close();
});

const TENANT = 'tenant-aurora';
/** Longer than any test: whoever meets it is still waiting when its function dies. */
const FOREVER_MS = 120_000;
const ALWAYS = 10_000;

const administrationId = (): string => runs.administration('spring-gate');
const request = (): Analysis => analysisOf({ caller: runs.caller, control }, TENANT, administrationId());
const killed = (): Promise<number> => stack.killWorkers(analyzeAdministration.operationId);

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
  stack.improvement.resume();
  await stack.improvement.settled();
  expect((await analysis.succeed()).run).toMatchObject({
    improvementRunId: run.improvementRunId,
    status: 'completed',
  });
  stack.improvement.pause();
}

describe('a function that dies', () => {
  it.each([
    operations.readAdministration,
    operations.readAlignmentSources,
    operations.readAdministrationAnalysis,
    operations.readAnalysisArtifact,
  ])('before $id: no run yet; the repetition begins one [RP-293]', async ({ id, method }) => {
    const before = await runsHeld();
    const analysis = request();
    await stack.fault({ operation: id, method, kind: 'latency', milliseconds: FOREVER_MS });
    const answering = analysis.send();
    await stack.faultsStruck();
    expect(await killed()).toBe(1);
    expect(reportsAnswerOf(await answering)).toBe('500 internal-error');
    expect(await runsHeld()).toBe(before);
    if ((await analysis.record()) !== undefined) await analysis.endLease();
    await endsWell(analysis, before);
  });

  it('before one of its calls to AWS after another: one run for each request, and none is lost [RP-292, RP-293]', async () => {
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

    stack.improvement.resume();
    await stack.improvement.settled();
    for (const analysis of analyses) expect((await analysis.succeed()).run.status).toBe('completed');
    const { improvementRunId } = (await analyses[0]!.succeed()).run;
    await runs.endedWell(administrationId(), { tenantId: TENANT, improvementRunId });
  }, 300_000);
});

describe('AWS', () => {
  /** What fails, and what a request is answered while it does. */
  const failures: readonly [string, () => void, string][] = [
    ['takes no message', () => stack.awsFaults.unavailable('sqs', ALWAYS), '500 internal-error'],
    ['throttles messages', () => stack.awsFaults.throttle('SendMessage', ALWAYS), '500 internal-error'],
    ['throttles writes', () => stack.awsFaults.throttle('PutItem', ALWAYS), '500 internal-error'],
    [
      // The release is read before anything else.
      'throttles reads',
      () => stack.awsFaults.throttle('GetItem', ALWAYS),
      '503 dependency-unavailable unknown',
    ],
    ['throttles queries', () => stack.awsFaults.throttle('Query', ALWAYS), '500 internal-error'],
    [
      'throttles transactions',
      () => stack.awsFaults.throttle('TransactWriteItems', ALWAYS),
      '500 internal-error',
    ],
    [
      'has no tables',
      () => stack.awsFaults.unavailable('dynamodb', ALWAYS),
      '503 dependency-unavailable unknown',
    ],
    ['opens no key', () => stack.awsFaults.unavailable('kms', ALWAYS), '500 internal-error'],
    [
      'shows no service profile',
      () => stack.awsFaults.unavailable('ssm', ALWAYS),
      '503 dependency-unavailable unknown',
    ],
  ];

  it.each(failures)(
    '%s: a retryable problem that says nothing, and the same request ends in its one run [RP-293]',
    async (_, fail, expected) => {
      const before = await runsHeld();
      const analysis = request();
      await killed();
      fail();
      const reply = await analysis.send();
      stack.awsFaults.reset();
      expect(reportsAnswerOf(reply)).toBe(expected);
      expect(reportsProblemOf(reply).retryable).toBe(true);
      expect(reply.headers.has('retry-after')).toBe(true);
      expect(reply.text).not.toMatch(/dynamo|sqs|throttl|demand|arn:|queue/i);
      await endsWell(analysis, before);
    },
  );

  it.each(['GetItem', 'PutItem', 'Query', 'TransactWriteItems', 'SendMessage'])(
    'throttles %s for a moment: nobody notices',
    async (operation) => {
      stack.awsFaults.throttle(operation, 2);
      expect((await request().succeed()).replayed).toBe(false);
    },
  );

  it('does not show a run just now: a retryable problem, and then the run [RP-266]', async () => {
    const { run } = await request().succeed();
    // Its container knows the release from now on.
    expect(reportsAnswerOf(await readRun(runs.caller, run.improvementRunId))).toBe('200');
    stack.awsFaults.unavailable('dynamodb', ALWAYS);
    const reply = await readRun(runs.caller, run.improvementRunId);
    stack.awsFaults.reset();
    expect(reportsAnswerOf(reply)).toBe('500 internal-error');
    expect(reportsProblemOf(reply).retryable).toBe(true);
    expect(reportsAnswerOf(await readRun(runs.caller, run.improvementRunId))).toBe('200');
  });
});
