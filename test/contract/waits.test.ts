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
const unscored: Conduct = ({ attemptId, submittedAt }) => [
  [{ attemptId, attemptNumber: 1, status: 'submitted', submittedAt }],
  submittedAt,
];

describe('a run whose answer is handed in says that it waits for QTI, at every inspect and every advance [MA-030, MA-092]', () => {
  it.each<[string, Conduct, string, string]>([
    ['a trace that has failed', traced('failed'), waitFor('qti'), '60'],
    ['a trace that is pending', traced('pending'), '200 in_progress pending', '2'],
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
