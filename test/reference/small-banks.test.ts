import { describe, expect, it } from 'vitest';
import {
  compileModel,
  computeEvidence,
  nextStep,
  prepareSelection,
  type Constraints,
} from '#functions/mastery/engine/index.ts';
import { bestOf, costOf, smallBanks, type Expected, type SmallBank } from './small-banks.ts';

type Target = Pick<Constraints, 'selectionTarget' | 'unmeasuredCredit' | 'settlingCredit'>;

const unsettled: Target = { selectionTarget: 'unsettled_components' };
const credited: Target = { selectionTarget: 'unsettled_and_unmeasured', unmeasuredCredit: 0.1 };
const ahead: Target = {
  selectionTarget: 'settling_look_ahead',
  unmeasuredCredit: 0.1,
  settlingCredit: 0.2,
};

/** Returns what a run of the engine leads to. */
function engineOn({ parameters, confidence }: SmallBank, target: Target): Expected {
  const compiled = compileModel(parameters);
  if (!compiled.ok) throw new Error('a small bank has no defects');
  const model = compiled.value;
  const scope = [...model.kcGuids.keys()];
  const pool = parameters.items.map(({ artifactVersionId, kcs }, item) => ({
    item,
    artifactVersionId,
    qtiIdentifier: artifactVersionId,
    tags: [...kcs],
    accessibility: [],
  }));
  const context = prepareSelection(model, pool, {
    scope,
    maxItems: pool.length,
    minima: [],
    maxima: [],
    ...target,
  });
  const rules = {
    kcCutScore: 0.5,
    confidenceThreshold: confidence,
    numericPrecision: 12,
    precisionTarget: 0,
    coverageFloors: [],
    timeBudgetSeconds: null,
  };
  return bestOf({ parameters, confidence }, (state) => {
    const outcomes = state.flatMap((digit, item) => (digit === 0 ? [] : [{ item, correct: digit === 2 }]));
    const evidence = computeEvidence(model, scope, rules, outcomes);
    const step = nextStep(context, rules, evidence, { runSeed: 'small banks', elapsedMilliseconds: 0 });
    return step.kind === 'offer' ? [step.item] : [];
  });
}

function meanOf(results: readonly Expected[]): Expected {
  const mean = (valueOf: (result: Expected) => number): number =>
    results.reduce((sum, result) => sum + valueOf(result), 0) / results.length;
  return { items: mean(({ items }) => items), unsettled: mean((result) => result.unsettled) };
}

/** By what share a target is above the optimum at most: in items, and in items with what stays unsettled. */
interface Excess {
  readonly items: number;
  readonly cost: number;
}

describe.each<{
  readonly quality: Parameters<typeof smallBanks>[0];
  readonly confidence: number;
  readonly optimum: Expected;
  readonly unsettled: Excess;
  readonly credited: Excess;
  readonly ahead: Excess;
}>([
  {
    quality: 'good',
    confidence: 0.9,
    optimum: { items: 4.745, unsettled: 0.303 },
    unsettled: { items: 0.12, cost: 0.18 },
    credited: { items: 0.09, cost: 0.15 },
    ahead: { items: 0.09, cost: 0.15 },
  },
  {
    quality: 'good',
    confidence: 0.8,
    optimum: { items: 2.733, unsettled: 0.021 },
    unsettled: { items: 0.26, cost: 0.45 },
    credited: { items: 0.23, cost: 0.42 },
    ahead: { items: 0.11, cost: 0.23 },
  },
  {
    quality: 'weak',
    confidence: 0.8,
    optimum: { items: 4.834, unsettled: 0.356 },
    unsettled: { items: 0.21, cost: 0.3 },
    credited: { items: 0.09, cost: 0.18 },
    ahead: { items: 0.07, cost: 0.16 },
  },
])('small banks of $quality items at confidence $confidence', ({ quality, confidence, ...limits }) => {
  const banks = smallBanks(quality, confidence);
  const optimum = meanOf(banks.map((bank) => bestOf(bank)));

  it('have the optimum that an independent program found', () => {
    expect(optimum.items).toBeCloseTo(limits.optimum.items, 3);
    expect(optimum.unsettled).toBeCloseTo(limits.optimum.unsettled, 3);
  });

  it.each([
    ['unsettled_components', unsettled, limits.unsettled],
    ['unsettled_and_unmeasured', credited, limits.credited],
    ['settling_look_ahead', ahead, limits.ahead],
  ])('are worked through by %s little worse than by the optimum', (_, target, most) => {
    const found = meanOf(banks.map((bank) => engineOn(bank, target)));
    expect(costOf(found)).toBeGreaterThanOrEqual(costOf(optimum));
    expect(found.items / optimum.items - 1).toBeLessThan(most.items);
    expect(costOf(found) / costOf(optimum) - 1).toBeLessThan(most.cost);
  });
});
