import { describe, expect, it } from 'vitest';
import { showProgress } from './show-progress.ts';

const step = { iteration: 12, objective: -100, logLikelihood: -98.5, change: 0.01, extrapolated: true };

function written(isTTY: boolean, columns: number): string[] {
  const texts: string[] = [];
  const progress = showProgress({ isTTY, columns, write: (text) => texts.push(text) });
  progress.show('EM', step);
  progress.show('fit');
  progress.clear();
  return texts.filter((text) => !text.startsWith('\r'));
}

describe('showProgress', () => {
  it('shows iteration, log-likelihood and gain on a terminal, with a bar that fills as gains shrink', () => {
    expect(written(true, 200)).toEqual([
      'EM [##########..........] iteration 12, log-likelihood -98.5000, Δ 1.0e-2',
      'fit …',
    ]);
  });

  it('keeps to the line', () => {
    expect(written(true, 20).every((text) => text.length < 20)).toBe(true);
  });

  it('is silent elsewhere', () => {
    expect(written(false, 200)).toEqual([]);
  });
});
