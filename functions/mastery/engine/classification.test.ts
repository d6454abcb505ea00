import { describe, expect, it } from 'vitest';
import { classify, scoredItemsPerKc } from './classification.ts';

const rule = { kcCutScore: 0.5, confidenceThreshold: 0.8, numericPrecision: 6 };

describe('classify', () => {
  it.each([
    [0.8, 'mastered'],
    [0.95, 'mastered'],
    [0.79, 'not_yet'],
    [0.5, 'not_yet'],
    [0.2, 'gap'],
    [0.01, 'gap'],
    [0.21, 'not_yet'],
  ] as const)(
    'calls a posterior of %d %s, reaching the threshold being enough [MA-108]',
    (posterior, expected) => {
      expect(classify(rule, posterior, 1)).toBe(expected);
    },
  );

  it('needs a scored item on the KC, however sure theta is [MA-197]', () => {
    expect(classify(rule, 0.999, 0)).toBe('not_yet');
    expect(classify(rule, 0.001, 0)).toBe('not_yet');
  });

  it('asks mastered for the cut as well as for the threshold, and gap to be below the cut [MA-197]', () => {
    const highCut = { ...rule, kcCutScore: 0.9 };
    expect(classify(highCut, 0.85, 1)).toBe('not_yet');
    expect(classify(highCut, 0.9, 1)).toBe('mastered');
    const lowCut = { ...rule, kcCutScore: 0.1 };
    expect(classify(lowCut, 0.15, 1)).toBe('not_yet');
    expect(classify(lowCut, 0.09, 1)).toBe('gap');
  });

  it('compares what a client sees: values rounded to the pinned precision [MA-117]', () => {
    expect(classify(rule, 0.79999949, 1)).toBe('not_yet');
    expect(classify(rule, 0.79999951, 1)).toBe('mastered');
    expect(classify(rule, 0.20000049, 1)).toBe('gap');
    expect(classify({ ...rule, numericPrecision: 1 }, 0.76, 1)).toBe('mastered');
  });

  it('does not lose a gap at the threshold to the last bit of a subtraction', () => {
    expect(classify({ ...rule, confidenceThreshold: 0.9, numericPrecision: 15 }, 0.1, 1)).toBe('gap');
    expect(classify({ ...rule, confidenceThreshold: 0.7, numericPrecision: 15 }, 0.3, 1)).toBe('gap');
  });
});

describe('scoredItemsPerKc', () => {
  it('counts each scored item once for each of its KCs', () => {
    expect([...scoredItemsPerKc([[0, 2], [2], [1]], 4, [0, 1, 0])]).toStrictEqual([1, 0, 2, 0]);
  });
});
