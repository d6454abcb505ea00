import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileModel, estimate, remainingUncertainty } from '#functions/mastery/engine/index.ts';
import type { CompiledModel, Estimate, ModelParameters } from '#functions/mastery/engine/index.ts';
import { referencePosterior } from '#psychometrics/reference/higher-order-cdm.ts';
import { modelCase } from './model-arbitrary.ts';

const TOLERANCE = 1e-12;

function compiled(parameters: ModelParameters): CompiledModel {
  const model = compileModel(parameters);
  if (!model.ok) throw new Error(JSON.stringify(model.error));
  return model.value;
}

function allGains(model: CompiledModel, posterior: Estimate, keep = Infinity): Float64Array {
  const gains = new Float64Array(model.itemIds.length).fill(-1);
  model.core.informationGains(posterior, new Uint8Array(gains.length).fill(1), gains, keep);
  return gains;
}

function largestDifference(a: Iterable<number>, b: readonly number[]): number {
  return Math.max(0, ...[...a].map((value, i) => Math.abs(value - b[i]!)));
}

const binaryEntropy = (p: number): number => -p * Math.log2(p) - (1 - p) * Math.log2(1 - p);

describe('the engine against brute force over every theta node and KC pattern', () => {
  it('gives the same posteriors, scale score and standard error, gains between 0 and 1 bit, and mean KC entropy in bits', () => {
    fc.assert(
      fc.property(modelCase, ({ parameters, reference, outcomes }) => {
        const expected = referencePosterior(reference, outcomes);
        const model = compiled(parameters);
        const actual = estimate(model, outcomes);
        expect(largestDifference(actual.kcPosteriors, expected.kcs)).toBeLessThan(TOLERANCE);
        expect(largestDifference(actual.thetaPosterior, expected.theta)).toBeLessThan(TOLERANCE);
        // Scale values run to a few hundred: the tolerance is relative to them.
        expect(Math.abs(actual.scaleScore / expected.scaleScore - 1)).toBeLessThan(TOLERANCE);
        expect(Math.abs(actual.standardError - expected.standardError) / expected.scaleScore).toBeLessThan(
          TOLERANCE,
        );
        const gains = allGains(model, actual);
        expect(largestDifference(gains, expected.information)).toBeLessThan(TOLERANCE);
        expect(gains.every((gain) => gain >= 0 && gain <= 1)).toBe(true);
        const scope = [...parameters.kcs.keys()].filter((k) => k % 2 === 0);
        const entropies = scope.map((k) => binaryEntropy(expected.kcs[k]!));
        const mean = entropies.reduce((a, b) => a + b, 0) / scope.length;
        expect(remainingUncertainty(model, actual, scope)).toBeCloseTo(mean, 11);
      }),
      { numRuns: 400 },
    );
  });
});

