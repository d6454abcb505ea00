import { chooseLearner, findBank, type JourneyBank } from '#local/journey/bank.ts';
import type { AttemptReport } from '#client/index.ts';
import type { OfferedItem, RunMode } from '#shared/contract/mastery/adaptive-run.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { Seed } from '#local/seeds/seed.ts';
import type { AdaptiveRuns, RunGiven } from './adaptive-run.ts';
import type { TestStack } from './stack.ts';

/** One answer of the service, and how many outcomes it had consumed by then. */
export interface Step {
  readonly request: 'start' | 'inspect' | 'advance';
  readonly given: RunGiven;
  readonly consumed: number;
}

/** A run from its start to `completed`: every answer, and what the learner answered. */
export interface Journey {
  readonly steps: readonly Step[];
  readonly answered: readonly { readonly item: OfferedItem; readonly correct: boolean }[];
  readonly last: RunGiven;
}

export interface JourneyPlan {
  readonly bank: JourneyBank;
  readonly mode: RunMode;
  /** Number of the learner in the seed, from 1. */
  readonly learner: number;
  /** Called before each item is played. */
  readonly beforePlay?: () => Promise<void>;
}

/** The bank of a seed as one tenant sees it; fails the test when there is none of that name. */
export function bankOf(seed: Seed, tenantId: string, name?: string): JourneyBank {
  return expectOk(findBank(seed, tenantId, name));
}

/** start → play → inspect → advance … → completed, with nothing but the three calls and the player. */
export async function takeJourney(runs: AdaptiveRuns, plan: JourneyPlan): Promise<Journey> {
  const { bank, mode, beforePlay } = plan;
  const learner = expectOk(chooseLearner(bank, plan.learner, 0));
  const steps: Step[] = [];
  const answered: { item: OfferedItem; correct: boolean }[] = [];
  const note = (request: Step['request'], given: RunGiven): RunGiven => {
    steps.push({ request, given, consumed: answered.length - (request === 'inspect' ? 1 : 0) });
    return given;
  };
  let current = note(
    'start',
    await runs.start(runs.startBody({ bank: bank.fixture.name, mode })).sendForRun(),
  );
  while (current.body.status !== 'completed') {
    const item = current.body.offeredItem;
    const correct = item === null ? undefined : learner.answer(item.artifactVersionId);
    if (item === null || correct === undefined)
      throw new Error(`the run stays ${current.body.status} without an item that this learner can answer`);
    if (answered.some((earlier) => earlier.item.deliverySessionId === item.deliverySessionId))
      throw new Error('the run offers a session again that has been answered: it would never end');
    await beforePlay?.();
    await runs.play(current.body, correct ? 1 : 0);
    answered.push({ item, correct });
    const { continuationToken } = current.body;
    const { etag } = note('inspect', await runs.inspect(continuationToken).sendForRun());
    current = note('advance', await runs.advance(continuationToken, etag).sendForRun());
  }
  return { steps, answered, last: current };
}

/** The report, with its evidence, of the attempt that a learner run has made; fails the test when there is none. */
export async function reportOf(
  stack: Pick<TestStack, 'reportsClient'>,
  tenantId: string,
  studentId: string,
  resultRecordId: string,
): Promise<AttemptReport> {
  const reports = stack.reportsClient(tenantId, { studentIds: [studentId] });
  for await (const report of reports.iterateCandidateReports({ candidateSourcedId: studentId }))
    if (report.resultRecordId === resultRecordId)
      return (await reports.readAttemptReport({ attemptId: report.attemptId, view: 'evidence' })).data;
  throw new Error(`no report of ${studentId} names the results record ${resultRecordId}`);
}

function expectOk<T>(result: Result<T, string>): T {
  if (result.ok) return result.value;
  throw new Error(result.error);
}
