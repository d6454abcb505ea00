import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '#shared/platform/all-operations.ts';
import { MAX_RETRIES } from '#shared/platform/transport/retry.ts';
import { TIMED_BANK, openAdaptiveRuns, runOf, sentenceOf } from '#test/support/adaptive-run.ts';
import type { AdaptiveRuns, RunGiven, RunRequest } from '#test/support/adaptive-run.ts';
import { startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';
import { mastery as kinds } from '#test/lemmas/faults-expected.ts';

let stack: TestStack;
let runs: AdaptiveRuns;
/** A learner's run whose time was over with its first answer: the next advance finalizes. */
let learner: { readonly started: RunGiven; readonly played: RunGiven };
beforeAll(async () => {
  stack = await startTestStack();
  runs = openAdaptiveRuns(stack);
  learner = await playedOut();
});
afterEach(async () => {
  await stack.control('DELETE', 'faults');
});
afterAll(async () => {
  runs.close();
  await stack.close();
});

async function playedOut(): Promise<{ readonly started: RunGiven; readonly played: RunGiven }> {
  const started = await runs.start(runs.startBody({ bank: TIMED_BANK })).sendForRun();
  // The budget of the timed bank is over then, by QTI's clock.
  await stack.control('POST', 'clock', { advanceSeconds: 60 });
  return { started, played: await runs.playAndInspect(started.body) };
}

function finalizing({ started, played } = learner): RunRequest {
  return runs.advance(started.body.continuationToken, played.etag);
}

const completed = '200 completed reportable';
const waiting = '200 finalizing reportable';
/** The steps of a finalization, in their order. */
const steps = ['writeResultRecord', 'writeKcComponents', 'emitEvent', 'readEvidenceAck'] as const;

describe('finalization of a learner’s run', () => {
  it('counts in the log what Results has refused, and nothing that time may mend [MA-169, MA-219]', async () => {
    const refusals = () =>
      stack.logs().filter(({ line }) => JSON.stringify(line).includes('"FINALIZATION_REFUSED"')).length;
    for (const [status, counted] of [
      [422, 1],
      [503, 0],
      [401, 0],
    ]) {
      const before = refusals();
      await stack.fault({
        operation: 'results.write_result_record',
        kind: 'status',
        status,
        times: MAX_RETRIES + 1,
      });
      await finalizing().send();
      await stack.control('DELETE', 'faults');
      expect(refusals() - before).toBe(counted);
    }
  });

  it('names one record and one event in the end, whatever went wrong on the way [MA-190, MA-202]', async () => {
    const own = await playedOut();
    const before = (await runs.state()).counts;
    const advance = finalizing(own);
    for (const name of steps) {
      const { id: operation, method } = operations[name];
      // Each write is done and its acknowledgement lost, in every try of one request.
      const kind = method === 'POST' ? 'lost_acknowledgement' : 'cut';
      await stack.fault({ operation, method, kind, times: MAX_RETRIES + 1 });
      expect(sentenceOf(await advance.send())).toBe(waiting);
      await stack.faultsStruck();
    }
    await expectCompleted(await advance.sendForRun());
    const { counts } = await runs.state();
    expect(counts['results.record']).toBe(before['results.record']! + 1);
    expect(counts['caliper.event']).toBe(before['caliper.event']! + 1);
  });

  /** Completed, and its references are what the owners themselves hold. */
  async function expectCompleted({ body }: RunGiven): Promise<void> {
    expect(body).toMatchObject({ status: 'completed', scaleReportability: 'reportable' });
    const { entities } = await runs.state();
    expect(entities['caliper.event']).toHaveProperty([body.caliperEventRef!]);
    const record = entities['results.record']![body.resultRecordRef!] as { components: object[] };
    expect(record.components).toHaveLength(body.kcClassifications.length);
  }
});

describe('inspecting a run that waits for Caliper', () => {
  it('is not convinced by an event of that id with other content [MA-038]', async () => {
    await stack.fault({ operation: 'caliper.read_evidence_ack', kind: 'down', times: MAX_RETRIES + 1 });
    const { body, etag } = runOf(await finalizing().send());
    const completedRun = await runs.advance(body.continuationToken, etag).sendForRun();
    const undo = await runs.change({
      entity: 'caliper.event',
      id: completedRun.body.caliperEventRef!,
      changes: [{ pointer: '/generated/scoreGiven', value: 1 }],
    });
    const inspect = runs.inspect(body.continuationToken);
    expect(sentenceOf(await inspect.send())).toBe(waiting);
    const advance = runs.advance(body.continuationToken, etag);
    expect(sentenceOf(await advance.send())).toBe(kinds.incomplete('caliper'));
    await undo();
    expect(sentenceOf(await inspect.send())).toBe(completed);
    expect(sentenceOf(await advance.send())).toBe(completed);
  });
});
