import { describe, expect, it } from 'vitest';
import { stopReason } from './stopping.ts';
import type { StoppingInput } from './stopping.ts';

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

describe('stopReason', () => {
  it('lets a run go on while no rule holds [MA-198]', () => {
    expect(stopReason(running)).toBeUndefined();
  });

  it('stops when every in-scope KC is mastered or a gap [MA-198]', () => {
    expect(stopReason({ ...running, classifications: ['mastered', 'gap'] })).toBe('classifications_complete');
    expect(stopReason({ ...running, classifications: [] })).toBeUndefined();
  });

  it('stops at the precision target, reaching it being enough, on rounded values [MA-109]', () => {
    expect(stopReason({ ...running, remainingUncertainty: 0.2 })).toBe('precision_target_met');
    expect(stopReason({ ...running, remainingUncertainty: 0.20000009 })).toBe('precision_target_met');
    expect(stopReason({ ...running, remainingUncertainty: 0.200001 })).toBeUndefined();
  });

  it('does not stop for precision while a coverage floor is unmet, nor before the first answer [MA-109]', () => {
    const sure = { ...running, remainingUncertainty: 0.1 };
    expect(
      stopReason({ ...sure, coverage: [...running.coverage, { scoredItems: 0, minimum: 1 }] }),
    ).toBeUndefined();
    expect(stopReason({ ...sure, itemsOffered: 0 })).toBeUndefined();
  });

  it('stops at the hard maximum of items [MA-110]', () => {
    expect(stopReason({ ...running, itemsOffered: 9 })).toBeUndefined();
    expect(stopReason({ ...running, itemsOffered: 10 })).toBe('max_items');
  });

  it('stops when the time budget has elapsed; null switches off only that rule [MA-111]', () => {
    expect(stopReason({ ...running, elapsedMilliseconds: 60_000 })).toBe('time_budget');
    const unlimited = { ...running, elapsedMilliseconds: 1e12, timeBudgetSeconds: null };
    expect(stopReason(unlimited)).toBeUndefined();
    expect(stopReason({ ...unlimited, itemsOffered: 10 })).toBe('max_items');
  });

  it('names the first of several rules: complete, precision, items, time [MA-197]', () => {
    const all: StoppingInput = {
      ...running,
      classifications: ['gap'],
      remainingUncertainty: 0,
      itemsOffered: 10,
      elapsedMilliseconds: 60_000,
    };
    expect(stopReason(all)).toBe('classifications_complete');
    const incomplete: StoppingInput = { ...all, classifications: ['not_yet'] };
    expect(stopReason(incomplete)).toBe('precision_target_met');
    expect(stopReason({ ...incomplete, remainingUncertainty: 1 })).toBe('max_items');
    expect(stopReason({ ...incomplete, remainingUncertainty: 1, itemsOffered: 9 })).toBe('time_budget');
  });
});
