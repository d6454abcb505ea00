import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import { roundSignificant } from '#shared/kernel/numbers.ts';
import { stream } from '#shared/kernel/random-stream.ts';
import type { Exposure } from './exposure.ts';
import { compileModel, estimate } from './model.ts';
import type { CompiledModel } from './model.ts';
import { prepareSelection, selectItem } from './selection.ts';
import type { Constraints, PoolItem } from './selection.ts';

const TAGS = ['s-0', 's-1', 's-2', 's-3'];
/** KC sets whose unions pass the limit of 12 KCs in some combinations. */
const KC_SETS = [[0], [1, 2], [0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11], [5, 6], [11, 12, 13], [12]];

interface Case {
  readonly items: readonly {
    readonly kcs: readonly number[];
    readonly tags: readonly string[];
    readonly high: number;
  }[];
  readonly minima: readonly { readonly guid: string; readonly items: number }[];
  readonly maxima: readonly { readonly guid: string; readonly items: number }[];
  readonly enemySets: readonly (readonly string[])[];
  readonly maxItems: number;
  readonly exposure: Exposure;
}

const rule = (max: number): fc.Arbitrary<Case['minima'][number]> =>
  fc.record({ guid: fc.constantFrom(...TAGS), items: fc.integer({ min: 0, max }) });

const exposures = (sizes: readonly number[]): fc.Arbitrary<Exposure> =>
  fc.oneof(
    fc.constantFrom(...sizes).map((size) => ({ method: 'randomesque' as const, size })),
    fc.constant({ method: 'progressive' as const }),
    fc
      .dictionary(
        fc.nat(9).map((j) => `q-${j}`),
        fc.constantFrom(0, 0.2, 0.6, 1),
      )
      .map((table) => ({
        method: 'sympson_hetter' as const,
        probabilities: new Map(Object.entries(table)),
      })),
  );

const cases: fc.Arbitrary<Case> = fc.integer({ min: 1, max: 8 }).chain((count) =>
  fc.record({
    items: fc.array(
      fc.record({
        kcs: fc.constantFrom(...KC_SETS),
        tags: fc.subarray(TAGS),
        high: fc.constantFrom(0.6, 0.7, 0.8, 0.9),
      }),
      { minLength: count, maxLength: count },
    ),
    minima: fc.array(rule(3), { maxLength: 4 }),
    maxima: fc.array(rule(3), { maxLength: 2 }),
    enemySets: fc.array(
      fc.uniqueArray(
        fc.integer({ min: 0, max: count - 1 }).map((j) => `q-${j}`),
        { minLength: 1, maxLength: 3 },
      ),
      { maxLength: 2 },
    ),
    maxItems: fc.integer({ min: 1, max: 5 }),
    exposure: exposures([1, 1, 2, 3]),
  }),
);

