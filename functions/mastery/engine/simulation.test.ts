import { describe, expect, it } from 'vitest';
import type { CompiledModel } from './model.ts';
import { exampleModel, exampleTest } from '#test/support/example-simulation.ts';
import { prepareSelection, type Constraints } from './selection.ts';
import { drawSimulatedLearner, createResponder, simulateRun } from './simulation.ts';
import type { StoppingRules } from './stopping.ts';

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
        createResponder(model, { name: `synthetic:${n}`, node: 0, mastered })(item),
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

  it('is broken off before the item at which time is over', () => {
    let looks = 0;
    const run = simulateRun(
      test.selection,
      rules,
      'seed',
      () => true,
      () => (looks += 1) > 3,
    );
    expect([run.evidence.outcomes.length, run.stopReason]).toEqual([3, 'time_budget']);
  });
});

describe('the estimated cost of a simulated run', () => {
  const { constraints } = test.selection;
  const plain = { ...constraints, exposure: undefined };
  const poolOf = (of: CompiledModel) =>
    of.itemIds.map((artifactVersionId, item) => ({
      item,
      artifactVersionId,
      qtiIdentifier: `q-${item}`,
      tags: [`t-${item % 20}`],
      accessibility: [],
    }));
  /** Of a run of 12 items. */
  const costOf = (
    changed: Partial<Constraints> = {},
    of = model,
    floors: StoppingRules['coverageFloors'] = [],
  ) => {
    const context = prepareSelection(of, poolOf(of), { ...plain, ...changed });
    const all = { ...rules, confidenceThreshold: 1, coverageFloors: floors };
    const runs = [0, 1].map(() => simulateRun(context, all, 'seed', (item) => item % 2 === 0));
    expect(runs.map(({ evidence }) => evidence.outcomes.length)).toEqual([12, 12]);
    // Neither what was simulated before nor what a container keeps changes it.
    expect(runs[1]!.estimatedCost).toBe(runs[0]!.estimatedCost);
    return runs[0]!.estimatedCost;
  };

  it.each<[string, () => number, number]>([
    ['alike items, of which hashes decide', () => costOf({}, exampleModel({ areAlike: true })), 100_000],
    [
      'a larger pool',
      () => {
        // Those of several KCs are alike.
        const excludedItems = Array.from({ length: 200 }, (_, n) => `q-${3 * n}`);
        return costOf({ excludedItems }, exampleModel({ items: 600 })) - costOf({ excludedItems }) + costOf();
      },
      12 * 2 * 50 * 540 - 1,
    ],
    ['tables of more KCs', () => costOf({}, exampleModel({ tiedKcs: 4 })), 12 * 4 * 21 * 6 * (16 - 4) - 1],
    [
      'patterns of blocks',
      () => {
        const kcs = ['kc-0', 'kc-1', 'kc-2'];
        const strand = [{ form: 'strand' as const, kcs, correlation: 0.5 }];
        return (
          costOf({}, exampleModel({ blocks: strand })) - costOf({}, exampleModel({ blocks: [] })) + costOf()
        );
      },
      40 * 21,
    ],
    ['all gains ranked', () => costOf({ exposure: { method: 'randomesque', size: 65 } }), 12 * 300 * 60],
    [
      'gains about what is unsettled',
      () => costOf({ selectionTarget: 'unsettled_components' }),
      12 * 300 * 60 - 1,
    ],
    [
      'a credit for unmeasured components',
      () => costOf({ selectionTarget: 'unsettled_and_unmeasured', unmeasuredCredit: 0.1 }),
      12 * 50 * 60 - 1,
    ],
    [
      'a look-ahead',
      () => {
        // Those of several KCs are alike: their hashes would count too.
        const excludedItems = Array.from({ length: 20 }, (_, n) => `q-${3 * n}`);
        const selectionTarget = 'unsettled_and_unmeasured' as const;
        const target = { excludedItems, unmeasuredCredit: 0.1, selectionTarget };
        const ahead = { ...target, selectionTarget: 'settling_look_ahead' as const, settlingCredit: 1e-9 };
        return costOf(ahead) - costOf(target) + costOf();
      },
      12 * 16 * 2000 - 1,
    ],
    ...(['minimumGain', 'minimumDecisionGain'] as const).map((rule): [string, () => number, number] => [
      rule,
      () => {
        const large = exampleModel({ items: 120 });
        return costOf({ scope: [0], [rule]: 1e-9 }, large) - costOf({ scope: [0] }, large) + costOf();
      },
      11 * 350 * 120 - 1,
    ]),
    [
      'minima to plan for',
      () => costOf({ minima: Array.from({ length: 11 }, (_, n) => ({ guid: `t-${n}`, items: 1 })) }),
      31 * 11 * 50,
    ],
    [
      'minima that cannot be met together',
      () => costOf({ minima: Array.from({ length: 20 }, (_, n) => ({ guid: `t-${n}`, items: 1 })) }),
      300_000,
    ],
    ['coverage floors', () => costOf({}, model, [{ guid: 't-1', items: 13 }]), 50 * 66 - 1],
  ])('grows with %s', (_, cost, least) => {
    expect(cost() - costOf()).toBeGreaterThan(least);
  });
});
