import { describe, expect, it } from 'vitest';
import { exampleModel, exampleTest } from '#test/support/example-simulation.ts';
import { prepareSelection } from './selection.ts';
import { drawSimulatedLearner, responderOf, simulateRun } from './simulation.ts';

const model = exampleModel();
const test = exampleTest({ maxItems: 12 });
const rules = { ...test.rules, confidenceThreshold: 0.9, precisionTarget: 1e-6 };

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

  it('answers by the item’s probability for the KCs that it has', () => {
    for (const item of [0, 1]) {
      const mastered = Uint8Array.of(1, 0, 0, 0, 0, 0);
      const correct = Array.from({ length: 4000 }, (_, n) =>
        responderOf(model, { name: `synthetic:${n}`, node: 0, mastered })(item),
      ).filter(Boolean).length;
      expect(correct / 4000).toBeCloseTo(model.core.successProbability(item, mastered), 1);
    }
    expect(model.core.successProbability(0, Uint8Array.of(1, 0, 0, 0, 0, 0))).toBe(0.3);
    expect(model.core.successProbability(0, Uint8Array.of(0, 1, 0, 0, 0, 0))).toBe(0.4);
    expect(model.core.successProbability(0, Uint8Array.of(1, 1, 0, 0, 0, 0))).toBe(0.9);
  });
});

describe('a simulated run', () => {
  it('without an eligible item has no outcome and stops as max_items', () => {
    const context = prepareSelection(model, [], test.selection.constraints);
    const run = simulateRun(context, rules, 'seed', () => true);
    expect([run.evidence.outcomes, run.stopReason]).toEqual([[], 'max_items']);
  });
});
