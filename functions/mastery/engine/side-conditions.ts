import { integerAt } from './kernels/ho-cdm-grid-1/arrays.ts';
import type { CompiledModel } from './model.ts';

/** Lists of indices, by the index of what they belong to. */
type Lists = readonly (readonly number[])[];

/** What forbids that items are used together, laid out by model item. */
export interface SideConditions {
  readonly kcs: Lists;
  /** The items with several KCs: no other one ties any together. */
  readonly spanning: readonly number[];
  readonly kcCount: number;
  /** The most KCs that one component may hold. */
  readonly componentLimit: number;
  /** The enemy sets that hold the item. */
  readonly enemySets: Lists;
  readonly enemies: Lists;
  /** The tags of the item that have a maximum, each once. */
  readonly capped: Lists;
  readonly maxima: readonly number[];
  /** For each tag with a maximum, the items with it. */
  readonly itemsByCap: Lists;
}

/**
 * Lays side conditions out. Items are model indices.
 * @param enemySets sets of which one item may be used
 * @param caps items that share a tag, and how many of them may be used
 */
export function sideConditions(
  { itemKcs, itemIds, kcGuids, kernel }: CompiledModel,
  enemySets: Lists,
  caps: readonly { readonly items: readonly number[]; readonly maximum: number }[],
): SideConditions {
  const itemsByCap = caps.map(({ items }) => items);
  return {
    kcs: itemKcs,
    spanning: [...itemKcs.keys()].filter((item) => (itemKcs[item]?.length ?? 0) > 1),
    kcCount: kcGuids.length,
    componentLimit: kernel.maximumComponentKcs,
    enemySets: membershipOf(itemIds.length, enemySets),
    enemies: enemySets,
    capped: membershipOf(itemIds.length, itemsByCap),
    maxima: caps.map(({ maximum }) => maximum),
    itemsByCap,
  };
}

/** For each item, the indices of the sets that hold it, ascending. */
export function membershipOf(count: number, sets: Lists): number[][] {
  const membership: number[][] = Array.from({ length: count }, () => []);
  sets.forEach((set, index) => {
    for (const item of new Set(set)) membership[item]?.push(index);
  });
  return membership;
}

/** Items that are used or planned, and what that leaves room for. Items are added and taken back like a stack. */
export interface Usage {
  readonly add: (item: number) => void;
  /** Takes back the item that was added last. */
  readonly removeLast: () => void;
  /** Whether one more item may be used: no enemies, maxima kept, components small enough. */
  readonly fits: (item: number) => boolean;
  /** Whether an item surely fits once another, which was added, is taken away. */
  readonly fitsInPlaceOf: (item: number, other: number) => boolean;
  /** Writes 0 for every item that does not fit. */
  readonly bar: (candidates: Uint8Array) => void;
}

/** Components are sets of KCs that items tie together, kept as a forest that can be taken apart again in reverse order. */
export function usageOf(conditions: SideConditions, used: Iterable<number>): Usage {
  const { kcs, enemySets, capped, maxima, componentLimit } = conditions;
  const parent = new Int32Array(conditions.kcCount).map((_, kc) => kc);
  const sizes = new Int32Array(conditions.kcCount).fill(1);
  const hostile = new Int32Array(conditions.enemies.length);
  const counts = new Int32Array(maxima.length);
  /** Roots that have come under another one, in order; and how many there were before each item that was added. */
  const joined: number[] = [];
  const marks: number[] = [];
  const added: number[] = [];

  const rootOf = (kc: number): number => {
    let root = kc;
    for (let next = integerAt(parent, root); next !== root; next = integerAt(parent, root)) root = next;
    return root;
  };
  const add = (item: number): void => {
    added.push(item);
    marks.push(joined.length);
    shift(hostile, enemySets[item], 1);
    shift(counts, capped[item], 1);
    const own = kcs[item] ?? [];
    for (const kc of own) {
      const a = rootOf(own[0] ?? kc);
      const b = rootOf(kc);
      if (a === b) continue;
      const [upper, lower] = integerAt(sizes, a) < integerAt(sizes, b) ? [b, a] : [a, b];
      parent[lower] = upper;
      sizes[upper] = integerAt(sizes, upper) + integerAt(sizes, lower);
      joined.push(lower);
    }
  };
  const removeLast = (): void => {
    const item = added.pop();
    const mark = marks.pop();
    if (item === undefined || mark === undefined) throw new RangeError('removeLast: nothing was added');
    shift(hostile, enemySets[item], -1);
    shift(counts, capped[item], -1);
    while (joined.length > mark) {
      const lower = joined.pop() ?? 0;
      const upper = integerAt(parent, lower);
      sizes[upper] = integerAt(sizes, upper) - integerAt(sizes, lower);
      parent[lower] = lower;
    }
  };
  /** Whether the component that the item would make is within the limit. */
  const fitsComponents = (item: number): boolean => {
    const own = kcs[item] ?? [];
    // An item with one KC ties nothing together.
    if (own.length < 2) return true;
    let size = 0;
    for (const root of new Set(own.map(rootOf))) size += integerAt(sizes, root);
    return size <= componentLimit;
  };
  /** Whether no enemy set and no maximum bars the item, with `without` taken away. */
  const fitsSets = (item: number, without?: number): boolean => {
    const frees = (lists: Lists, n: number): number =>
      Number(without !== undefined && lists[without]?.includes(n) === true);
    for (const set of enemySets[item] ?? [])
      if (integerAt(hostile, set) > frees(enemySets, set)) return false;
    for (const cap of capped[item] ?? [])
      if (integerAt(counts, cap) - frees(capped, cap) >= (maxima[cap] ?? 0)) return false;
    return true;
  };
  for (const item of used) add(item);
  return {
    add,
    removeLast,
    fits: (item) => fitsSets(item) && fitsComponents(item),
    fitsInPlaceOf: (item, other) => fitsSets(item, other) && fitsComponents(item),
    bar: (candidates) => {
      hostile.forEach((count, set) => {
        if (count > 0) for (const enemy of conditions.enemies[set] ?? []) candidates[enemy] = 0;
      });
      counts.forEach((count, cap) => {
        if (count < (maxima[cap] ?? 0)) return;
        for (const item of conditions.itemsByCap[cap] ?? []) candidates[item] = 0;
      });
      // Only an item that could join components beyond the limit is looked at closely.
      const largest = sizes.reduce((a, b) => Math.max(a, b), 1);
      for (const item of conditions.spanning) {
        const length = kcs[item]?.length ?? 0;
        if (length * largest > componentLimit && candidates[item] === 1 && !fitsComponents(item))
          candidates[item] = 0;
      }
    },
  };
}

function shift(counts: Int32Array, indices: readonly number[] = [], by: number): void {
  for (const index of indices) counts[index] = integerAt(counts, index) + by;
}
