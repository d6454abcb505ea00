import { afterEach, describe, expect, it } from 'vitest';
import { linesOf, sentenceOf, sessionOf, useAdaptiveRuns } from '#test/support/adaptive-run.ts';
import type { RunGiven, RunReply } from '#test/support/adaptive-run.ts';
import { useTestStack } from '#test/support/stack.ts';
import { mastery as kinds } from '#test/lemmas/faults-expected.ts';

const { waitFor } = kinds;

const stack = useTestStack();
const runs = useAdaptiveRuns(stack);
afterEach(async () => {
  await stack.control('DELETE', 'faults');
  await stack.control('POST', 'qti', { tenantId: 'tenant-aurora', scores: 'at_once' });
});

interface HeldAttempt {
  readonly attemptId: string;
  readonly submittedAt: string;
  readonly scoredAt: string;
  readonly processingTrace: object;
}
async function attemptsOf(run: RunGiven): Promise<readonly HeldAttempt[]> {
  const { entities } = await runs.state();
  const held = entities['qti.session']![sessionOf(run)] as {
    readonly session: { readonly attempts: readonly HeldAttempt[] };
  };
  return held.session.attempts;
}
/** Has QTI hold other attempts for the offered item. */
async function hold(run: RunGiven, attempts: readonly object[]): Promise<void> {
  const changes = [{ pointer: '/session/attempts', value: attempts }];
  await runs.change({ entity: 'qti.session', id: sessionOf(run), changes });
}
const retryAfterOf = ({ headers }: RunReply) => headers.get('retry-after');
const fromQti = { service: 'qti', operation: 'qti.read_candidate_runtime' };

/** What QTI holds in place of the scored attempt, and since when it owes its next step. */
type Conduct = (scored: HeldAttempt) => readonly [attempts: readonly object[], since: string];
const traced =
  (status: string): Conduct =>
  (scored) => [[{ ...scored, processingTrace: { ...scored.processingTrace, status } }], scored.scoredAt];
const untraced: Conduct = (scored) => [[{ ...scored, processingTrace: undefined }], scored.scoredAt];
/** The first attempt is handed in and never scored; a second one is. */
const secondScored: Conduct = (scored) => {
  const { attemptId, submittedAt } = scored;
  const first = { attemptId: `${attemptId}-first`, attemptNumber: 1, status: 'submitted', submittedAt };
  return [[first, { ...scored, attemptNumber: 2 }], submittedAt];
};
const unscored: Conduct = ({ attemptId, submittedAt }) => [
  [{ attemptId, attemptNumber: 1, status: 'submitted', submittedAt }],
  submittedAt,
];
const unscoredAndFailed: Conduct = (scored) => {
  const [[attempt], since] = unscored(scored);
  return [[{ ...attempt, processingTrace: { ...scored.processingTrace, status: 'failed' } }], since];
};
const unreadableAndFailed: Conduct = (scored) => {
  const [[attempt], since] = traced('failed')(scored);
  return [[{ ...attempt, outcomes: null }], since];
};

describe('a run whose answer is handed in says that it waits for QTI, at every inspect and every advance [MA-030, MA-092]', () => {
  it.each<[string, Conduct, string, string]>([
    ['a trace that has failed', traced('failed'), waitFor('qti'), '60'],
    ['a score that cannot be read, with a trace that has failed', unreadableAndFailed, waitFor('qti'), '60'],
    ['a trace that has failed before a score', unscoredAndFailed, waitFor('qti'), '60'],
    ['no trace', untraced, '200 in_progress pending', '2'],
    ['a trace that is pending', traced('pending'), '200 in_progress pending', '2'],
    [
      'a first attempt without a score beside a second one with it',
      secondScored,
      '200 in_progress pending',
      '2',
    ],
    ['no score', unscored, '200 in_progress pending', '2'],
  ])('%s', async (_, conduct, sentence, seconds) => {
    const run = await runs.start().sendForRun();
    await runs.play(run.body);
    const scored = (await attemptsOf(run))[0]!;
    const [attempts, since] = conduct(scored);
    await hold(run, attempts);
    const lines = linesOf(stack, 'RUN_WAITS');
    const { continuationToken } = run.body;
    const shown = { status: 'in_progress', continuationToken, waitingFor: { ...fromQti, since } };
    for (let round = 0; round < 3; round += 1) {
      const inspected = await runs.inspect(continuationToken).sendForRun();
      expect([inspected.body, retryAfterOf(inspected)]).toMatchObject([shown, seconds]);
      const advanced = await runs.advance(continuationToken, inspected.etag).send();
      expect([sentenceOf(advanced), retryAfterOf(advanced)]).toEqual([sentence, seconds]);
      if (advanced.kind === 'run') expect(advanced.body).toMatchObject(shown);
      else expect(advanced.body.upstream).toMatchObject(fromQti);
    }
    expect(linesOf(stack, 'RUN_WAITS') - lines).toBe(6);

    await hold(run, [scored]);
    const inspected = await runs.inspect(continuationToken).sendForRun();
    const next = await runs.advance(continuationToken, inspected.etag).sendForRun();
    expect(next.body.offeredItem).toMatchObject({ sequence: 2 });
    for (const reply of [inspected, next]) {
      expect(reply.body).not.toHaveProperty('waitingFor');
      expect(retryAfterOf(reply)).toBeNull();
    }
  });

  it('and says nothing of the kind while the learner has the item', async () => {
    const run = await runs.start().sendForRun();
    const { continuationToken } = run.body;
    const idle = await runs.advance(continuationToken, run.etag).sendForRun();
    for (const reply of [run, idle, await runs.inspect(continuationToken).sendForRun()]) {
      expect(reply.body).not.toHaveProperty('waitingFor');
      expect(retryAfterOf(reply)).toBeNull();
    }
  });
});

describe('a stopped run names the operation by which its publication goes on [MA-138, MA-169, MA-202]', () => {
  it.each([
    ['results', 'results.write_result_record', 'results.write_result_record'],
    ['results', 'results.write_kc_components', 'results.write_kc_components'],
    ['caliper', 'caliper.emit_completion_or_simulation', 'caliper.read_evidence_ack'],
    ['caliper', 'caliper.read_evidence_ack', 'caliper.read_evidence_ack'],
  ])('%s: %s is down', async (service, down, operation) => {
    const { advance } = await runs.playedOut();
    await stack.fault({ operation: down, kind: 'down', times: 100 });
    const stopped = await advance.sendForRun();
    if (down === 'caliper.emit_completion_or_simulation')
      await stack.fault({ operation, kind: 'down', times: 100 });
    const inspected = await runs.inspect(stopped.body.continuationToken).sendForRun();
    const again = await runs.advance(stopped.body.continuationToken, stopped.etag).sendForRun();
    for (const reply of [stopped, inspected, again]) {
      expect(reply.body).toMatchObject({ status: 'finalizing' });
      expect(reply.body.waitingFor).toEqual({ service, operation });
      expect(retryAfterOf(reply)).toBe('10');
    }
    await stack.control('DELETE', 'faults');
    const ended = await runs.advance(again.body.continuationToken, again.etag).sendForRun();
    expect(ended.body.status).toBe('completed');
    expect(ended.body).not.toHaveProperty('waitingFor');
    expect(retryAfterOf(ended)).toBeNull();
  });
});
