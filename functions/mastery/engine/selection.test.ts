import { describe, expect, it } from 'vitest';
import { stream } from '#shared/kernel/random-stream.ts';
import { compileModel, estimate } from './model.ts';
import type { CompiledModel } from './model.ts';
import { prepareSelection, selectItem } from './selection.ts';
import type { Constraints, RunPosition, Selection } from './selection.ts';

// What a psychometrician asks of the rules; selection.property.test.ts holds every selection against their definitions.

/** Items i-0 … in falling order of what they tell: KC k of item j is [a, b, a, b, …], slips grow with j. */
function fixture(
  count: number,
  high = (j: number): number => 0.95 - j * 0.05,
  kcs = ['a', 'b'],
): CompiledModel {
  const model = compileModel({
    theta: { nodes: 5, min: -2, max: 2, mean: 0, sd: 1 },
    kcs: kcs.map((guid) => ({ guid, slope: 1, location: 0 })),
    items: Array.from({ length: count }, (_, j) => ({
      id: `v-${j}`,
      kcs: [kcs[j % kcs.length]!],
      probabilities: [0.1, high(j)],
    })),
    scale: [1, 2, 3, 4, 5],
  });
  if (!model.ok) throw new Error(JSON.stringify(model.error));
  return model.value;
}

function select(
  model: CompiledModel,
  constraints: Partial<Constraints> = {},
  run: Partial<RunPosition> = {},
): Selection {
  const pool = model.itemIds.map((artifactVersionId, item) => ({
    item,
    artifactVersionId,
    qtiIdentifier: `q-${item}`,
    tags: model.itemKcs[item]!.map((kc) => model.kcGuids[kc]!),
    accessibility: [],
  }));
  const context = prepareSelection(model, pool, {
    scope: [...model.kcGuids.keys()],
    maxItems: 10,
    requiredAccessibility: [],
    enemySets: [],
    excludedItems: [],
    minima: [],
    maxima: [],
    ...constraints,
  });
  const used = run.used ?? [];
  const posterior = estimate(
    model,
    used.map((item) => ({ item, correct: true })),
  );
  return selectItem(context, posterior, { runSeed: 'seed', sequence: used.length + 1, used, ...run });
}

const model = fixture(6);
const itemOf = (selection: Selection): number | undefined =>
  selection.kind === 'selected' ? selection.item : undefined;
/** What runs of so many seeds select. */
const drawnBy = (
  runs: number,
  constraints: Partial<Constraints>,
  run: Partial<RunPosition> = {},
): readonly (number | undefined)[] =>
  Array.from({ length: runs }, (_, n) =>
    itemOf(select(model, constraints, { runSeed: `seed-${n}`, ...run })),
  );
const shareOf = (item: number | undefined, drawn: readonly (number | undefined)[]): number =>
  drawn.filter((one) => one === item).length / drawn.length;

