import { expect, it } from 'vitest';
import { normal } from '#psychometrics/recovery/learners.ts';
import { simulateStudy } from '#psychometrics/verdicts/simulate.ts';
import { fit } from '../em.ts';
import { createDesign, startingParameters } from '../model.ts';
import { studyOf } from '../read-data.ts';
import { testStructure } from './structure-test.ts';

const kcsOf = Array.from({ length: 24 }, (_, j) => [j % 6]);

/** Two parts of three KCs with an ability each, which correlate by .4. */
function twoParts(draw: () => number): number {
  const common = normal(draw);
  return [0, 1].reduce((pattern, part) => {
    const own = Math.sqrt(0.4) * common + Math.sqrt(0.6) * normal(draw);
    return [-0.6, 0, 0.6].reduce((bits, location, k) => {
      const isMastered = draw() < 1 / (1 + Math.exp(-2 * (own - location)));
      return bits | (Number(isMastered) << (3 * part + k));
    }, pattern);
  }, 0);
}

it.each([
  ['first', [0, 3]],
  ['last', [3, 0]],
])(
  'gives an ability of its own to each of two blocks, also if the one of the first KCs is %s',
  (_, starts) => {
    const study = studyOf(simulateStudy({ learners: 600, kcs: 6, kcsOf, patterns: twoParts, seed: 4 }));
    if (!study.ok) throw new Error(study.error.join());
    const design = createDesign('dina', 6, kcsOf, { bound: 0.001, penalty: 'weak' });
    const limits = { maximumIterations: 500, tolerance: 1e-3 };
    const { parameters } = fit(design, study.value.responses, startingParameters(design), limits);
    const blocks = starts.map((start) => ({ kcs: [start, start + 1, start + 2], required: undefined }));
    const options = { hierarchy: undefined, blocks, bootstrap: 0, seed: 1 };
    const { carried } = testStructure(design, parameters, study.value, options);
    // With one strand only, theta is the ability of the other block: the same likelihood, but another scale.
    expect(carried.map(({ form, kcs }) => [form, kcs])).toEqual(blocks.map(({ kcs }) => ['strand', kcs]));
  },
  60_000,
);
