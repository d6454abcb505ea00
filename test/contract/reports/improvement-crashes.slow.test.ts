import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { analyzeAdministration } from '#shared/contract/reports/routes/analyze-administration.ts';
import { openImprovementRuns, type Analysis } from '#test/support/improvement-runs.ts';
import { lazily } from '#test/support/lazily.ts';
import { reportsAnswerOf } from '#test/support/reports-call.ts';
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

async function workOn(): Promise<void> {
  stack.improvement.resume();
  await stack.improvement.settled();
}

/** How many runs the table holds of the administration. */
async function runsHeld(): Promise<number> {
  const items = await runs.records.items();
  return items.filter((item) => item['sk']?.S === '0-run').length;
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
});