describe('the extremes', () => {
  it('survives hundreds of contradicting answers', () => {
    const many = modelCase.chain((value) =>
      fc
        .array(fc.record({ item: fc.nat(value.parameters.items.length - 1), correct: fc.boolean() }), {
          minLength: 300,
          maxLength: 600,
        })
        .map((outcomes) => ({ ...value, outcomes })),
    );
    fc.assert(
      fc.property(many, ({ parameters, reference, outcomes }) => {
        const expected = referencePosterior(reference, outcomes);
        const actual = estimate(compiled(parameters), outcomes);
        // The oracle sums logarithms of up to 600 answers, whose rounding errors add up.
        expect(largestDifference(actual.kcPosteriors, expected.kcs)).toBeLessThan(1e-10);
        expect(largestDifference(actual.thetaPosterior, expected.theta)).toBeLessThan(1e-10);
      }),
      { numRuns: 40 },
    );
  });

  it('agrees on one item with 11 KCs that joins answered components and KCs outside them', () => {
    const kcs = Array.from({ length: 11 }, (_, k) => ({ slope: 0.5 + k / 3, location: (k - 5) / 4 }));
    const size = 2 ** 11;
    // Additive in the KCs with weights that differ: no two patterns share a value.
    const wide = Array.from({ length: size }, (_, s) => 0.05 + (0.9 * s) / size);
    const items = [
      { kcs: [10, 3, 7, 1, 0, 2, 4, 5, 6, 8, 9], success: wide },
      { kcs: [1, 4], success: [0.1, 0.3, 0.2, 0.8] },
      { kcs: [4, 6], success: [0.2, 0.2, 0.2, 0.9] },
      { kcs: [2], success: [0.25, 0.85] },
      { kcs: [9, 0, 5], success: [0.1, 0.1, 0.4, 0.4, 0.3, 0.5, 0.6, 0.9] },
    ];
    const scale = [100, 150, 230, 260, 400];
    const grid = { nodes: 5, min: -2, max: 2, mean: 0, sd: 1 };
    const outcomes = [
      { item: 1, correct: true },
      { item: 2, correct: false },
      { item: 3, correct: true },
      { item: 4, correct: false },
    ];
    const model = compiled({
      theta: grid,
      kcs: kcs.map((kc, k) => ({ guid: `kc-${k}`, ...kc })),
      items: items.map((item, j) => ({
        artifactVersionId: `item-${j}`,
        kcs: item.kcs.map((k) => `kc-${k}`),
        probabilities: item.success,
      })),
      scale,
    });
    const reference = { ...grid, kcs, items, scale };
    const expected = referencePosterior(reference, outcomes);
    const gains = allGains(model, estimate(model, outcomes));
    expect(largestDifference(gains, expected.information)).toBeLessThan(TOLERANCE);
    const answered = [...outcomes, { item: 0, correct: true }];
    const after = estimate(model, answered);
    expect(largestDifference(after.kcPosteriors, referencePosterior(reference, answered).kcs)).toBeLessThan(
      TOLERANCE,
    );
  });
});

describe('the posterior', () => {
  it('is the same to the last bit in any order of the outcomes, and when worked out again', () => {
    const shuffled = modelCase.chain((value) =>
      fc
        .shuffledSubarray([...value.outcomes], { minLength: value.outcomes.length })
        .map((outcomes) => ({ ...value, reordered: outcomes })),
    );
    fc.assert(
      fc.property(shuffled, ({ parameters, outcomes, reordered }) => {
        const first = compiled(parameters);
        const a = estimate(first, outcomes);
        const gainsA = allGains(first, a);
        const second = compiled(parameters);
        const b = estimate(second, reordered);
        expect(b).toStrictEqual(a);
        expect(allGains(second, b)).toStrictEqual(gainsA);
      }),
      { numRuns: 200 },
    );
  });

  it('is not moved by an item whose success does not depend on mastery, which has no gain', () => {
    const withFlatItem = fc.tuple(modelCase, fc.double({ min: 0.01, max: 0.99, noNaN: true }), fc.boolean());
    fc.assert(
      fc.property(withFlatItem, ([{ parameters, outcomes }, probability, correct]) => {
        const kcs = parameters.kcs.slice(0, 3).map(({ guid }) => guid);
        const probabilities = Array.from({ length: 2 ** kcs.length }, () => probability);
        const model = compiled({
          ...parameters,
          items: [...parameters.items, { artifactVersionId: 'flat', kcs, probabilities }],
        });
        const item = parameters.items.length;
        const before = estimate(model, outcomes);
        expect(estimate(model, [...outcomes, { item, correct }])).toStrictEqual(before);
        expect(allGains(model, before)[item]).toBe(0);
      }),
      { numRuns: 200 },
    );
  });
});

describe('gains that are worked out for the best items only', () => {
  it('hold the best ones unchanged and leave none of them out', () => {
    fc.assert(
      fc.property(modelCase, fc.integer({ min: 1, max: 4 }), ({ parameters, outcomes }, keep) => {
        const model = compiled(parameters);
        const posterior = estimate(model, outcomes);
        const all = [...allGains(model, posterior)];
        const some = [...allGains(model, posterior, keep)];
        const last = all.toSorted((a, b) => b - a)[Math.min(keep, all.length) - 1]!;
        all.forEach((gain, j) => {
          if (gain >= last - 1e-10 || !Number.isNaN(some[j]!)) expect(some[j]).toBe(gain);
        });
      }),
      { numRuns: 200 },
    );
  });
});
