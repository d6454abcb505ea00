import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import { roundSignificant } from '#shared/kernel/numbers.ts';
import { feasibilityOf } from './feasibility.ts';
import { compileModel, estimate } from './model.ts';
import type { CompiledModel } from './model.ts';
import { prepareSelection, selectItem } from './selection.ts';
import type { SelectionContext } from './selection.ts';
import { simulateRun } from './simulation.ts';

/**
 * Every rule of a policy at once against exhaustive search: all subsets of a small pool are judged by the definitions of the rules, and
 * from those that break none follows which items may come next, which of these is to be taken, and what a whole run must reach. Nothing
 * of the engine's filters, plans or orders is used.
 */

const TAGS = ['s-0', 's-1', 's-2'];
const KCS = 14;
const MOST_COMPONENT_KCS = 12;
/** KC sets that reach the limit of a component in some combinations, and pass it in others. */
const KC_SETS = [
  [0],
  [1, 2],
  [0, 1, 2, 3, 4, 5, 6],
  [6, 7, 8, 9, 10, 11],
  [6, 7, 8, 9, 10, 11, 12],
  [11, 12, 13],
  [12],
];

interface Rule {
  readonly guid: string;
  readonly items: number;
}

interface Case {
  readonly items: readonly {
    readonly kcs: readonly number[];
    readonly tags: readonly string[];
    readonly high: number;
    readonly accessibility: readonly string[];
  }[];
  readonly floors: readonly Rule[];
  readonly contentMinima: readonly Rule[];
  readonly maxima: readonly Rule[];
  readonly enemySets: readonly (readonly string[])[];
  readonly excludedItems: readonly string[];
  readonly requiredAccessibility: readonly string[];
  readonly scope: readonly number[];
  readonly maxItems: number;
  readonly exposure: { readonly method: 'randomesque'; readonly size: number };
}

/** A tag of a standard, or a KC: both are counted. */
const rule = (min: number, max: number): fc.Arbitrary<Rule> =>
  fc.record({
    guid: fc.constantFrom(...TAGS, ...TAGS, 'kc-0', 'kc-1', 'kc-12'),
    items: fc.integer({ min, max }),
  });

const caseOf = (mostItems: number): fc.Arbitrary<Case> =>
  fc.integer({ min: 1, max: 8 }).chain((count) => {
    const identifier = fc.integer({ min: 0, max: count - 1 }).map((j) => `q-${j}`);
    return fc.record({
      items: fc.array(
        fc.record({
          kcs: fc.constantFrom(...KC_SETS),
          tags: fc.subarray(TAGS),
          // Few values: equal gains must be told apart by hash.
          high: fc.constantFrom(0.7, 0.9),
          accessibility: fc.constantFrom([], ['speech'], ['speech', 'braille'], ['speech', 'braille']),
        }),
        { minLength: count, maxLength: count },
      ),
      floors: fc.array(rule(1, 3), { maxLength: 3 }),
      contentMinima: fc.array(rule(0, 2), { maxLength: 2 }),
      maxima: fc.array(rule(0, 2), { maxLength: 2 }),
      enemySets: fc.array(fc.uniqueArray(identifier, { minLength: 1, maxLength: 3 }), { maxLength: 2 }),
      excludedItems: fc.uniqueArray(identifier, { maxLength: 2 }),
      requiredAccessibility: fc.constantFrom([], [], ['speech'], ['braille', 'speech']),
      scope: fc.oneof(
        fc.constant(Array.from({ length: KCS }, (_, k) => k)),
        fc.subarray([0, 1, 6, 12, 13], { minLength: 1 }),
      ),
      maxItems: fc.integer({ min: 1, max: mostItems }),
      exposure: fc.constantFrom(1, 1, 2, 3).map((size) => ({ method: 'randomesque' as const, size })),
    });
  });

function contextOf(value: Case): SelectionContext {
  const model = compile(value);
  return prepareSelection(
    model,
    value.items.map(({ accessibility }, item) => ({
      item,
      artifactVersionId: `a-${item}`,
      qtiIdentifier: `q-${item}`,
      tags: tagsOf(value, item),
      accessibility,
    })),
    { ...value, minima: minimaOf(value) },
  );
}

function compile({ items }: Case): CompiledModel {
  const model = compileModel({
    theta: { nodes: 3, min: -1, max: 1, mean: 0, sd: 1 },
    kcs: Array.from({ length: KCS }, (_, k) => ({ guid: `kc-${k}`, slope: 1, location: (k - 7) / 10 })),
    items: items.map(({ kcs, high }, j) => ({
      id: `a-${j}`,
      kcs: kcs.map((k) => `kc-${k}`),
      probabilities: Array.from({ length: 2 ** kcs.length }, (_, s) =>
        s === 2 ** kcs.length - 1 ? high : 0.2,
      ),
    })),
    scale: [1, 2, 3],
  });
  if (!model.ok) throw new Error(JSON.stringify(model.error));
  return model.value;
}

