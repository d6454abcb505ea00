import { expect, it } from 'vitest';
import { standardizedSurprise, surpriseOf } from '#functions/mastery/engine/person-fit.ts';
import type { ScaleResult } from '#shared/contract/mastery/adaptive-run.ts';
import { claimsRank } from '#shared/records/rank-claims.ts';
import { exampleState } from '#test/support/example-run.ts';
import { exampleModel } from '#test/support/example-simulation.ts';
import { hasUnusualAnswers, logUnusualAnswers, UNUSUAL_ANSWERS } from './person-fit.ts';

const model = exampleModel();
/** Items of one KC each, answered right and wrong by turns. */
const contradictory = [1, 7, 13, 19, 25, 31, 37, 43, 49, 55].map((item, n) => ({
  item,
  correct: n % 2 === 0,
}));
const judged = { ...exampleState, personFit: 'prequential/1', stopReason: 'max_items' } as const;

it.each([
  ['a stopped run with the mark', judged, contradictory, true],
  ['one whose answers fit', judged, contradictory.map((answer) => ({ ...answer, correct: true })), false],
  ['one with too few answers', judged, contradictory.slice(0, 9), false],
  ['one under way', { ...judged, stopReason: null }, contradictory, false],
  ['one that an earlier version began', { ...judged, personFit: undefined }, contradictory, false],
])('%s is marked only if its answers are unusual', (_, state, outcomes, expected) => {
  expect(hasUnusualAnswers(state, model, outcomes)).toBe(expected);
});

it('a run with the mark prequential/1 keeps the words and the figures that it may have published already', () => {
  const figures = [2, 3].map((step) =>
    standardizedSurprise(
      surpriseOf(
        model,
        contradictory.map(({ item }, n) => ({ item, correct: n % step === 0 })),
      ),
    ),
  );
  expect(
    [UNUSUAL_ANSWERS, ...figures],
    'Results refuses one result id with other content: a changed statistic or sentence needs another mark (docs/change.md, “A stored or sealed form”)',
  ).toEqual([
    'The answers contradict each other more than the calibration of the test expects. Guessing, haste or help can be the reason, and sometimes it is only chance. Look at the answers before you rely on the result.',
    3.0490701624007293,
    2.400140570975495,
  ]);
});

it('the limitation is short enough for Results and claims no rank [MA-102]', () => {
  expect(claimsRank(UNUSUAL_ANSWERS)).toBe(false);
  expect(UNUSUAL_ANSWERS.length).toBeLessThanOrEqual(500);
});

it.each([
  ['is logged when Results acknowledges the result', {}, { resultRecordId: 'r' }, [UNUSUAL_ANSWERS], 1],
  ['is not logged before', {}, {}, [UNUSUAL_ANSWERS], 0],
  ['is not logged again', { resultRecordId: 'r' }, { resultRecordId: 'r' }, [UNUSUAL_ANSWERS], 0],
  ['is not logged of a result without it', {}, { resultRecordId: 'r' }, ['Another one.'], 0],
])('the limitation %s', (_, before, after, limitations, times) => {
  const logged: string[] = [];
  logUnusualAnswers(
    (code) => logged.push(code),
    { ...judged, acknowledgements: before },
    { ...judged, acknowledgements: after },
    { limitations } as unknown as ScaleResult,
  );
  expect(logged).toEqual(Array.from({ length: times }, () => 'ANSWERS_UNUSUAL'));
});
