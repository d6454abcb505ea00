import { describe, expect, it } from 'vitest';
import { designs } from '#psychometrics/verdicts/designs.ts';
import { simulateStudy } from '#psychometrics/verdicts/simulate.ts';
import { calibrate, POOR, type Calibration, type CalibrateOptions } from './calibrate.ts';
import { srmsr } from './item-fit.ts';
import { studyOf } from './read-data.ts';

/** A calibration of a sound study, and the sentence of one of its conditions. */
function calibrationOf(learners: number, options: Partial<CalibrateOptions>, seed = 1): Calibration {
  const study = studyOf(simulateStudy({ ...designs.english, learners, seed }));
  if (!study.ok) throw new Error(study.error.join('\n'));
  return calibrate(study.value, {
    model: 'dina',
    penalty: 'weak',
    bound: 0.001,
    maximumIterations: 1000,
    tolerance: 1e-3,
    randomStarts: 0,
    seed: 1,
    ...options,
  });
}

const sentenceOf = ({ conditions }: Calibration, code: string): string | undefined =>
  conditions.find((one) => one.code === code)?.sentence;

describe('the conditions of a fit', () => {
  it('count no maximum of starts that were stopped before they converged', () => {
    const stopped = calibrationOf(60, { randomStarts: 3, maximumIterations: 4 });
    expect(stopped.converged).toEqual([false, false, false, false]);
    expect(Math.max(...stopped.starts) - Math.min(...stopped.starts)).toBeGreaterThan(1);
    expect(sentenceOf(stopped, 'several_maxima')).toBeUndefined();
  });

  it('count the short runs that were dropped', () => {
    const chosen = calibrationOf(25, { randomStarts: undefined }, 4);
    expect(sentenceOf(chosen, 'several_maxima')).toContain('; 4 others were dropped after short runs');
  });

  it.each([25, 60])('find no poor fit in a small sound study: %i learners', (learners) => {
    const small = calibrationOf(learners, {});
    expect(srmsr(small.pairs)).toBeGreaterThan(POOR);
    expect(sentenceOf(small, 'poor_fit')).toBeUndefined();
  });

  it('give the few different rows of answers as the cause of missing standard errors', () => {
    expect(sentenceOf(calibrationOf(25, {}), 'singular_information')).toContain(
      'too few different rows of answers were given (25)',
    );
  });
});