const minimaOf = ({ floors, contentMinima }: Case): readonly Rule[] => [...floors, ...contentMinima];
const tagsOf = ({ items }: Case, j: number): readonly string[] => [
  ...items[j]!.kcs.map((k) => `kc-${k}`),
  ...items[j]!.tags,
];

/** The rules that a set of used items breaks, each from its definition. */
function broken(value: Case, set: readonly number[]): readonly string[] {
  const carrying = (guid: string): number => set.filter((j) => tagsOf(value, j).includes(guid)).length;
  const named = set.map((j) => `q-${j}`);
  const rules: Readonly<Record<string, boolean>> = {
    length: set.length > value.maxItems,
    accessibility: set.some((j) =>
      value.requiredAccessibility.some((tag) => !value.items[j]!.accessibility.includes(tag)),
    ),
    exclusion: named.some((name) => value.excludedItems.includes(name)),
    enemies: value.enemySets.some((enemies) => named.filter((name) => enemies.includes(name)).length > 1),
    maximum: value.maxima.some(({ guid, items }) => carrying(guid) > items),
    component: largestComponent(set.map((j) => value.items[j]!.kcs)) > MOST_COMPONENT_KCS,
  };
  return Object.keys(rules).filter((name) => rules[name]);
}

/** KCs of the largest component, by spreading one label over whatever an item ties together until nothing changes. */
function largestComponent(sets: readonly (readonly number[])[]): number {
  const label = Array.from({ length: KCS }, (_, k) => k);
  for (let changed = true; changed;) {
    changed = false;
    for (const kcs of sets) {
      const lowest = Math.min(...kcs.map((k) => label[k]!));
      for (const k of kcs) {
        if (label[k] === lowest) continue;
        label[k] = lowest;
        changed = true;
      }
    }
  }
  const touched = new Set(sets.flat());
  return Math.max(
    0,
    ...label.map((root) => label.filter((other, k) => other === root && touched.has(k)).length),
  );
}

/** A set of items that breaks no rule, and which minima it meets, both as bits. */
interface Sound {
  readonly set: number;
  readonly met: number;
}

/** Every set of the pool's items that breaks no rule. */
function soundSets(value: Case): readonly Sound[] {
  const minima = minimaOf(value);
  const sets: Sound[] = [];
  for (let set = 0; set < 2 ** value.items.length; set += 1) {
    const items = value.items.map((_, j) => j).filter((j) => holds(set, j));
    if (broken(value, items).length > 0) continue;
    const met = minima.reduce((bits, { guid, items: wanted }, m) => {
      const count = items.filter((j) => tagsOf(value, j).includes(guid)).length;
      return count >= wanted ? bits | (1 << m) : bits;
    }, 0);
    sets.push({ set, met });
  }
  return sets;
}

const holds = (bits: number, n: number): boolean => ((bits >> n) & 1) === 1;
const within = (bits: number, others: number): boolean => (bits & ~others) === 0;
const size = (bits: number): number => bits.toString(2).replaceAll('0', '').length;
const bitsOf = (items: readonly number[]): number => items.reduce((bits, j) => bits | (1 << j), 0);

/** The largest sets of minima that can be met together when these items are used; one of them must stay within reach. */
function plans(sound: readonly Sound[], used: number): readonly number[] {
  const reachable = sound.filter(({ set }) => within(used, set)).map(({ met }) => met);
  const most = Math.max(...reachable.map(size));
  return [...new Set(reachable.filter((met) => size(met) === most))];
}

/** The items that may come next while the planned minima stay within reach. */
function admissible(
  value: Case,
  sound: readonly Sound[],
  used: readonly number[],
  plan: number,
): readonly number[] {
  const minima = minimaOf(value);
  const serves = (j: number): boolean =>
    minima.some(({ guid, items }) => {
      const count = used.filter((other) => tagsOf(value, other).includes(guid)).length;
      return count < items && tagsOf(value, j).includes(guid);
    });
  return value.items
    .map((_, j) => j)
    .filter((j) => {
      if (used.includes(j)) return false;
      const next = bitsOf([...used, j]);
      return (
        sound.some(({ set, met }) => within(next, set) && within(plan, met)) &&
        (value.items[j]!.kcs.some((kc) => value.scope.includes(kc)) || serves(j))
      );
    });
}

interface Ranked {
  readonly item: number;
  readonly gain: number;
}

