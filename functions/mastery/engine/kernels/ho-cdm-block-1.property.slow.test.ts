import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { referencePosterior } from '#psychometrics/reference/higher-order-cdm.ts';
import { blockCaseOf, modelCase, type BlockCase } from '#test/reference/model-arbitrary.ts';
import { decisionGains, decisionModel } from '../decision-gains.ts';
import { compileModel, estimate, type CompiledModel } from '../model.ts';
import type { CalibratedParameters, Estimate } from '../types.ts';

const TOLERANCE = 1e-12;

function compiled(parameters: CalibratedParameters, runtimeVersion = 'ho-cdm-block-1'): CompiledModel {
  const model = compileModel(parameters, runtimeVersion);
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

describe('blocks against brute force over every theta node and KC pattern', () => {
  it('give the same posteriors, scale, gains on the whole state and on some KCs, and joint probabilities', () => {
    const forms = new Map<string, number>();
    const withSome = blockCaseOf(8).chain((value) =>
      fc.subarray([...value.parameters.kcs.keys()]).map((some) => ({ ...value, some })),
    );
    fc.assert(
      fc.property(withSome, ({ parameters, reference, outcomes, some }) => {
        for (const { form } of reference.blocks ?? []) forms.set(form, (forms.get(form) ?? 0) + 1);
        const expected = referencePosterior(reference, outcomes);
        const model = compiled(parameters);
        const actual = estimate(model, outcomes);
        expect(largestDifference(actual.kcPosteriors, expected.kcs)).toBeLessThan(TOLERANCE);
        expect(largestDifference(actual.thetaPosterior, expected.theta)).toBeLessThan(TOLERANCE);
        expect(Math.abs(actual.scaleScore / expected.scaleScore - 1)).toBeLessThan(TOLERANCE);
        expect(Math.abs(actual.standardError - expected.standardError) / expected.scaleScore).toBeLessThan(
          TOLERANCE,
        );
        const gains = allGains(model, actual);
        expect(largestDifference(gains, expected.information)).toBeLessThan(TOLERANCE);
        expect(gains.every((gain) => gain >= 0 && gain <= 1)).toBe(true);
        const together = actual.joint!.allMastered([...parameters.kcs.keys()], 0, bitsOf(some));
        expect(Math.abs(together - expected.allMastered(some))).toBeLessThan(TOLERANCE);

        const flags = Uint8Array.from(model.kcGuids, (_, k) => Number(some.includes(k)));
        const decided = new Float64Array(gains.length);
        const eligible = new Uint8Array(gains.length).fill(1);
        decisionGains(decisionModel(model), actual, flags, eligible, decided, Infinity);
        model.itemKcs.forEach((kcs, item) => {
          const own = kcs.filter((kc) => some.includes(kc));
          if (own.length === 0) expect(decided[item]).toBeNaN();
          else expect(Math.abs(decided[item]! - expected.informationOn(item, own))).toBeLessThan(TOLERANCE);
        });
      }),
      { numRuns: 400 },
    );
    for (const form of ['hierarchy', 'saturated', 'table', 'strand'])
      expect(forms.get(form), form).toBeGreaterThan(20);
  });
});

describe('blocks of one KC', () => {
  it('are the frozen kernel', () => {
    fc.assert(
      fc.property(modelCase, ({ parameters, outcomes }) => {
        const [block, grid] = [compiled(parameters), compiled(parameters, 'ho-cdm-grid-1')];
        const [actual, expected] = [estimate(block, outcomes), estimate(grid, outcomes)];
        expect(largestDifference(actual.kcPosteriors, [...expected.kcPosteriors])).toBeLessThan(1e-13);
        expect(largestDifference(actual.thetaPosterior, [...expected.thetaPosterior])).toBeLessThan(1e-13);
        expect(actual.scaleScore / expected.scaleScore).toBeCloseTo(1, 13);
        const gains = [...allGains(grid, expected)];
        expect(largestDifference(allGains(block, actual), gains)).toBeLessThan(1e-13);
        const known = parameters.kcs.map((_, kc) => ({ kc, probability: (kc % 3) / 2 }));
        const theta = [...grid.core.knownTheta(known)];
        expect(largestDifference(block.core.knownTheta(known), theta)).toBeLessThan(1e-12);
      }),
      { numRuns: 300 },
    );
  });
});

describe('a posterior of blocks', () => {
  it('is the same to the last bit in any order of the outcomes, and when it is computed again', () => {
    const shuffled = blockCaseOf(8).chain((value) =>
      fc
        .shuffledSubarray([...value.outcomes], { minLength: value.outcomes.length })
        .map((reordered) => ({ ...value, reordered })),
    );
    const figures = (model: CompiledModel, outcomes: BlockCase['outcomes']) => {
      const { kcPosteriors, thetaPosterior, scaleScore, ...rest } = estimate(model, outcomes);
      return {
        kcPosteriors,
        thetaPosterior,
        scaleScore,
        gains: allGains(model, { kcPosteriors, thetaPosterior, scaleScore, ...rest }),
      };
    };
    fc.assert(
      fc.property(shuffled, ({ parameters, outcomes, reordered }) => {
        const model = compiled(parameters);
        const first = figures(model, outcomes);
        expect(figures(compiled(parameters), reordered)).toStrictEqual(first);
        expect(figures(model, reordered)).toStrictEqual(first);
      }),
      { numRuns: 200 },
    );
  });

  it('has the best gains unchanged, and leaves none of them out, where only the best are asked for', () => {
    fc.assert(
      fc.property(blockCaseOf(8), fc.integer({ min: 1, max: 4 }), ({ parameters, outcomes }, keep) => {
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

  it('is finite whatever the answers, and agrees with logarithms of all of them', () => {
    const many = blockCaseOf(8).chain((value) =>
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
        expect(largestDifference(actual.kcPosteriors, expected.kcs)).toBeLessThan(1e-10);
        expect(largestDifference(actual.thetaPosterior, expected.theta)).toBeLessThan(1e-10);
      }),
      { numRuns: 40 },
    );
  });
});

function bitsOf(kcs: readonly number[]): number {
  return kcs.reduce((sum, kc) => sum | (1 << kc), 0);
}
