import type { CompiledModel } from './model.ts';

/** For each index a short list of integers: those of n are values[start[n]] up to values[start[n + 1] - 1]. */
export interface Lists {
  readonly start: Int32Array;
  readonly values: Int32Array;
}

function listsOf(lists: readonly (readonly number[])[]): Lists {
  const start = new Int32Array(lists.length + 1);
  lists.forEach((list, n) => (start[n + 1] = (start[n] ?? 0) + list.length));
  return { start, values: Int32Array.from(lists.flat()) };
}

/** What forbids that items are used together, laid out by model item. */
export interface SideConditions {
  readonly kcs: Lists;
  /** The items with several KCs: no other one ties any together. */
  readonly spanning: Int32Array;
  readonly kcCount: number;
  /** The most KCs that one component may hold. */
  readonly componentLimit: number;
  /** The enemy sets that hold the item. */
  readonly enemySets: Lists;
  readonly enemies: readonly Int32Array[];
  /** The tags of the item that have a maximum, each once. */
  readonly capped: Lists;
  readonly maxima: Int32Array;
  /** For each tag with a maximum, the items with it. */
  readonly itemsByCap: readonly Int32Array[];
}

/**
 * Lays side conditions out. Items are model indices.
 * @param enemySets sets of which one item may be used
 * @param caps items that share a tag, and how many of them may be used
 */
export function sideConditions(
  model: CompiledModel,
  enemySets: readonly (readonly number[])[],
  caps: readonly { readonly items: readonly number[]; readonly maximum: number }[],
): SideConditions {
  return {
    kcs: listsOf(model.itemKcs),
    spanning: Int32Array.from(
      [...model.itemKcs.keys()].filter((item) => (model.itemKcs[item]?.length ?? 0) > 1),
    ),
    kcCount: model.kcGuids.length,
    componentLimit: model.kernel.maximumComponentKcs,
    enemySets: listsOf(membershipOf(model.itemIds.length, enemySets)),
    enemies: enemySets.map((set) => Int32Array.from(set)),
    capped: listsOf(
      membershipOf(
        model.itemIds.length,
        caps.map(({ items }) => items),
      ),
    ),
    maxima: Int32Array.from(caps, ({ maximum }) => maximum),
    itemsByCap: caps.map(({ items }) => Int32Array.from(items)),
  };
}

/** For each item, the indices of the sets that hold it, ascending. */
export function membershipOf(count: number, sets: readonly (readonly number[])[]): number[][] {
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
    shift(hostile, enemySets, item, 1);
    shift(counts, capped, item, 1);
    const first = integerAt(kcs.start, item);
    const end = integerAt(kcs.start, item + 1);
    for (let i = first + 1; i < end; i += 1) {
      const a = rootOf(integerAt(kcs.values, first));
      const b = rootOf(integerAt(kcs.values, i));
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
    shift(hostile, enemySets, item, -1);
    shift(counts, capped, item, -1);
    while (joined.length > mark) {
      const lower = joined.pop() ?? 0;
      const upper = integerAt(parent, lower);
      sizes[upper] = integerAt(sizes, upper) - integerAt(sizes, lower);
      parent[lower] = lower;
    }
  };
  /** Whether the component that the item would make is within the limit. */
  const fitsComponents = (item: number): boolean => {
    const first = integerAt(kcs.start, item);
    const end = integerAt(kcs.start, item + 1);
    // An item with one KC ties nothing together.
    if (end - first < 2) return true;
    let size = 0;
    for (let i = first; i < end; i += 1) {
      const root = rootOf(integerAt(kcs.values, i));
      let counted = false;
      for (let before = first; before < i && !counted; before += 1)
        counted = rootOf(integerAt(kcs.values, before)) === root;
      if (!counted) size += integerAt(sizes, root);
    }
    return size <= componentLimit;
  };
  /** Whether neither an enemy set nor a maximum stands against the item, with `without` taken away. */
  const fitsSets = (item: number, without: number): boolean => {
    for (let i = integerAt(enemySets.start, item); i < integerAt(enemySets.start, item + 1); i += 1) {
      const set = integerAt(enemySets.values, i);
      const others = integerAt(hostile, set);
      if (others > 0 && others > Number(without >= 0 && holds(enemySets, without, set))) return false;
    }
    for (let i = integerAt(capped.start, item); i < integerAt(capped.start, item + 1); i += 1) {
      const cap = integerAt(capped.values, i);
      const room = integerAt(maxima, cap) - integerAt(counts, cap);
      if (room <= 0 && room + Number(without >= 0 && holds(capped, without, cap)) <= 0) return false;
    }
    return true;
  };
  for (const item of used) add(item);
  return {
    add,
    removeLast,
    fits: (item) => fitsSets(item, -1) && fitsComponents(item),
    fitsInPlaceOf: (item, other) => fitsSets(item, other) && fitsComponents(item),
    bar: (candidates) => {
      hostile.forEach((count, set) => {
        if (count > 0) for (const enemy of conditions.enemies[set] ?? []) candidates[enemy] = 0;
      });
      counts.forEach((count, cap) => {
        if (count < integerAt(maxima, cap)) return;
        for (const item of conditions.itemsByCap[cap] ?? []) candidates[item] = 0;
      });
      // Only an item that could join components beyond the limit is looked at closely.
      const largest = sizes.reduce((a, b) => Math.max(a, b), 1);
      for (const item of conditions.spanning) {
        const length = integerAt(kcs.start, item + 1) - integerAt(kcs.start, item);
        if (length * largest > componentLimit && candidates[item] === 1 && !fitsComponents(item))
          candidates[item] = 0;
      }
    },
  };
}

function shift(counts: Int32Array, lists: Lists, item: number, by: number): void {
  for (let i = integerAt(lists.start, item); i < integerAt(lists.start, item + 1); i += 1) {
    const index = integerAt(lists.values, i);
    counts[index] = integerAt(counts, index) + by;
  }
}

function holds(lists: Lists, n: number, value: number): boolean {
  for (let i = integerAt(lists.start, n); i < integerAt(lists.start, n + 1); i += 1) {
    if (lists.values[i] === value) return true;
  }
  return false;
}

/** Reads an element that is known to exist. */
function integerAt(array: Int32Array, index: number): number {
  return array[index] as number;
}