/** The order of items: gain to 12 digits, SHA-256 of seed and artifact version id. */
function inOrder(gains: Float64Array, items: readonly number[], runSeed: string): readonly Ranked[] {
  return items
    .map((item) => ({
      item,
      gain: roundSignificant(gains[item]!, 12),
      hash: sha256Hex(`${runSeed}a-${item}`),
    }))
    .sort((a, b) => b.gain - a.gain || (a.hash < b.hash ? -1 : 1))
    .map(({ item, gain }) => ({ item, gain }));
}

/** One of the k best, by the run's own stream. */
function drawn(ranked: readonly Ranked[], k: number, runSeed: string, sequence: number): Ranked | undefined {
  const best = ranked.slice(0, k);
  const stream = sha256Hex(`randomesque|${runSeed}|${sequence}`).slice(0, 12);
  return best[best.length > 1 ? Number(BigInt(`0x${stream}`) % BigInt(best.length)) : 0];
}

const GROUP = Array.from({ length: 9 }, (_, m) => m);

const seeds = fc.string({ minLength: 1, maxLength: 8 });

describe('every selection under every rule at once', () => {
  it('takes the best of the items that the definitions admit, and nothing only when they admit none', () => {
    /** How often each rule alone stood against an item, so that the property cannot hold for want of cases. */
    const stood = new Map<string, number>();
    const count = (what: string): void => void stood.set(what, (stood.get(what) ?? 0) + 1);
    fc.assert(
      fc.property(caseOf(6), seeds, fc.nat(255), (value, runSeed, answers) => {
        const context = contextOf(value);
        const sound = soundSets(value);
        const used: number[] = [];
        for (;;) {
          const posterior = estimate(
            context.model,
            used.map((item, step) => ({ item, correct: holds(answers, step) })),
          );
          const sequence = used.length + 1;
          const selection = selectItem(context, posterior, { used, runSeed, sequence });
          const gains = new Float64Array(value.items.length);
          context.model.core.informationGains(
            posterior,
            new Uint8Array(gains.length).fill(1),
            gains,
            Infinity,
          );
          const admitted = plans(sound, bitsOf(used)).map((plan) => admissible(value, sound, used, plan));
          const expected = admitted.map((items) => {
            const pick = drawn(inOrder(gains, items, runSeed), value.exposure.size, runSeed, sequence);
            return pick === undefined ? { kind: 'exhausted' } : { kind: 'selected', ...pick };
          });
          // Where not all minima can be met, it is the engine's choice which of them to keep.
          expect(expected).toContainEqual(selection.kind === 'exhausted' ? { kind: 'exhausted' } : selection);

          for (const j of value.items.keys()) {
            if (used.includes(j)) continue;
            const rules = broken(value, [...used, j]);
            if (rules.length === 1) count(rules[0]!);
            if (rules.length === 0 && !admitted.flat().includes(j)) count('reach or scope');
          }
          if (admitted.length > 1) count('several plans');
          if (size(plans(sound, bitsOf(used))[0]!) < minimaOf(value).length) count('out of reach');
          if (selection.kind === 'exhausted') {
            if (sequence <= value.maxItems) count('exhausted early');
            expect(admitted.flat()).toEqual([]);
            break;
          }
          if (!value.items[selection.item]!.kcs.some((kc) => value.scope.includes(kc))) count('out of scope');
          if (inOrder(gains, admitted[0]!, runSeed).filter(({ gain }) => gain === selection.gain).length > 1)
            count('tie');
          used.push(selection.item);
        }
      }),
      { numRuns: 1000 },
    );
    for (const what of [
      ...['length', 'accessibility', 'exclusion', 'enemies', 'maximum', 'component', 'reach or scope'],
      ...['out of reach', 'out of scope', 'exhausted early', 'tie'],
    ])
      expect(stood.get(what) ?? 0, what).toBeGreaterThan(10);
    expect(stood.get('several plans')).toBeGreaterThan(0);
  });
});

const stopping = fc.record({
  kcCutScore: fc.constantFrom(0.5, 0.7),
  confidenceThreshold: fc.constantFrom(0.5, 0.6, 0.9),
  precisionTarget: fc.constantFrom(1e-9, 0.5, 0.9),
});