function compile({ items }: Case): CompiledModel {
  const model = compileModel({
    theta: { nodes: 3, min: -1, max: 1, mean: 0, sd: 1 },
    kcs: Array.from({ length: 14 }, (_, k) => ({ guid: `kc-${k}`, slope: 1, location: (k - 7) / 10 })),
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

/** The sets of items that break no rule, from the definitions of the rules. */
function feasible(value: Case, set: readonly number[]): boolean {
  if (set.length > value.maxItems) return false;
  if (value.enemySets.some((enemies) => set.filter((j) => enemies.includes(`q-${j}`)).length > 1))
    return false;
  const carrying = (tag: string): number => set.filter((j) => value.items[j]!.tags.includes(tag)).length;
  if (value.maxima.some(({ guid, items }) => carrying(guid) > items)) return false;
  // Components by repeated merging of overlapping KC sets.
  let parts = set.map((j) => new Set(value.items[j]!.kcs));
  for (;;) {
    const overlap = parts.flatMap((a, i) =>
      parts
        .slice(i + 1)
        .filter((b) => [...a].some((kc) => b.has(kc)))
        .map((b) => [a, b]),
    )[0];
    if (overlap === undefined) break;
    const [a, b] = overlap as [Set<number>, Set<number>];
    parts = [...parts.filter((part) => part !== a && part !== b), new Set([...a, ...b])];
  }
  return parts.every((part) => part.size <= 12);
}

/** The most minima that any feasible set with these items in it meets. */
function mostMet(value: Case, used: readonly number[]): number {
  let most = -1;
  for (let code = 0; code < 2 ** value.items.length; code += 1) {
    const set = value.items.map((_, j) => j).filter((j) => Math.floor(code / 2 ** j) % 2 === 1);
    if (!used.every((j) => set.includes(j)) || !feasible(value, set)) continue;
    const met = value.minima.filter(({ guid, items }) => {
      return set.filter((j) => value.items[j]!.tags.includes(guid)).length >= items;
    }).length;
    most = Math.max(most, met);
  }
  return most;
}

describe('selection against brute force over every set of a small pool', () => {
  it('keeps every rule under every exposure control, never gives up a minimum that could be met, takes a gain among the best that this leaves, and does so again', () => {
    let restricted = 0;
    fc.assert(
      fc.property(cases, fc.string({ minLength: 1 }), (value, runSeed) => {
        const model = compile(value);
        const pool: PoolItem[] = value.items.map(({ tags }, item) => ({
          item,
          artifactVersionId: `a-${item}`,
          qtiIdentifier: `q-${item}`,
          tags,
          accessibility: [],
        }));
        const constraints: Constraints = {
          scope: model.kcGuids.map((_, k) => k),
          maxItems: value.maxItems,
          requiredAccessibility: [],
          enemySets: value.enemySets,
          excludedItems: [],
          minima: value.minima,
          maxima: value.maxima,
          exposure: value.exposure,
        };
        const context = prepareSelection(model, pool, constraints);
        const used: number[] = [];
        for (;;) {
          const posterior = estimate(
            model,
            used.map((item) => ({ item, correct: item % 2 === 0 })),
          );
          const position = { used, runSeed, sequence: used.length + 1 };
          const selection = selectItem(context, posterior, position);
          expect(selectItem(context, posterior, position)).toStrictEqual(selection);
          const open = pool
            .map(({ item }) => item)
            .filter((item) => !used.includes(item) && feasible(value, [...used, item]));
          if (selection.kind === 'exhausted') {
            expect(open).toStrictEqual([]);
            break;
          }
          expect(open).toContain(selection.item);
          const before = mostMet(value, used);
          expect(mostMet(value, [...used, selection.item])).toBe(before);

          // With all minima within reach there is one answer to which items are admitted, and so to which gains may be chosen.
          if (before === value.minima.length) {
            const gains = new Float64Array(pool.length);
            model.core.informationGains(posterior, new Uint8Array(pool.length).fill(1), gains, Infinity);
            const admitted = open.filter((item) => mostMet(value, [...used, item]) === before);
            if (admitted.length < open.length) restricted += 1;
            const ranked = admitted.map((item) => roundSignificant(gains[item]!, 12)).sort((a, b) => b - a);
            const { exposure } = value;
            if (exposure.method === 'randomesque')
              expect(selection.gain).toBeGreaterThanOrEqual(
                ranked[Math.min(exposure.size, ranked.length) - 1]!,
              );
            expect(selection.gain).toBe(roundSignificant(gains[selection.item]!, 12));
          }
          used.push(selection.item);
        }
      }),
      { numRuns: 500 },
    );
    // Otherwise nothing above has put reachability to the test.
    expect(restricted).toBeGreaterThan(20);
  });
});

/** Pools of up to 60 items, many of them equal, without minima: a plain reading of the other rules answers at once. */
const withoutMinima = fc.record({
  items: fc.array(
    fc.record({
      kcs: fc.constantFrom(...KC_SETS),
      tags: fc.subarray(TAGS),
      high: fc.constantFrom(0.6, 0.7, 0.8, 0.9),
    }),
    { minLength: 1, maxLength: 60 },
  ),
  maxima: fc.array(rule(6), { maxLength: 2 }),
  enemySets: fc.array(
    fc.uniqueArray(
      fc.nat(59).map((j) => `q-${j}`),
      { minLength: 1, maxLength: 6 },
    ),
    { maxLength: 3 },
  ),
  maxItems: fc.integer({ min: 1, max: 15 }),
  exposure: exposures([1, 2, 5, 70]),
  scope: fc.subarray(
    Array.from({ length: 14 }, (_, k) => k),
    { minLength: 1 },
  ),
});

/** A number below 2^48 from the hash of a text. */
const drawOf = (text: string): bigint => BigInt(`0x${sha256Hex(text).slice(0, 12)}`);

interface Candidate {
  readonly item: number;
  /** As computed, before it is rounded. */
  readonly exact: number;
  readonly gain: number;
  readonly hash: string;
}

const byHash = (a: Candidate, b: Candidate): number => (a.hash < b.hash ? -1 : 1);

/** What exposure control takes of the items that are left, which are in the order of their gains. */
function exposed(
  ranked: readonly Candidate[],
  { exposure, maxItems, items }: Case,
  runSeed: string,
  used: number,
): Candidate | undefined {
  if (exposure.method === 'sympson_hetter') {
    const passes = ({ item }: Candidate): boolean =>
      Number(drawOf(`sympson_hetter|${runSeed}|a-${item}`)) <
      (exposure.probabilities.get(`q-${item}`) ?? 1) * 2 ** 48;
    return ranked.find(passes) ?? ranked[0];
  }
  if (exposure.method === 'progressive') {
    const next = stream(`progressive|${runSeed}|${used + 1}`);
    const draws = items.map(() => next());
    const highest = Math.max(...ranked.map(({ exact }) => exact));
    const share = used / maxItems;
    const weightOf = ({ item, exact }: Candidate): number =>
      roundSignificant((1 - share) * draws[item]! * highest + share * exact, 12);
    return ranked.toSorted((a, b) => weightOf(b) - weightOf(a) || byHash(a, b))[0];
  }
  const best = ranked.slice(0, exposure.size);
  return best[
    best.length > 1 ? Number(drawOf(`randomesque|${runSeed}|${used + 1}`) % BigInt(best.length)) : 0
  ];
}

describe('selection against a plain reading of its rules', () => {
  it('takes the same item at every step: filters, scope, rounded gain, draw, hash', () => {
    fc.assert(
      fc.property(withoutMinima, fc.string({ minLength: 1 }), (drawn, runSeed) => {
        const value: Case = { ...drawn, minima: [] };
        const model = compile(value);
        const context = prepareSelection(
          model,
          value.items.map(({ tags }, item) => ({
            item,
            artifactVersionId: `a-${item}`,
            qtiIdentifier: `q-${item}`,
            tags,
            accessibility: [],
          })),
          {
            ...value,
            scope: drawn.scope,
            requiredAccessibility: [],
            excludedItems: ['q-2'],
          },
        );
        const used: number[] = [];
        for (;;) {
          const posterior = estimate(
            model,
            used.map((item) => ({ item, correct: item % 3 > 0 })),
          );
          const gains = new Float64Array(value.items.length);
          model.core.informationGains(posterior, new Uint8Array(gains.length).fill(1), gains, Infinity);
          const ranked = [...gains.keys()]
            .filter(
              (item) =>
                item !== 2 &&
                !used.includes(item) &&
                value.items[item]!.kcs.some((kc) => drawn.scope.includes(kc)) &&
                feasible(value, [...used, item]),
            )
            .map((item) => ({
              item,
              exact: gains[item]!,
              gain: roundSignificant(gains[item]!, 12),
              hash: sha256Hex(`${runSeed}a-${item}`),
            }))
            .sort((a, b) => b.gain - a.gain || byHash(a, b));
          const expected = exposed(ranked, value, runSeed, used.length);
          const selection = selectItem(context, posterior, {
            used,
            runSeed,
            sequence: used.length + 1,
          });
          if (expected === undefined) {
            expect(selection.kind).toBe('exhausted');
            break;
          }
          expect(selection).toStrictEqual({ kind: 'selected', item: expected.item, gain: expected.gain });
          used.push(expected.item);
        }
      }),
      { numRuns: 200 },
    );
  });
});