describe('selectItem', () => {
  it('turns to a minimum only when the slots left leave no choice, and to one in reach rather than to half of another', () => {
    const unequal = fixture(6, (j) => (j % 2 === 0 ? 0.95 : 0.6));
    const minima = [{ guid: 'b', items: 2 }];
    expect(itemOf(select(unequal, { minima, maxItems: 3 }))! % 2).toBe(0);
    expect(itemOf(select(unequal, { minima, maxItems: 2 }))! % 2).toBe(1);
    const outOfReach = { guid: 'a', items: 4 };
    expect(itemOf(select(model, { minima: [outOfReach, { guid: 'b', items: 1 }], maxItems: 1 }))).toBe(1);
    expect(itemOf(select(model, { minima: [outOfReach], maxItems: 3 }))).toBe(0);
  });

  it('leaves items that were met before aside until coverage needs one, or for good [MA-113]', () => {
    // The only items on "a" that a minimum can have were met before.
    const minima = [{ guid: 'a', items: 1 }];
    const run = { met: [0, 2, 4] };
    const select1 = (priorUse: 'avoid' | 'exclude', maxItems: number) =>
      itemOf(select(model, { minima, maxItems, priorUse }, run));
    expect([select1('avoid', 2), select1('avoid', 1), select1('exclude', 1)]).toEqual([1, 0, 1]);
  });

  it('breaks ties by SHA-256 of seed and artifact version id', () => {
    // `printf seed-1v-0 | sha256sum` and so on: the smallest of the six is 03547091… for seed-1 and 1a7bd284… for seed-2.
    const twins = fixture(6, () => 0.9);
    expect(itemOf(select(twins, {}, { runSeed: 'seed-1' }))).toBe(4);
    expect(itemOf(select(twins, {}, { runSeed: 'seed-2' }))).toBe(2);
  });

  it('draws under randomesque control among the best of the tier that decides, all of them and no others, anew for each offer [MA-113]', () => {
    const exposure = { method: 'randomesque', size: 3 } as const;
    const offers = [1, 2, 3, 4].flatMap((sequence) =>
      drawnBy(10, { exposure }, { sequence, runSeed: 'one' }),
    );
    expect(new Set(offers).size).toBeGreaterThan(1);
    for (const [drawn, expected] of [
      [drawnBy(60, { exposure }), [0, 1, 2]],
      [drawnBy(60, { exposure, priorUse: 'avoid' }, { met: [0, 2] }), [1, 3, 4]],
      [drawnBy(60, { exposure, selectionTarget: 'unsettled_components' }, { unsettled: [1] }), [1, 3, 5]],
    ] as const)
      expect(new Set(drawn)).toEqual(new Set(expected));
  });

  it('starts a progressive test by chance alone and ends it by gain', () => {
    const shareOfBest = (used: readonly number[]): number => {
      const best = itemOf(select(model, {}, { used }));
      return shareOf(best, drawnBy(300, { exposure: { method: 'progressive' }, maxItems: 5 }, { used }));
    };
    const [first, middle, last] = [shareOfBest([]), shareOfBest([4, 5]), shareOfBest([4, 5, 3, 2])];
    // One in six, with room of four standard errors.
    expect(Math.abs(first - 1 / 6)).toBeLessThan(0.09);
    expect(middle).toBeGreaterThan(1 / 4);
    expect(last).toBeGreaterThan(middle);
  });

  it('takes under progressive control what the gains of all items give, though it works out only some', () => {
    const large = fixture(300, (j) => 0.95 - ((j * 37) % 300) / 1000);
    for (let offered = 0; offered < 10; offered += 1) {
      const used = Array.from({ length: offered }, (_, n) => 7 * n);
      const posterior = estimate(
        large,
        used.map((item) => ({ item, correct: true })),
      );
      const gains = new Float64Array(300);
      const eligible = Uint8Array.from(gains, (_, j) => Number(!used.includes(j)));
      large.core.informationGains(posterior, eligible, gains, Infinity);
      const highest = Math.max(...gains.filter((gain) => !Number.isNaN(gain)));
      for (const runSeed of ['a', 'b', 'c', 'd', 'e']) {
        const next = stream(`progressive|${runSeed}|${offered + 1}`);
        const weights = gains.map((gain) => (1 - offered / 10) * next() * highest + (offered / 10) * gain);
        const most = Math.max(...weights.filter((weight) => !Number.isNaN(weight)));
        const selection = select(large, { exposure: { method: 'progressive' } }, { used, runSeed });
        expect(itemOf(selection)).toBe(weights.indexOf(most));
      }
    }
  });

  it('lets items pass under Sympson-Hetter control by their own probability, and sets one that failed aside for the whole run', () => {
    const exposure = { method: 'sympson_hetter', probabilities: new Map([['q-0', 0.25]]) } as const;
    const drawn = drawnBy(400, { exposure });
    expect(new Set(drawn)).toEqual(new Set([0, 1]));
    expect(Math.abs(shareOf(0, drawn) - 0.25)).toBeLessThan(0.09);
    const runSeed = `seed-${drawn.indexOf(1)}`;
    const later = [2, 3, 4, 5].map((sequence) => itemOf(select(model, { exposure }, { runSeed, sequence })));
    expect(new Set(later)).toEqual(new Set([1]));
  });

  it('works a pool with hundreds of minima off within its budget', () => {
    const kcs = Array.from({ length: 300 }, (_, k) => `k${k}`);
    const minima = kcs.map((guid) => ({ guid, items: 2 }));
    const large = fixture(1200, (j) => 0.9 - j / 10_000, kcs);
    expect(select(large, { minima, maxItems: 40 }).kind).toBe('selected');
  });
});
