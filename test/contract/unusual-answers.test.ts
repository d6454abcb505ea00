import { expect, it } from 'vitest';
import { UNUSUAL_ANSWERS } from '#functions/mastery/run/person-fit.ts';
import type { RunMode } from '#shared/contract/mastery/adaptive-run.ts';
import { useAdaptiveRuns, type RunGiven } from '#test/support/adaptive-run.ts';
import { useTestStack } from '#test/support/stack.ts';

const stack = useTestStack();
const runs = useAdaptiveRuns(stack);

const BANK = 'fraction-subtraction';

/** Answers every item of a run: as the posteriors of its components predict, or the contrary. */
async function take(mode: RunMode, isContrary: boolean): Promise<readonly RunGiven[]> {
  const change = { confidenceThreshold: 0.999, precisionTarget: 0.001 };
  const steps = [await runs.start(await runs.bodyUnder(change, { bank: BANK, mode })).sendForRun()];
  for (;;) {
    const last = steps.at(-1)!;
    const { status, offeredItem, kcClassifications } = last.body;
    if (status !== 'in_progress') return steps;
    const item = runs
      .membersOf(BANK)
      .find(({ artifactVersionId }) => artifactVersionId === offeredItem!.artifactVersionId)!;
    const isLikely = kcClassifications.every(
      ({ caseCompetencyGuid, posteriorProbability }) =>
        !item.kcGuids.includes(caseCompetencyGuid) || posteriorProbability >= 0.5,
    );
    steps.push(await runs.answer(last, isLikely === isContrary ? 0 : 1));
  }
}

const lines = () => stack.logs().filter(({ line }) => JSON.stringify(line).includes('"ANSWERS_UNUSUAL"'));

it.each<[string, RunMode, boolean, boolean]>([
  ['contradict each other', 'production_learner', true, true],
  ['fit', 'production_learner', false, false],
  ['contradict each other in a conformance run', 'owner_conformance', true, false],
])(
  'answers that %s: a limitation of the finished result, and a line in the log, or neither',
  async (_, mode, byTurns, expected) => {
    const before = lines().length;
    const steps = await take(mode, byTurns);
    const last = steps.at(-1)!;
    const stated = steps.map(({ body }) => body.scale?.limitations.includes(UNUSUAL_ANSWERS) === true);
    expect(stated).toEqual(steps.map((step) => expected && step === last));
    expect(lines()).toHaveLength(before + Number(expected));
    if (mode === 'production_learner') {
      const { scale } = await runs.recordOf(last);
      expect(scale.limitations).toEqual(expected ? last.body.scale!.limitations : undefined);
    }
  },
);
