import { integerAt as at } from './kernels/ho-cdm-grid-1/arrays.ts';
import type { CompiledModel } from './model.ts';

/**
 * Items that no rule distinguishes: they count towards the same minima and against the same limits, and tie the same KCs together. Where one of them
 * fits, so does any other; where one leads to a dead end, all do.
 */
export interface Kind {
  /** Index in `kinds`. */
  readonly index: number;
  /** Model indices. */
  readonly items: readonly number[];
  /** The minima that the items count towards, ascending. */
  readonly minima: readonly number[];
  /** The limits that the items count against, ascending. */
  readonly limits: readonly number[];
  /** The KCs of the items, ascending; none if it is one KC that is a block by itself: such an item ties nothing together. */
  readonly tied: readonly number[];
}

/** A number of items out of these (model indices): at least that many for a minimum, at most for a limit. */
export interface Quota {
  readonly items: readonly number[];
  readonly count: number;
}

/** The rules of a policy about which items must, and which may, be used together. */
export interface Rules {
  readonly kinds: readonly Kind[];
  /** The index of each model item's kind. */
  readonly kindOf: Int32Array;
  /** For each minimum, the kinds that count towards it. */
  readonly kindsTowards: readonly (readonly Kind[])[];
  /** How many items each minimum requires in the whole run. */
  readonly wanted: Int32Array;
  /** How many items each limit admits in the whole run. */
  readonly admitted: Int32Array;
  readonly kcBlocks: CompiledModel['kcBlocks'];
  /** Whether any block has several KCs. */
  readonly hasBlocks: boolean;
  /** The most measured KCs that one component may have: KCs of blocks that items link. */
  readonly componentLimit: number;
}

export function rulesOf(
  { itemKcs, kcBlocks, kernel }: CompiledModel,
  minima: readonly Quota[],
  limits: readonly Quota[],
): Rules {
  const minimaOf = membershipOf(itemKcs.length, minima);
  const limitsOf = membershipOf(itemKcs.length, limits);
  const tiedBy = (kcs: readonly number[] = []): readonly number[] =>
    kcs.length > 1 || kcs.some((kc) => (kcBlocks[kc]?.size ?? 1) > 1) ? kcs.toSorted((a, b) => a - b) : [];
  const itemsByKey = Map.groupBy(itemKcs.keys(), (item) =>
    [minimaOf[item], limitsOf[item], tiedBy(itemKcs[item])].join(';'),
  );
  const kinds = Array.from(itemsByKey, ([key, items]) => {
    const [item = 0] = items;
    const [towards = [], against = [], tied] = [minimaOf[item], limitsOf[item], tiedBy(itemKcs[item])];
    return { key, items, minima: towards, limits: against, tied };
  })
    // The kinds that restrict the rest least come first, then by key: the order of a pool or a calibration makes no difference.
    .sort(
      (a, b) =>
        a.limits.length - b.limits.length || a.tied.length - b.tied.length || (a.key < b.key ? -1 : 1),
    )
    .map((kind, index): Kind => ({ ...kind, index }));
  const kindOf = new Int32Array(itemKcs.length);
  const kindsTowards: Kind[][] = minima.map(() => []);
  for (const kind of kinds) {
    for (const item of kind.items) kindOf[item] = kind.index;
    for (const minimum of kind.minima) kindsTowards[minimum]?.push(kind);
  }
  return {
    kinds,
    kindOf,
    kindsTowards,
    wanted: Int32Array.from(minima, ({ count }) => count),
    admitted: Int32Array.from(limits, ({ count }) => count),
    kcBlocks,
    hasBlocks: kcBlocks.some(({ size }) => size > 1),
    componentLimit: kernel.maximumComponentKcs,
  };
}

/** Returns for each item the indices of the quotas that name it, ascending. */
function membershipOf(itemCount: number, quotas: readonly Quota[]): readonly (readonly number[])[] {
  const membership: number[][] = Array.from({ length: itemCount }, () => []);
  quotas.forEach(({ items }, index) => {
    for (const item of new Set(items)) membership[item]?.push(index);
  });
  return membership;
}

