import { describe, expect, it } from 'vitest';
import { stream } from '#shared/kernel/random-stream.ts';
import type { Exposure } from './exposure.ts';
import { compileModel, estimate } from './model.ts';
import type { CompiledModel } from './model.ts';
import { prepareSelection, selectItem } from './selection.ts';
import type { Constraints, PoolItem, RunPosition, Selection } from './selection.ts';

/** Items i-0 … in falling order of what they tell: KC k of item j is [a, b, a, b, …], slips grow with j. */
function fixture(count: number, high = (j: number): number => 0.95 - j * 0.05): CompiledModel {
  const model = compileModel({
    theta: { nodes: 5, min: -2, max: 2, mean: 0, sd: 1 },
    kcs: [
      { guid: 'a', slope: 1, location: 0 },
      { guid: 'b', slope: 1, location: 0 },
    ],
    items: Array.from({ length: count }, (_, j) => ({
      id: `v-${j}`,
      kcs: [j % 2 === 0 ? 'a' : 'b'],
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
  change: (item: PoolItem) => PoolItem | undefined = (item) => item,
): Selection {
  const pool = model.itemIds.flatMap((artifactVersionId, item) => {
    const tags = (model.itemKcs[item] ?? []).map((kc) => model.kcGuids[kc] ?? '');
    return change({ item, artifactVersionId, qtiIdentifier: `q-${item}`, tags, accessibility: [] }) ?? [];
  });
  const context = prepareSelection(model, pool, {
    scope: [0, 1],
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
  return selectItem(context, posterior, {
    runSeed: 'seed',
    sequence: used.length + 1,
    used,
    ...run,
  });
}

const itemOf = (selection: Selection): number | undefined =>
  selection.kind === 'selected' ? selection.item : undefined;

describe('selectItem', () => {
  it('takes the item that tells most', () => {
    expect(itemOf(select(fixture(6)))).toBe(0);
  });

  it('offers no item outside the pool, nor one used, excluded or hostile to a used one', () => {
    const model = fixture(6);
    expect(itemOf(select(model, {}, {}, (item) => (item.item === 0 ? undefined : item)))).toBe(1);
    expect(itemOf(select(model, { excludedItems: ['q-0', 'q-9'] }))).toBe(1);
    expect(itemOf(select(model, {}, { used: [0] }))).toBe(1);
    expect(itemOf(select(model, { enemySets: [['q-0', 'q-1']] }, { used: [0] }))).toBe(3);
  });

  it('leaves items that were met before aside while another is admitted, or for good [MA-113]', () => {
    const model = fixture(4);
    const met = (items: number[], priorUse?: 'avoid' | 'exclude', more: Partial<Constraints> = {}) =>
      itemOf(select(model, { ...(priorUse === undefined ? {} : { priorUse }), ...more }, { met: items }));
    expect(met([0, 1])).toBe(0);
    expect([met([0, 1], 'avoid'), met([0, 1], 'exclude')]).toEqual([2, 2]);
    expect([met([0, 1, 2, 3], 'avoid'), met([0, 1, 2, 3], 'exclude')]).toEqual([0, undefined]);
    // The only item on "a" that a minimum can have was met before: it comes when no slot is left for another.
    const minima = [{ guid: 'a', items: 1 }];
    expect(met([0, 2], 'avoid', { minima, maxItems: 2 })).toBe(1);
    expect(met([0, 2], 'avoid', { minima, maxItems: 1 })).toBe(0);
    expect(met([0, 2], 'exclude', { minima, maxItems: 1 })).toBe(1);
  });

  it('takes items that measure an unsettled KC first, by what they say of those, and any other only when there is none [MA-113]', () => {
    const model = fixture(6);
    const target = { selectionTarget: 'unsettled_components' } as const;
    expect(itemOf(select(model, {}, { unsettled: [1] }))).toBe(0);
    expect(itemOf(select(model, target, { unsettled: [0, 1] }))).toBe(0);
    expect(itemOf(select(model, target, { unsettled: [1] }))).toBe(1);
    expect(
      itemOf(select(model, { ...target, excludedItems: ['q-1', 'q-3', 'q-5'] }, { unsettled: [1] })),
    ).toBe(0);
    expect(itemOf(select(model, target, { unsettled: [] }))).toBe(0);
    // Coverage comes before: the one slot left is for the floor on "a".
    const floor = { minima: [{ guid: 'a', items: 1 }], maxItems: 1 };
    expect(itemOf(select(model, { ...target, ...floor }, { unsettled: [1] }))).toBe(0);
    // Prior use is looked at before.
    const avoid = { ...target, priorUse: 'avoid' } as const;
    expect(itemOf(select(model, avoid, { unsettled: [1], met: [1] }))).toBe(3);
    expect(itemOf(select(model, avoid, { unsettled: [1], met: [1, 3, 5] }))).toBe(0);
  });

  it('draws only among items that measure an unsettled KC, all of them when they are few', () => {
    const drawn = new Set(
      Array.from({ length: 40 }, (_, n) =>
        itemOf(
          select(
            fixture(4),
            { exposure: { method: 'randomesque', size: 3 }, selectionTarget: 'unsettled_components' },
            { runSeed: `seed ${n}`, unsettled: [1] },
          ),
        ),
      ),
    );
    expect(drawn).toEqual(new Set([1, 3]));
  });

  it('draws among items that were not met before [MA-113]', () => {
    const drawn = new Set(
      Array.from({ length: 40 }, (_, n) =>
        itemOf(
          select(
            fixture(6),
            { exposure: { method: 'randomesque', size: 3 }, priorUse: 'avoid' },
            { runSeed: `seed ${n}`, met: [0, 2] },
          ),
        ),
      ),
    );
    expect(drawn).toEqual(new Set([1, 3, 4]));
  });

  it('offers only items that carry every required accessibility tag', () => {
    const selection = select(fixture(6), { requiredAccessibility: ['speech', 'contrast'] }, {}, (item) => {
      return { ...item, accessibility: item.item === 4 ? ['contrast', 'speech', 'large'] : ['speech'] };
    });
    expect(itemOf(selection)).toBe(4);
  });

  it('keeps a maximum per tag, the lowest when a GUID has two', () => {
    const maxima = [
      { guid: 'a', items: 2 },
      { guid: 'a', items: 1 },
    ];
    expect(itemOf(select(fixture(6), { maxima }, { used: [1] }))).toBe(0);
    const second = select(fixture(6), { maxima }, { used: [1, 0] });
    expect(itemOf(second)).toBe(3);
  });

  it('turns to a minimum only when the slots left leave no choice', () => {
    const minima = [{ guid: 'b', items: 2 }];
    const model = fixture(6, (j) => (j % 2 === 0 ? 0.95 : 0.6));
    expect(itemOf(select(model, { minima, maxItems: 3 }))).toSatisfy((item: number) => item % 2 === 0);
    expect(itemOf(select(model, { minima, maxItems: 2 }))).toSatisfy((item: number) => item % 2 === 1);
  });

  it('lets a minimum that the pool cannot meet restrict nothing', () => {
    const minima = [
      { guid: 'absent', items: 1 },
      { guid: 'b', items: 4 },
    ];
    expect(itemOf(select(fixture(6), { minima, maxItems: 4 }))).toBe(0);
  });

  it('prefers a minimum in reach to half of one that is out of reach', () => {
    const minima = [
      { guid: 'a', items: 4 },
      { guid: 'b', items: 1 },
    ];
    expect(itemOf(select(fixture(6), { minima, maxItems: 1 }))).toBe(1);
  });

  it('leaves an item without any in-scope KC aside, unless it serves an unmet minimum', () => {
    expect(itemOf(select(fixture(6), { scope: [1] }))).toBe(1);
    expect(itemOf(select(fixture(1), { scope: [1] }))).toBeUndefined();
    expect(itemOf(select(fixture(6), { scope: [1], minima: [{ guid: 'a', items: 1 }] }))).toBe(0);
  });

  it('is exhausted with the pool and with maxItems', () => {
    const exhausted = (cause: string) => ({ kind: 'exhausted', cause });
    expect(select(fixture(2), {}, { used: [0, 1] })).toStrictEqual(exhausted('pool_exhausted'));
    expect(select(fixture(6), { maxItems: 2 }, { used: [0, 1] })).toStrictEqual(exhausted('max_items'));
    expect(select(fixture(6), {}, {}, () => undefined)).toStrictEqual(exhausted('pool_exhausted'));
    expect(select(fixture(1), { scope: [1] })).toStrictEqual(exhausted('pool_exhausted'));
    const maxima = ['a', 'b'].map((guid) => ({ guid, items: 1 }));
    expect(select(fixture(6), { maxima }, { used: [0, 1] })).toStrictEqual(exhausted('content_maxima'));
    expect(select(fixture(2), { maxima }, { used: [0, 1] })).toStrictEqual(exhausted('pool_exhausted'));
  });

  it('is exhausted by the component limit when each item left would tie too many KCs together', () => {
    const kcs = Array.from({ length: 13 }, (_, k) => ({ guid: `k${k}`, slope: 1, location: 0 }));
    const table = (size: number) =>
      Array.from({ length: 2 ** size }, (_, s) => (s + 1 === 2 ** size ? 0.9 : 0.1));
    const guids = kcs.map(({ guid }) => guid);
    const model = compileModel({
      theta: { nodes: 5, min: -2, max: 2, mean: 0, sd: 1 },
      kcs,
      items: [
        { id: 'v-0', kcs: guids.slice(0, 12), probabilities: table(12) },
        { id: 'v-1', kcs: guids.slice(11), probabilities: table(2) },
      ],
      scale: [1, 2, 3, 4, 5],
    });
    if (!model.ok) throw new Error('refused');
    const scope = kcs.map((_, k) => k);
    expect(select(model.value, { scope }, { used: [0] })).toStrictEqual({
      kind: 'exhausted',
      cause: 'component_limit',
    });
  });

  it('offers what tells less than the minimum gain only while a KC is unmeasured or a minimum is open [MA-114]', () => {
    const model = fixture(6);
    const all = { minimumGain: 10 };
    expect(itemOf(select(model, all))).toBe(0);
    expect(itemOf(select(model, all, { used: [0] }))).toBeDefined();
    expect(select(model, all, { used: [0, 1] })).toStrictEqual({
      kind: 'exhausted',
      cause: 'no_informative_item',
    });
    expect(itemOf(select(model, { minimumGain: 1e-6 }, { used: [0, 1] }))).toBeDefined();
    const open = { ...all, minima: [{ guid: 'a', items: 2 }] };
    expect(itemOf(select(model, open, { used: [0, 1] }))).toBeDefined();
    expect(itemOf(select(model, open, { used: [0, 1, 2] }))).toBeUndefined();
    // A minimum that the pool can no longer meet holds nothing up.
    const absent = { ...all, minima: [{ guid: 'absent', items: 1 }] };
    expect(itemOf(select(model, absent, { used: [0, 1] }))).toBeUndefined();
    // Out of scope, what is unmeasured does not count.
    expect(itemOf(select(model, { ...all, scope: [0] }, { used: [0] }))).toBeUndefined();
  });

  it('draws only among what tells enough', () => {
    const model = fixture(6);
    const best = select(model, {}, { used: [0, 1] });
    if (best.kind !== 'selected') throw new Error('exhausted');
    const drawn = Array.from({ length: 20 }, (_, i) =>
      itemOf(
        select(
          model,
          { minimumGain: best.gain, exposure: { method: 'randomesque', size: 4 } },
          { used: [0, 1], runSeed: `s-${i}` },
        ),
      ),
    );
    expect([...new Set(drawn)]).toStrictEqual([best.item]);
  });

  it('breaks ties by SHA-256 of seed and artifact version id', () => {
    // `printf seed-1v-0 | sha256sum` and so on: the smallest of the six is 03547091… for seed-1 and 1a7bd284… for seed-2.
    const twins = fixture(6, () => 0.9);
    expect(itemOf(select(twins, {}, { runSeed: 'seed-1' }))).toBe(4);
    expect(itemOf(select(twins, {}, { runSeed: 'seed-2' }))).toBe(2);
  });

  it('draws among the best from the run own stream: repeatable, spread over all of them and no others', () => {
    const model = fixture(6);
    const draws = Array.from({ length: 60 }, (_, i) => {
      const run = { runSeed: `seed-${i}` };
      const selection = select(model, { exposure: { method: 'randomesque', size: 3 } }, run);
      expect(select(model, { exposure: { method: 'randomesque', size: 3 } }, run)).toStrictEqual(selection);
      return itemOf(selection);
    });
    expect([...new Set(draws)].sort()).toStrictEqual([0, 1, 2]);
  });

  it('draws anew for each offer', () => {
    const model = fixture(6);
    const draws = Array.from({ length: 20 }, (_, i) =>
      itemOf(select(model, { exposure: { method: 'randomesque', size: 3 } }, { sequence: i + 1 })),
    );
    expect(new Set(draws).size).toBe(3);
  });

  it('starts a progressive test by chance alone, ends it by gain, and draws the same again', () => {
    const model = fixture(6);
    const exposure = { method: 'progressive' } as const;
    const shareOfBest = (used: readonly number[]): number => {
      const best = itemOf(select(model, {}, { used }));
      const same = Array.from({ length: 300 }, (_, i) => {
        const run = { used, runSeed: `seed-${i}` };
        const selection = select(model, { exposure, maxItems: 5 }, run);
        expect(select(model, { exposure, maxItems: 5 }, run)).toStrictEqual(selection);
        return Number(itemOf(selection) === best);
      });
      return same.reduce((sum, is) => sum + is, 0) / same.length;
    };
    const [first, middle, last] = [shareOfBest([]), shareOfBest([4, 5]), shareOfBest([4, 5, 3, 2])];
    // One in six, with room of four standard errors.
    expect(Math.abs(first - 1 / 6)).toBeLessThan(0.09);
    expect(middle).toBeGreaterThan(1 / 4);
    expect(last).toBeGreaterThan(middle);
    const first60 = Array.from({ length: 60 }, (_, i) =>
      itemOf(select(model, { exposure }, { runSeed: `seed-${i}` })),
    );
    expect(new Set(first60).size).toBe(6);
  });

  it('takes under progressive control what the gains of all items give, though it works out only some', () => {
    const model = fixture(300, (j) => 0.95 - ((j * 37) % 300) / 1000);
    const targets = [{}, { selectionTarget: 'unsettled_components' }] as const;
    for (const target of targets) {
      for (let offered = 0; offered < 10; offered += 1) {
        const used = Array.from({ length: offered }, (_, n) => 7 * n);
        const posterior = estimate(
          model,
          used.map((item) => ({ item, correct: true })),
        );
        const gains = new Float64Array(300);
        const eligible = gains.map((_, j) =>
          Number(!used.includes(j) && (j % 2 === 1 || !('selectionTarget' in target))),
        );
        model.core.informationGains(posterior, Uint8Array.from(eligible), gains, Infinity);
        const highest = Math.max(...gains.filter((gain) => !Number.isNaN(gain)));
        for (const runSeed of ['a', 'b', 'c', 'd', 'e']) {
          const next = stream(`progressive|${runSeed}|${offered + 1}`);
          const weights = gains.map((gain) => (1 - offered / 10) * next() * highest + (offered / 10) * gain);
          const most = Math.max(...weights.filter((weight) => !Number.isNaN(weight)));
          const run = { used, runSeed, unsettled: [1] };
          const selection = select(model, { exposure: { method: 'progressive' }, ...target }, run);
          expect(itemOf(selection)).toBe(weights.indexOf(most));
        }
      }
    }
  });

  it('lets ranked items pass by their own probability, those without one always, and takes the best when none passes', () => {
    const model = fixture(6);
    const chosen = (table: Record<string, number>, run: Partial<RunPosition> = {}) =>
      itemOf(
        select(
          model,
          { exposure: { method: 'sympson_hetter', probabilities: new Map(Object.entries(table)) } },
          run,
        ),
      );
    expect(chosen({})).toBe(0);
    expect(chosen({ 'q-0': 0 })).toBe(1);
    expect(chosen({ 'q-0': 0, 'q-1': 0, 'q-2': 1 })).toBe(2);
    expect(chosen(Object.fromEntries(model.itemIds.map((_, j) => [`q-${j}`, 0])))).toBe(0);
    const runs = Array.from({ length: 400 }, (_, i) => chosen({ 'q-0': 0.25 }, { runSeed: `seed-${i}` }));
    expect(new Set(runs)).toEqual(new Set([0, 1]));
    const share = runs.filter((item) => item === 0).length / runs.length;
    expect(Math.abs(share - 0.25)).toBeLessThan(0.09);
    // An item that failed stays aside for the whole run.
    const aside = runs.flatMap((item, i) => (item === 1 ? [`seed-${i}`] : []))[0]!;
    const later = [2, 3, 4, 5].map((sequence) => chosen({ 'q-0': 0.25 }, { runSeed: aside, sequence }));
    expect(new Set(later)).toEqual(new Set([1]));
  });

  it.each<Exposure>([
    { method: 'progressive' },
    { method: 'sympson_hetter', probabilities: new Map([0, 1, 2, 3, 4, 5].map((j) => [`q-${j}`, 0.3])) },
  ])('draws within the tier that decides: $method [MA-113]', (exposure) => {
    const drawn = (constraints: Partial<Constraints>, run: Partial<RunPosition>) =>
      new Set(
        Array.from({ length: 60 }, (_, n) =>
          itemOf(select(fixture(6), { exposure, ...constraints }, { runSeed: `seed ${n}`, ...run })),
        ),
      );
    const unsettled = { selectionTarget: 'unsettled_components' } as const;
    expect(drawn(unsettled, { unsettled: [1] })).toEqual(new Set([1, 3, 5]));
    expect(drawn({ priorUse: 'avoid' }, { met: [0, 2, 3, 5] })).toEqual(new Set([1, 4]));
    expect(drawn({ maxItems: 1, minima: [{ guid: 'a', items: 1 }] }, {})).toEqual(new Set([0, 2, 4]));
    expect(drawn({ enemySets: [['q-0', 'q-1', 'q-2', 'q-3']] }, { used: [0] })).toEqual(new Set([4, 5]));
  });

  it('works a pool with hundreds of minima off within its budget', () => {
    const kcs = Array.from({ length: 300 }, (_, k) => ({ guid: `k${k}`, slope: 1, location: 0 }));
    const items = Array.from({ length: 1200 }, (_, j) => ({
      id: `v-${j}`,
      kcs: [`k${j % 300}`],
      probabilities: [0.1, 0.9 - j / 10_000],
    }));
    const model = compileModel({
      theta: { nodes: 5, min: -2, max: 2, mean: 0, sd: 1 },
      kcs,
      items,
      scale: [1, 2, 3, 4, 5],
    });
    if (!model.ok) throw new Error('refused');
    const minima = kcs.map(({ guid }) => ({ guid, items: 2 }));
    const scope = kcs.map((_, k) => k);
    expect(select(model.value, { scope, minima, maxItems: 40 }).kind).toBe('selected');
  });
});
