import { describe, expect, it } from 'vitest';
import { progressLine } from './progress-line.ts';

const step = { iteration: 12, objective: -100, logLikelihood: -98.5, change: 0.01, extrapolated: true };

describe('progressLine', () => {
  it('tells iteration, log-likelihood and gain, with a bar that fills as gains shrink', () => {
    expect(progressLine('EM', step)).toBe(
      'EM [##########..........] iteration 12, log-likelihood -98.5000, Δ 1.0e-2',
    );
    expect(progressLine('EM', { ...step, change: 1e-9 })).toContain('[####################]');
    expect(progressLine('EM', { ...step, change: 1e9 })).toContain('[....................]');
  });

  it('tells of a stage without steps only its name', () => {
    expect(progressLine('fit', undefined)).toBe('fit …');
  });
});
