import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileModel, estimate, type CompiledModel } from '#functions/mastery/engine/index.ts';
import { classify } from '#functions/mastery/engine/classification.ts';
import { decisionGains, decisionModel, expectedSettled } from '#functions/mastery/engine/decision-gains.ts';
import { referencePosterior } from '#psychometrics/reference/higher-order-cdm.ts';
import { blockCaseOf, modelCaseOf, sharpened, type BlockCase } from './model-arbitrary.ts';

const TOLERANCE = 1e-12;

function compiled({ parameters }: BlockCase, runtimeVersion = 'ho-cdm-grid-1'): CompiledModel {
  const model = compileModel(parameters, runtimeVersion);
  if (!model.ok) throw new Error(JSON.stringify(model.error));
  return model.value;
}

/** A model with answers, and which of its KCs are unsettled. */
const unsettledCase = (mostItems: number) =>
  fc
    .tuple(modelCaseOf(mostItems), fc.boolean())
    .map(([value, isSharp]) => (isSharp ? sharpened(value) : value))
    .chain((value) =>
      fc.subarray(value.parameters.kcs.map((_, k) => k)).map((unsettled) => ({ ...value, unsettled })),
    );

describe('the gain on unsettled KCs', () => {
  it('is that of brute force over every theta node and KC pattern, and never above the gain on the whole state', () => {
    let partial = 0;
    fc.assert(
      fc.property(unsettledCase(8), (value) => {
        const model = compiled(value);
        const posterior = estimate(model, value.outcomes);
        const flags = Uint8Array.from(model.kcGuids, (_, k) => Number(value.unsettled.includes(k)));
        const eligible = new Uint8Array(model.itemIds.length).fill(1);
        const gains = new Float64Array(eligible.length);
        const whole = new Float64Array(eligible.length);
        model.core.informationGains(posterior, eligible, whole, Infinity);
        const isAny = decisionGains(decisionModel(model), posterior, flags, eligible, gains, Infinity);
        const expected = referencePosterior(value.reference, value.outcomes);
        let measured = 0;
        model.itemKcs.forEach((kcs, item) => {
          const own = kcs.filter((kc) => value.unsettled.includes(kc));
          if (own.length === 0) {
            expect(gains[item]).toBeNaN();
            return;
          }
          measured += 1;
          if (own.length < kcs.length) partial += 1;
          else expect(gains[item]).toBe(whole[item]);
          expect(Math.abs(gains[item]! - expected.informationOn(item, own))).toBeLessThan(TOLERANCE);
          expect(gains[item]).toBeLessThanOrEqual(expected.information[item]! + TOLERANCE);
          expect(gains[item]).toBeGreaterThanOrEqual(0);
        });
        expect(isAny).toBe(measured > 0);
      }),
      { numRuns: 300 },
    );
    expect(partial).toBeGreaterThan(100);
  });

  it('has the highest ones whenever few are asked for, and nothing of items that are not eligible', () => {
    fc.assert(
      fc.property(unsettledCase(24), fc.integer({ min: 1, max: 4 }), fc.nat(), (value, keep, barred) => {
        const model = compiled(value);
        const posterior = estimate(model, value.outcomes);
        const decision = decisionModel(model);
        const flags = Uint8Array.from(model.kcGuids, (_, k) => Number(value.unsettled.includes(k)));
        const eligible = Uint8Array.from(model.itemIds, (_, item) => 1 - ((barred >> item) & 1));
        const all = new Float64Array(eligible.length);
        const few = new Float64Array(eligible.length);
        decisionGains(decision, posterior, flags, eligible, all, Infinity);
        decisionGains(decision, posterior, flags, eligible, few, keep);
        const sorted = (gains: Float64Array): number[] =>
          [...gains].filter((gain) => !Number.isNaN(gain)).sort((a, b) => b - a);
        expect(sorted(few).slice(0, keep)).toEqual(sorted(all).slice(0, keep));
        few.forEach((gain, item) => {
          if (!Number.isNaN(gain)) expect([item, gain]).toEqual([item, all[item]]);
          if (eligible[item] === 0) expect(all[item]).toBeNaN();
        });
      }),
      { numRuns: 500 },
    );
  });
});

describe('the number of KCs that an answer is expected to settle', () => {
  it.each<[string, fc.Arbitrary<BlockCase>, number]>([
    ['ho-cdm-grid-1', modelCaseOf(4), 200],
    ['ho-cdm-block-1', blockCaseOf(4), 60],
  ])('is that of brute force after either answer, under %s', (kernel, cases, numRuns) => {
    const found = new Set<number>();
    const rules = fc.record({
      kcCutScore: fc.constantFrom(0.3, 0.5, 0.8),
      confidenceThreshold: fc.constantFrom(0.6, 0.8, 0.9),
      numericPrecision: fc.constantFrom(2, 12),
    });
    fc.assert(
      fc.property(cases, rules, fc.nat(), (value, rule, random) => {
        const model = compiled(value, kernel);
        const decision = decisionModel(model);
        const unsettled = Uint8Array.from(model.kcGuids, (_, k) => (random >> k) & 1);
        const posterior = estimate(model, value.outcomes);
        const actual = expectedSettled(decision, posterior, unsettled, rule, decision.items);
        const before = referencePosterior(value.reference, value.outcomes);
        model.itemKcs.forEach((kcs, item) => {
          let expected = 0;
          for (const correct of [true, false]) {
            const after = referencePosterior(value.reference, [...value.outcomes, { item, correct }]);
            const own = kcs.filter(
              (kc) => unsettled[kc] === 1 && classify(rule, after.kcs[kc]!, true) !== 'not_yet',
            );
            expected += own.length * Math.exp(after.logLikelihood - before.logLikelihood);
            found.add(own.length);
          }
          expect(Math.abs(actual[item]! - expected)).toBeLessThan(1e-9);
        });
      }),
      { numRuns },
    );
    expect([...found]).toEqual(expect.arrayContaining([0, 1, 2]));
  });
});
