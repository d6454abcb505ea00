import { expect, it } from 'vitest';
import { stopReason, type StoppingInput, type StopReason } from './stopping.ts';

const running: StoppingInput = {
  classifications: ['mastered', 'not_yet'],
  remainingUncertainty: 0.5,
  precisionTarget: 0.2,
  numericPrecision: 6,
  coverage: [{ scoredItems: 2, minimum: 2 }],
  itemsOffered: 3,
  maxItems: 10,
  elapsedMilliseconds: 59_999,
  timeBudgetSeconds: 60,
};
const unmet = [...running.coverage, { scoredItems: 0, minimum: 1 }];
const unlimited = { elapsedMilliseconds: 1e12, timeBudgetSeconds: null };
/** Every rule but the first holds. */
const over = { remainingUncertainty: 0, itemsOffered: 10, elapsedMilliseconds: 60_000 };

it.each<[StopReason | undefined, why: string, Partial<StoppingInput>]>([
  [undefined, 'no rule holds', {}],
  ['classifications_complete', 'every KC is mastered or a gap', { classifications: ['mastered', 'gap'] }],
  [undefined, 'there is no KC', { classifications: [] }],
  ['precision_target_met', 'the target is reached', { remainingUncertainty: 0.2 }],
  ['precision_target_met', 'it is reached once rounded', { remainingUncertainty: 0.20000009 }],
  [undefined, 'it is not quite reached', { remainingUncertainty: 0.200001 }],
  [undefined, 'a coverage floor is unmet', { remainingUncertainty: 0.1, coverage: unmet }],
  [undefined, 'nothing is answered, however sure the prior', { remainingUncertainty: 0.1, itemsOffered: 0 }],
  [undefined, 'one more item may be offered', { itemsOffered: 9 }],
  ['max_items', 'none may be', { itemsOffered: 10 }],
  ['time_budget', 'the time is over', { elapsedMilliseconds: 60_000 }],
  [undefined, 'there is no time budget', unlimited],
  ['max_items', 'no time budget switches off that rule alone', { ...unlimited, itemsOffered: 10 }],
  ['classifications_complete', 'the first of all is named', { ...over, classifications: ['gap'] }],
  ['precision_target_met', 'the first of three', over],
  ['max_items', 'the first of two', { ...over, remainingUncertainty: 1 }],
  ['time_budget', 'the last', { ...over, remainingUncertainty: 1, itemsOffered: 9 }],
])('a run stops for %s: %s [MA-109, MA-110, MA-111, MA-197, MA-198]', (expected, _, change) => {
  expect(stopReason({ ...running, ...change })).toBe(expected);
});