describe('whole runs, whatever the answers', () => {
  it('meet all that could be met at the start, break no rule, and end for want of items only when there are none', () => {
    const ended = new Map<string, number>();
    fc.assert(
      fc.property(caseOf(4), stopping, seeds, (value, rules, runSeed) => {
        const context = contextOf(value);
        const sound = soundSets(value);
        const minima = minimaOf(value);
        const atStart = Math.max(...sound.map(({ met }) => size(met)));
        // Every way in which as many answers can turn out.
        for (let answers = 0; answers < 2 ** value.maxItems; answers += 1) {
          let step = 0;
          const { evidence, stopReason } = simulateRun(
            context,
            { ...rules, numericPrecision: 12, coverageFloors: value.floors, timeBudgetSeconds: null },
            runSeed,
            () => holds(answers, step++),
          );
          ended.set(stopReason, (ended.get(stopReason) ?? 0) + 1);
          const used = evidence.outcomes.map(({ item }) => item);
          expect(new Set(used).size).toBe(used.length);
          expect(broken(value, used)).toEqual([]);
          const meets = ({ guid, items }: Rule): boolean =>
            used.filter((j) => tagsOf(value, j).includes(guid)).length >= items;
          switch (stopReason) {
            case 'max_items': {
              expect(minima.filter(meets)).toHaveLength(atStart);
              const left = plans(sound, bitsOf(used)).flatMap((plan) => admissible(value, sound, used, plan));
              expect(left).toEqual([]);
              break;
            }
            case 'precision_target_met':
              expect(value.floors.filter((floor) => !meets(floor))).toEqual([]);
              expect(evidence.remainingUncertainty).toBeLessThanOrEqual(rules.precisionTarget + 1e-11);
              break;
            case 'classifications_complete':
              expect(evidence.classifications).not.toContain('not_yet');
              break;
            case 'time_budget':
              expect.unreachable('there is no budget');
          }
        }
      }),
      { numRuns: 400 },
    );
    for (const reason of ['max_items', 'precision_target_met', 'classifications_complete'])
      expect(ended.get(reason) ?? 0, reason).toBeGreaterThan(10);
  });
});

describe('what a pool can do for a policy', () => {
  it('names each minimum that no set of items meets, and others, none of them for nothing, that keep one from being met', () => {
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(caseOf(6), (value) => {
        const sound = soundSets(value);
        const minima = minimaOf(value);
        const meetable = (wanted: readonly number[]): boolean =>
          sound.some(({ met }) => within(bitsOf(wanted), met));
        const { unmeetable, undecided } = feasibilityOf(contextOf(value));
        expect(undecided).toEqual([]);
        const named = unmeetable.map(({ minimum }) => minimum);
        expect(named).toEqual([...new Set(named)].toSorted((a, b) => a - b));
        expect(meetable([...minima.keys()].filter((m) => !named.includes(m)))).toBe(true);
        for (const { minimum, cause, items, others } of unmeetable) {
          seen.set(cause, (seen.get(cause) ?? 0) + 1);
          const { guid, items: wanted } = minima[minimum]!;
          const offered = value.items.filter(
            (_, j) => tagsOf(value, j).includes(guid) && broken(value, [j]).length === 0,
          );
          expect(items).toBe(offered.length);
          expect(cause === 'items').toBe(items < wanted);
          expect(meetable([minimum])).toBe(cause === 'together');
          expect(others.length > 0).toBe(cause === 'together');
          if (cause !== 'together') continue;
          expect(others.filter((other) => named.includes(other) || other >= minimum)).toEqual([]);
          expect(meetable(others)).toBe(true);
          expect(meetable([...others, minimum])).toBe(false);
          for (const other of others) {
            expect(meetable([...others.filter((one) => one !== other), minimum])).toBe(true);
          }
        }
      }),
      { numRuns: 4000 },
    );
    for (const cause of ['items', 'conditions', 'together'])
      expect(seen.get(cause) ?? 0, cause).toBeGreaterThan(5);
  });

  it('leaves open what a search of bounded work does not settle', () => {
    // Nine items that serve two minima each would meet all 18, but no item crosses from the first nine minima to the others, and nine is odd.
    const items = GROUP.flatMap((a) =>
      GROUP.filter((b) => b > a).flatMap((b) =>
        ['m', 'n'].map((side) => ({
          kcs: [0],
          tags: [`${side}-${a}`, `${side}-${b}`],
          high: 0.9,
          accessibility: [],
        })),
      ),
    );
    const value: Case = {
      items,
      floors: ['m', 'n'].flatMap((side) => GROUP.map((a) => ({ guid: `${side}-${a}`, items: 1 }))),
      contentMinima: [],
      maxima: [],
      enemySets: [],
      excludedItems: [],
      requiredAccessibility: [],
      scope: [0],
      maxItems: 9,
      exposure: { method: 'randomesque', size: 1 },
    };
    const { unmeetable, undecided } = feasibilityOf(contextOf(value));
    expect(unmeetable).toEqual([]);
    expect(undecided.length).toBeGreaterThan(0);
  });
});
