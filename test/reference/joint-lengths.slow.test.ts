import { expect, it } from 'vitest';
import { prepareSelection, simulatedRunSeed, simulateRun } from '#functions/mastery/engine/index.ts';
import { answerOf, drawLearner, PRIOR_POPULATION } from '#psychometrics/recovery/learners.ts';
import type { Learner } from '#psychometrics/recovery/learners.ts';
import { compiled } from '#psychometrics/recovery/sit.ts';
import { makeWorld, parametersOf } from '#psychometrics/recovery/world.ts';
import type { World } from '#psychometrics/recovery/world.ts';

// `unsettled_components` looks at an item's own unsettled KCs, one item at a time. What is lost by not looking at the joint pattern of all
// unsettled KCs is measured here, on worlds small enough to enumerate: almost nothing.

const KCS = 8;
const PATTERNS = 2 ** KCS;
const ITEMS = 120;
const MOST = 60;
const CONFIDENCE = 0.9;
const CUT = 0.5;

const entropy = (p: number): number =>
  p <= 0 || p >= 1 ? 0 : -p * Math.log2(p) - (1 - p) * Math.log2(1 - p);

/** Success of every item by the pattern of all KCs, and the prior over patterns at each theta node; no code of the engine. */
function enumerated(world: World) {
  const { theta, kcs, items } = parametersOf(world);
  const index = new Map(kcs.map(({ guid }, k) => [guid, k]));
  const prior = Array.from({ length: theta.nodes }, (_, g) => {
    const t = theta.min + (g * (theta.max - theta.min)) / (theta.nodes - 1);
    const density = Math.exp(-((t - theta.mean) ** 2) / (2 * theta.sd ** 2));
    const mastery = kcs.map(({ slope, location }) => 1 / (1 + Math.exp(-slope * (t - location))));
    return Array.from({ length: PATTERNS }, (_, s) =>
      mastery.reduce((product, p, k) => product * ((s >> k) & 1 ? p : 1 - p), density),
    );
  });
  const patterns = Array.from({ length: PATTERNS }, (_, s) => prior.reduce((sum, at) => sum + at[s]!, 0));
  const success = items.map(({ kcs: own, probabilities }) =>
    Array.from({ length: PATTERNS }, (_, s) => {
      const bits = own.map((guid, bit) => ((s >> index.get(guid)!) & 1) << bit);
      return probabilities[bits.reduce((sum, bit) => sum + bit, 0)]!;
    }),
  );
  return { patterns, success, measures: items.map(({ kcs: own }) => own.map((guid) => index.get(guid)!)) };
}

/** Items until every KC is classified, each the one that tells most about the joint pattern of all unsettled KCs. */
function jointLength(
  world: World,
  learner: Learner,
  { patterns, success, measures }: ReturnType<typeof enumerated>,
): number {
  let weights = patterns;
  const used = new Set<number>();
  const scored = new Set<number>();
  for (;;) {
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    const posterior = weights.map((weight) => weight / total);
    const mastered = Array.from({ length: KCS }, (_, k) =>
      posterior.reduce((sum, p, s) => sum + ((s >> k) & 1 ? p : 0), 0),
    );
    const unsettled = mastered.reduce(
      (mask, p, k) => (scored.has(k) && Math.max(p, 1 - p) >= CONFIDENCE ? mask : mask | (1 << k)),
      0,
    );
    if (unsettled === 0 || used.size === MOST) return used.size;
    let [best, most] = [-1, -1];
    success.forEach((table, item) => {
      if (used.has(item)) return;
      const weight = new Float64Array(PATTERNS);
      const correct = new Float64Array(PATTERNS);
      posterior.forEach((p, s) => {
        weight[s & unsettled]! += p;
        correct[s & unsettled]! += p * table[s]!;
      });
      const marginal = correct.reduce((sum, c) => sum + c, 0);
      const conditional = weight.reduce((sum, w, u) => (w > 0 ? sum + w * entropy(correct[u]! / w) : sum), 0);
      // A KC without a scored item is not classified, however sure: of items that say as much, one that measures it.
      const gain = entropy(marginal) - conditional;
      if (gain > most) [best, most] = [item, gain];
    });
    used.add(best);
    for (const kc of measures[best]!) scored.add(kc);
    const correct = answerOf(learner, world.items[best]!, 'by-table');
    weights = weights.map((weight, s) => weight * (correct ? success[best]![s]! : 1 - success[best]![s]!));
  }
}

it('ends tests within 2 % of the length that the joint information of all unsettled KCs would need', () => {
  const lengths = { joint: 0, own: 0 };
  for (const name of ['small 1', 'small 2', 'small 3']) {
    const world = makeWorld(name, { items: ITEMS, kcs: KCS });
    const model = compiled(parametersOf(world));
    const context = prepareSelection(
      model,
      world.items.map(({ id }, item) => ({
        item,
        artifactVersionId: id,
        qtiIdentifier: id,
        tags: [],
        accessibility: [],
      })),
      {
        scope: [...model.kcGuids.keys()],
        maxItems: MOST,
        requiredAccessibility: [],
        enemySets: [],
        excludedItems: [],
        minima: [],
        maxima: [],
        selectionTarget: 'unsettled_components',
      },
    );
    const tables = enumerated(world);
    const rules = {
      kcCutScore: CUT,
      confidenceThreshold: CONFIDENCE,
      numericPrecision: 12,
      precisionTarget: 0,
      coverageFloors: [],
      timeBudgetSeconds: null,
    };
    for (let n = 0; n < 120; n += 1) {
      const learner = drawLearner(world, `${name} ${n}`, PRIOR_POPULATION);
      lengths.joint += jointLength(world, learner, tables);
      lengths.own += simulateRun(context, rules, simulatedRunSeed(learner.name), (item) =>
        answerOf(learner, world.items[item]!, 'by-table'),
      ).evidence.outcomes.length;
    }
  }
  expect(lengths.joint).toBeGreaterThan(360 * 4);
  expect(lengths.own / lengths.joint).toBeLessThanOrEqual(1.02);
});
