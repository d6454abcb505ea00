import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { analyzeRun, sweepRuns } from '#shared/contract/background.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { openImprovementRuns } from '#test/support/improvement-runs.ts';
import { lazily } from '#test/support/lazily.ts';
import { useTestStack } from '#test/support/stack.ts';

// The worker and the sweeper of improvement runs while a store hangs, or returns something else. A rotation of keys: test/contract/rotate-keys.test.ts.

/** An attempt to write a bundle may take longer than those of the other stores: the end of the function comes first. */
const BUNDLE_MS = 4_000;
const budget: { milliseconds?: number } = {};

const { sleep } = processRuntime();
const stack = useTestStack({
  inProcess: () => ({
    sleep: (milliseconds, signal) =>
      sleep(milliseconds > 20_000 ? (budget.milliseconds ?? milliseconds) : milliseconds, signal),
  }),
});
const runs = lazily(() => openImprovementRuns(stack));

beforeEach(() => stack.improvement.pause());
afterEach(() => {
  stack.awsFaults.reset();
  delete budget.milliseconds;
});

/** The codes that a function has logged. */
const said = (from: number, operationId: string): readonly (string | undefined)[] =>
  stack
    .logs()
    .slice(from)
    .filter(({ function: name }) => name === operationId)
    .map(({ line }) => (line as { readonly code?: string }).code);

it.each([
  ['settings', 'hangs', 'RELEASE_UNPROVED'],
  ['settings', 'is wrong', 'RELEASE_UNPROVED'],
  ['kms', 'hangs', 'IMPROVEMENT_RUN_STALLED'],
  ['records', 'hangs', 'BACKGROUND_WORK_BROKEN'],
  ['records', 'is wrong', 'BACKGROUND_WORK_BROKEN'],
  ['improvement', 'hangs', 'BACKGROUND_WORK_BROKEN'],
  ['improvement', 'is wrong', 'BACKGROUND_WORK_BROKEN'],
  ['s3', 'hangs', 'BACKGROUND_WORK_BROKEN'],
] as const)(
  'a worker says so while %s %s (%s), and lets the message come again: the run ends whole [RP-150, RP-190]',
  async (store, how, code) => {
    const { analyze, administration, progress, killWorkers } = runs;
    const run = await analyze(administration('spring-gate'));
    await killWorkers();
    const from = stack.logs().length;
    stack.awsFaults.break(store, how);
    if (store === 's3') budget.milliseconds = BUNDLE_MS;
    stack.improvement.resume();
    await vi.waitFor(() => expect(said(from, analyzeRun.operationId)).toContain(code), { timeout: 60_000 });
    stack.awsFaults.reset();
    delete budget.milliseconds;
    // What fails at once may be a dead letter by now, which the sweeper sends on.
    if (how === 'is wrong') {
      await stack.improvement.settled();
      await runs.leaveAlone(run);
      await stack.improvement.sweep();
    }
    await stack.improvement.settled();
    expect((await progress(run)).run.state).toBe('completed');
  },
  120_000,
);

it.each(['improvement', 'sqs'] as const)(
  'a sweep ends with an error while %s hangs',
  async (store) => {
    await runs.leaveAlone(await runs.analyze(runs.administration('spring-gate')));
    await stack.killWorkers(sweepRuns.operationId);
    const from = stack.logs().length;
    stack.awsFaults.break(store, 'hangs');
    await expect(stack.improvement.sweep()).rejects.toThrow();
    expect(said(from, sweepRuns.operationId)).toContain('BACKGROUND_WORK_BROKEN');
  },
  120_000,
);
