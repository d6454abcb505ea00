import { expect, it } from 'vitest';
import { exampleModel } from '#test/support/example-simulation.ts';
import { classify, type Classification, type ClassificationRule } from './classification.ts';
import { computeEvidence } from './run-step.ts';

const rule = { kcCutScore: 0.5, confidenceThreshold: 0.8, numericPrecision: 6 };

it.each<[posterior: number, Classification, why: string, Partial<ClassificationRule>?]>([
  [0.95, 'mastered', 'above cut and threshold'],
  [0.8, 'mastered', 'at the threshold'],
  [0.79, 'not_yet', 'below the threshold'],
  [0.5, 'not_yet', 'at the cut alone'],
  [0.21, 'not_yet', 'a complement below the threshold'],
  [0.2, 'gap', 'a complement at the threshold'],
  [0.01, 'gap', 'a complement above the threshold'],
  [0.85, 'not_yet', 'at the threshold and below the cut', { kcCutScore: 0.9 }],
  [0.9, 'mastered', 'at both', { kcCutScore: 0.9 }],
  [0.15, 'not_yet', 'a complement at the threshold, and above the cut', { kcCutScore: 0.1 }],
  [0.09, 'gap', 'a complement at the threshold, and below the cut', { kcCutScore: 0.1 }],
  // Compared is what a client sees.
  [0.79999949, 'not_yet', 'rounded down below the threshold'],
  [0.79999951, 'mastered', 'rounded up to the threshold'],
  [0.20000049, 'gap', 'rounded, a complement at the threshold'],
  [0.76, 'mastered', 'rounded to one digit', { numericPrecision: 1 }],
  // Lost to the last bit of a subtraction, were its result not rounded.
  [0.07, 'gap', 'a complement of 0.93', { confidenceThreshold: 0.93, numericPrecision: 15 }],
  [0.32, 'gap', 'a complement of 0.68', { confidenceThreshold: 0.68, numericPrecision: 15 }],
])(
  'calls a posterior of %d %s: %s; without a scored item on the KC it is always not_yet [MA-108, MA-117, MA-197]',
  (posterior, expected, _, change) => {
    expect(classify({ ...rule, ...change }, posterior, true)).toBe(expected);
    expect(classify({ ...rule, ...change }, posterior, false)).toBe('not_yet');
  },
);

it('an answer classifies the KCs of its item alone, however sure theta is of the others [MA-197]', () => {
  // The fourth item is on the fourth and the fifth KC.
  const { classifications } = computeEvidence(
    exampleModel(),
    [0, 1, 2, 3, 4, 5],
    { ...rule, confidenceThreshold: 0.5 },
    [{ item: 3, correct: true }],
  );
  const undecided = [...classifications.keys()].filter((kc) => classifications[kc] === 'not_yet');
  expect(undecided).toEqual([0, 1, 2, 5]);
});
