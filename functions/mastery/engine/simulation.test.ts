import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileModel } from './model.ts';
import type { CompiledModel } from './model.ts';
import { prepareSelection } from './selection.ts';
import type { Constraints, SelectionContext } from './selection.ts';
import { drawSimulatedLearner, responderOf, simulateRun, simulatedRunSeed } from './simulation.ts';

const NODES = 9;
const KCS = 4;
const ITEMS = 24;

/** Four KCs of rising difficulty; items on one or two of them. */
function fixture(): CompiledModel {
  const guid = (k: number): string => `kc-${k % KCS}`;
  const model = compileModel({
    theta: { nodes: NODES, min: -4, max: 4, mean: 0, sd: 1 },
    kcs: Array.from({ length: KCS }, (_, k) => ({ guid: guid(k), slope: 1.5, location: k - 1.5 })),
    items: Array.from({ length: ITEMS }, (_, j) =>
      j % 3 === 0
        ? { id: `v-${j}`, kcs: [guid(j), guid(j + 1)], probabilities: [0.1, 0.3, 0.4, 0.9] }
        : { id: `v-${j}`, kcs: [guid(j)], probabilities: [0.15, 0.85 + j / 200] },
    ),
    scale: Array.from({ length: NODES }, (_, g) => 100 * g),
  });
  if (!model.ok) throw new Error(JSON.stringify(model.error));
  return model.value;
}

const model = fixture();
const rules = {
  kcCutScore: 0.5,
  confidenceThreshold: 0.9,
  precisionTarget: 1e-6,
  numericPrecision: 9,
  coverageFloors: [],
  timeBudgetSeconds: 1,
};

function contextOf(constraints: Partial<Constraints> = {}): SelectionContext {
  const pool = model.itemIds.map((artifactVersionId, item) => ({
    item,
    artifactVersionId,
    qtiIdentifier: `q-${item}`,
    tags: (model.itemKcs[item] ?? []).map((kc) => model.kcGuids[kc] ?? ''),
    accessibility: [],
  }));
  return prepareSelection(model, pool, {
    scope: [...model.kcGuids.keys()],
    maxItems: 12,
    requiredAccessibility: [],
    enemySets: [],
    excludedItems: [],
    minima: [],
    maxima: [],
    ...constraints,
  });
}

const known = (...probabilities: readonly number[]) =>
  probabilities.map((probability, kc) => ({ kc, probability }));

describe('a simulated learner', () => {
  it('has each known KC by its own probability, and the others by its theta', () => {
    const names = Array.from({ length: 4000 }, (_, n) => `synthetic:${n}`);
    const simulatedLearners = names.map((name) => drawSimulatedLearner(model, name, known(1, 0, 0.3)));
    const share = (kc: number): number =>
      simulatedLearners.filter(({ mastered }) => mastered[kc] === 1).length / simulatedLearners.length;
    expect([share(0), share(1)]).toEqual([1, 0]);
    expect(share(2)).toBeCloseTo(0.3, 1);
    const theta = model.core.knownTheta(known(1, 0, 0.3));
    const expected = theta.reduce((sum, weight, node) => sum + weight * model.core.masteryAt(3, node), 0);
    expect(share(3)).toBeCloseTo(expected, 1);
    const meanNode = simulatedLearners.reduce((sum, { node }) => sum + node, 0) / simulatedLearners.length;
    expect(meanNode).toBeCloseTo(
      theta.reduce((sum, weight, node) => sum + weight * node, 0),
      1,
    );
  });

  it('is drawn by its name alone, and answers an item always alike', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(ITEMS - 1), (name, item) => {
        const [one, other] = [
          drawSimulatedLearner(model, name, known(0.5)),
          drawSimulatedLearner(model, name, known(0.5)),
        ];
        expect(one).toEqual(other);
        const respond = responderOf(model, one);
        const before = respond(item);
        for (let j = 0; j < ITEMS; j += 1) respond(j);
        expect(respond(item)).toBe(before);
      }),
      { numRuns: 50 },
    );
  });

  it('answers by the item’s probability for the KCs that it has', () => {
    for (const item of [0, 1]) {
      const mastered = Uint8Array.of(1, 0, 0, 0);
      const correct = Array.from({ length: 4000 }, (_, n) =>
        responderOf(model, { name: `synthetic:${n}`, node: 0, mastered })(item),
      ).filter(Boolean).length;
      expect(correct / 4000).toBeCloseTo(model.core.successProbability(item, mastered), 1);
    }
    expect(model.core.successProbability(0, Uint8Array.of(1, 0, 0, 0))).toBe(0.3);
    expect(model.core.successProbability(0, Uint8Array.of(0, 1, 0, 0))).toBe(0.4);
    expect(model.core.successProbability(0, Uint8Array.of(1, 1, 0, 0))).toBe(0.9);
    expect(() => model.core.successProbability(ITEMS, Uint8Array.of(1, 1, 1, 1))).toThrow(RangeError);
  });
});

describe('a simulated run', () => {
  it('ends by the rules that end a learner’s, each item once, and never for want of time', () => {
    for (let n = 0; n < 20; n += 1) {
      const name = `synthetic:${n}`;
      const simulatedLearner = drawSimulatedLearner(model, name, known(0.9, 0.6, 0.4, 0.1));
      const { evidence, stopReason } = simulateRun(
        contextOf(),
        rules,
        simulatedRunSeed(name),
        responderOf(model, simulatedLearner),
      );
      const items = evidence.outcomes.map(({ item }) => item);
      expect(new Set(items).size).toBe(items.length);
      const complete = evidence.classifications.every((value) => value !== 'not_yet');
      expect([complete, stopReason]).toEqual(
        items.length < 12 ? [true, 'classifications_complete'] : [complete, expect.any(String)],
      );
      for (const { item, correct } of evidence.outcomes)
        expect(correct).toBe(responderOf(model, simulatedLearner)(item));
    }
  });

  it('without an eligible item has no outcome and stops as max_items', () => {
    const context = contextOf({ excludedItems: model.itemIds.map((_, item) => `q-${item}`) });
    const run = simulateRun(context, rules, 'seed', () => true);
    expect([run.evidence.outcomes, run.stopReason]).toEqual([[], 'max_items']);
  });
});