/** What the used items leave open. It is immutable: one more item makes another usage. */
export interface Usage {
  /** How many more items each minimum needs; 0 or below once it is met. */
  readonly needs: Int32Array;
  /** How many more items each limit admits. */
  readonly room: Int32Array;
  /** The components as trees of blocks, each named by its first KC: the parent of each, which is the block itself at a root. */
  readonly parents: Int32Array;
  /** 1 for each KC that items which tie have measured. */
  readonly measured: Uint8Array;
  /** How many measured KCs there are in the component of each root. */
  readonly sizes: Int32Array;
  /** No KC, measured or not, is in a component that with it has more measured KCs. */
  readonly largest: number;
  readonly componentLimit: number;
  readonly rules: Pick<Rules, 'kcBlocks' | 'hasBlocks'>;
}

export function usageOf(rules: Rules, used: readonly number[]): Usage {
  const { wanted, admitted, kcBlocks, componentLimit } = rules;
  const unused: Usage = {
    needs: wanted,
    room: admitted,
    parents: Int32Array.from(kcBlocks.keys()),
    measured: new Uint8Array(kcBlocks.length),
    sizes: new Int32Array(kcBlocks.length),
    largest: 1,
    componentLimit,
    rules,
  };
  return used.reduce((usage, item) => use(usage, kindOfItem(rules, item)), unused);
}

export function kindOfItem({ kinds, kindOf }: Rules, item: number): Kind {
  // SAFETY: every item of the model has a kind.
  return kinds[at(kindOf, item)] as Kind;
}

/** Returns the usage with one more item of the kind. */
export function use(before: Usage, { minima, limits, tied }: Kind): Usage {
  const counted = { ...before, needs: lowered(before.needs, minima), room: lowered(before.room, limits) };
  const roots = rootsOf(before, tied);
  const [root = 0, ...others] = roots;
  if (others.length === 0 && tied.every((kc) => before.measured[kc] === 1)) return counted;
  const parents = before.parents.slice();
  for (const other of others) parents[other] = root;
  const sizes = before.sizes.slice();
  const size = sizeWith(before, roots, tied);
  sizes[root] = size;
  const measured = before.measured.slice();
  for (const kc of tied) measured[kc] = 1;
  const largest = Math.max(before.largest, size + Number(before.rules.hasBlocks));
  return { ...counted, parents, measured, sizes, largest };
}

/** Returns the counts with each of the named ones lower by 1. */
function lowered(counts: Int32Array, named: readonly number[]): Int32Array {
  if (named.length === 0) return counts;
  const rest = counts.slice();
  for (const index of named) rest[index] = at(rest, index) - 1;
  return rest;
}

/** Returns whether an item of the kind may be used too: it keeps the limits, and its component stays small enough. */
export function fits(usage: Usage, { limits, tied }: Kind): boolean {
  for (const limit of limits) if (at(usage.room, limit) <= 0) return false;
  // Most often no component is so large that it matters which ones the item joins.
  return (
    tied.length * usage.largest <= usage.componentLimit ||
    sizeWith(usage, rootsOf(usage, tied), tied) <= usage.componentLimit
  );
}

/** Writes 0 for every item that does not fit. */
export function bar({ kinds }: Rules, usage: Usage, candidates: Uint8Array): void {
  for (const kind of kinds) if (!fits(usage, kind)) for (const item of kind.items) candidates[item] = 0;
}

/** Returns the roots of the components that the blocks of these KCs belong to. */
function rootsOf({ parents, rules }: Usage, kcs: readonly number[]): readonly number[] {
  const roots = new Set<number>();
  for (const kc of kcs) {
    let root = rules.kcBlocks[kc]?.first ?? kc;
    while (at(parents, root) !== root) root = at(parents, root);
    roots.add(root);
  }
  return [...roots];
}

/** Returns how many KCs are measured in the components of these roots together, once these KCs are too. */
function sizeWith({ sizes, measured }: Usage, roots: readonly number[], kcs: readonly number[]): number {
  let size = 0;
  for (const root of roots) size += at(sizes, root);
  for (const kc of kcs) if (measured[kc] === 0) size += 1;
  return size;
}
