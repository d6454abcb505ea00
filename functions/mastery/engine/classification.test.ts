import { describe, expect, it } from 'vitest';
import { classify, scoredItemsPerKc } from './classification.ts';
import type { Classification, ClassificationRule } from './classification.ts';

const rule = { kcCutScore: 0.5, confidenceThreshold: 0.8, numericPrecision: 6 };

describe('classify', () => {
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
      expect(classify({ ...rule, ...change }, posterior, 1)).toBe(expected);
      expect(classify({ ...rule, ...change }, posterior, 0)).toBe('not_yet');
    },
  );
});

describe('scoredItemsPerKc', () => {
  it('counts each scored item once for each of its KCs', () => {
    expect([...scoredItemsPerKc([[0, 2], [2], [1]], 4, [0, 1, 0])]).toStrictEqual([1, 0, 2, 0]);
  });
});
