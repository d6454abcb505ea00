import { describe, expect, it } from 'vitest';
import { verdictOf } from './verdict.ts';

const sound = {
  converged: true,
  rmsea: 0.02,
  srmsr: 0.03,
  reliabilityCeiling: 0.9,
  warnings: [],
  placeholders: 0,
};

describe('verdictOf', () => {
  it.each([
    [{}, 'Nothing that this command checks is against this calibration.'],
    [{ rmsea: NaN }, 'Nothing that this command checks is against this calibration.'],
    [{ srmsr: 0.081 }, 'Use this calibration with care: 1 point to weigh first.'],
    [
      { rmsea: 0.2, reliabilityCeiling: 0.79, warnings: ['Few.', 'Fewer.'] },
      'Use this calibration with care: 4 points to weigh first.',
    ],
    [{ converged: false, warnings: ['Few.'] }, 'Do not use this calibration: the fit has not converged.'],
    [
      { placeholders: 3 },
      'Nothing that this command checks is against this calibration. Until its 3 placeholder values are replaced, it is for local use only.',
    ],
  ])('says in a sentence whether the calibration can be used: %j', (change, sentence) => {
    expect(verdictOf({ ...sound, ...change }).sentence).toBe(sentence);
  });

  it.each([
    [{}, /closely \(RMSEA₂ 0\.020, SRMSR 0\.030\)\.$/],
    [{ rmsea: NaN, srmsr: 0.06 }, /fairly \(RMSEA₂ –, SRMSR 0\.060\)\.$/],
    [{ rmsea: 0.09 }, /poorly/],
    [{ rmsea: NaN, srmsr: NaN }, /is not known\.$/],
    [{ reliabilityCeiling: 0.74 }, /too coarse for an individual: .* above 0\.740\.$/],
    [{ warnings: ['Few.'] }, /^Few\.$/],
  ])('names what it rests on: %j', (change, point) => {
    const { points } = verdictOf({ ...sound, ...change });
    expect(points).toContainEqual(expect.stringMatching(point));
  });
});
