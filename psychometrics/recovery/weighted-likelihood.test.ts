import { describe, expect, it } from 'vitest';
import { weightedLikelihood } from './weighted-likelihood.ts';

const theta = { nodes: 601, min: -6, max: 6, mean: 0.5, sd: 1.2 };
const abilities = Array.from({ length: theta.nodes }, (_, g) => -6 + (12 * g) / (theta.nodes - 1));
const mastery = (slope: number, location: number, ability: number): number =>
  1 / (1 + Math.exp(-slope * (ability - location)));
const prior = (ability: number): number => Math.exp(-(((ability - 0.5) / 1.2) ** 2) / 2);

describe('the weighted likelihood estimate', () => {
  it.each([
    [2, 0.3, true],
    [1.5, -1, false],
  ])(
    'of one KC that is seen lies where its curve is at 3/4, or at 1/4: slope %s',
    (slope, location, mastered) => {
      // 1.5 log p + 0.5 log(1 - p) is largest at p = 3/4; the prior leaves no trace.
      const posterior = Float64Array.from(abilities, (ability) => {
        const p = mastery(slope, location, ability);
        return prior(ability) * (mastered ? p : 1 - p);
      });
      const estimate = weightedLikelihood({ theta, kcs: [{ guid: 'a', slope, location }] }, posterior, [0]);
      expect(estimate).toBeCloseTo(location + ((mastered ? 1 : -1) * Math.log(3)) / slope, 4);
    },
  );

  it('of answers that say nothing lies where the information of the measured KCs is largest', () => {
    const kcs = [
      { guid: 'a', slope: 2, location: -1 },
      { guid: 'b', slope: 2, location: 1.2 },
    ];
    const posterior = Float64Array.from(abilities, prior);
    expect(weightedLikelihood({ theta, kcs }, posterior, [1])).toBeCloseTo(1.2, 4);
    expect(weightedLikelihood({ theta, kcs }, posterior, [0])).toBeCloseTo(-1, 4);
  });
});
