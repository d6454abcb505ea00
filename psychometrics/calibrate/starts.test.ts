import { describe, expect, it } from 'vitest';
import { pairedQ, simulateResponses } from '#test/support/simulate-study.ts';
import { createDesign, randomParameters } from './model.ts';
import type { Design, ItemModel } from './model.ts';
import { uniformFrom } from './numbers.ts';
import { pricesOf } from './prices.ts';
import { standardErrors } from './standard-errors.ts';
import { bestFit, hasLocalMaxima } from './starts.ts';

const designOf = (model: ItemModel, kcsOf: readonly (readonly number[])[] = pairedQ(2)): Design =>
  createDesign(model, 2, kcsOf, { bound: 0.001, penalty: 'weak' });

const options = { maximumIterations: 500, tolerance: 1e-3, randomStarts: undefined, seed: 3 };

describe('the starts of a fit', () => {
  it.each([
    ['DINA, a complete Q-matrix, many learners', designOf('dina'), 1000, false],
    ['G-DINA', designOf('gdina'), 1000, true],
    ['an incomplete Q-matrix', designOf('dina', [[0], [0, 1], [0, 1]]), 1000, true],
    ['few learners', designOf('dina'), 100, true],
  ])('are several where several maxima are likely: %s', (_, design, learners, several) => {
    expect(hasLocalMaxima(design, learners)).toBe(several);
  });

  it('are short runs, the best two of which go on, the same for the same seed', () => {
    const design = designOf('gdina');
    const uniform = uniformFrom(9);
    const responses = simulateResponses(design, randomParameters(design, uniform), 200, uniform);
    const chosen = bestFit(design, responses, options);
    expect(chosen.shortRuns).toHaveLength(6);
    expect(chosen.starts).toHaveLength(2);
    expect(chosen.best.objective).toBe(Math.max(...chosen.starts));
    expect(chosen.best.objective).toBeGreaterThanOrEqual(Math.max(...chosen.shortRuns));
    expect(bestFit(design, responses, options)).toEqual(chosen);
    expect(bestFit(design, responses, { ...options, seed: 4 }).shortRuns).not.toEqual(chosen.shortRuns);
  });

  it('are as many as given, all to the end', () => {
    const design = designOf('gdina');
    const uniform = uniformFrom(9);
    const responses = simulateResponses(design, randomParameters(design, uniform), 200, uniform);
    for (const randomStarts of [0, 2]) {
      const { starts, shortRuns } = bestFit(design, responses, { ...options, randomStarts });
      expect(starts).toHaveLength(randomStarts + 1);
      expect(shortRuns).toEqual([]);
    }
  });
});

describe('the price of a restriction', () => {
  it('is what a fit without it gains, and absent where nothing is restricted', () => {
    const design = designOf('gdina');
    const uniform = uniformFrom(21);
    const truth = randomParameters(design, uniform);
    // The second KC lowers P(correct) of the last item.
    truth.tables[4]!.set([0.3, 0.9, 0.1, 0.6]);
    const responses = simulateResponses(design, truth, 1500, uniform);
    const fitOf = (of: Design) => bestFit(of, responses, { ...options, randomStarts: 0 }).best;
    const { parameters, logLikelihood, objective } = fitOf(design);
    const prices = pricesOf(design, parameters, responses, logLikelihood);
    expect(prices.monotonicity).toBeCloseTo(fitOf({ ...design, monotone: false }).objective - objective, 2);
    expect(prices.monotonicity).toBeGreaterThan(10);
    expect(prices.penalty).toBeCloseTo(
      fitOf({ ...design, penalty: 'none' }).logLikelihood - logLikelihood,
      2,
    );
    expect(prices.penalty).toBeGreaterThan(0);
    const dina = createDesign('dina', 2, pairedQ(2), { bound: 0.001, penalty: 'none' });
    expect(pricesOf(dina, fitOf(dina).parameters, responses, fitOf(dina).logLikelihood)).toEqual({
      penalty: undefined,
      monotonicity: undefined,
    });
  });
});

describe('standard errors', () => {
  const marksOf = (kcs: number, learners: number, penalty: 'weak' | 'none'): readonly boolean[] => {
    const design = createDesign('dina', kcs, [...pairedQ(kcs), ...pairedQ(kcs)], { bound: 0.001, penalty });
    const truth = {
      tables: design.items.map(({ size }) =>
        new Float64Array(size).fill(0.1, 0, size - 1).fill(0.9, size - 1),
      ),
      slopes: new Float64Array(kcs).fill(1.7),
      locations: new Float64Array(kcs),
    };
    const responses = simulateResponses(design, truth, learners, uniformFrom(5));
    const { parameters } = bestFit(design, responses, { ...options, randomStarts: 0 }).best;
    const errors = standardErrors(design, parameters, responses);
    return [...errors.slopesFromPrior, ...errors.locationsFromPrior];
  };

  it.each([
    // Two KCs have one association, which does not determine two slopes.
    ['two KCs', 2, 3000, 'weak', [true, true, false, false]],
    ['three KCs', 3, 3000, 'weak', [false, false, false, false, false, false]],
    ['no prior', 2, 3000, 'none', [false, false, false, false]],
  ] as const)(
    'are marked where most of the information is the prior’s: %s',
    (_, kcs, learners, penalty, marks) => {
      expect(marksOf(kcs, learners, penalty)).toEqual(marks);
    },
  );
});
