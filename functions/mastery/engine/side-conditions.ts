import { integerAt as at } from './kernels/ho-cdm-grid-1/arrays.ts';
import type { CompiledModel } from './model.ts';

/** Lists of indices, by the index of what they belong to. */
export type Lists = readonly (readonly number[])[];

/** Items of which no more than so many may be used: those with a tag that has a maximum, or enemies. */
export interface Limit {
  readonly items: readonly number[];
  readonly maximum: number;
}

/** What forbids that items are used together, laid out by model item. */
export interface SideConditions {
  readonly kcs: Lists;
  /** The items with several KCs: no other one ties any together. */
  readonly spanning: readonly number[];
  readonly kcCount: number;
  /** The most KCs that one component may hold. */
  readonly componentLimit: number;
  /** The limits that count the item, ascending. */
  readonly limitsOf: Lists;
  readonly limits: readonly Limit[];
}

/** Lays side conditions out. Items are model indices. */
export function sideConditions(
  { itemKcs, itemIds, kcGuids, kernel }: CompiledModel,
  limits: readonly Limit[],
): SideConditions {
  return {
    kcs: itemKcs,
    spanning: [...itemKcs.keys()].filter((item) => (itemKcs[item]?.length ?? 0) > 1),
    kcCount: kcGuids.length,
    componentLimit: kernel.maximumComponentKcs,
    limitsOf: membershipOf(
      itemIds.length,
      limits.map(({ items }) => items),
    ),
    limits,
  };
}

/** For each item, the indices of the sets that hold it, ascending. */
export function membershipOf(count: number, sets: Lists): Lists {
  const membership: number[][] = Array.from({ length: count }, () => []);
  sets.forEach((set, index) => {
    for (const item of new Set(set)) membership[item]?.push(index);
  });
  return membership;
}

/** What used items leave room for. It is never changed: one more item makes another usage. */
export interface Usage {
  /** How many used items each limit counts. */
  readonly counts: Int32Array;
  /** The component of each KC, named by one of its KCs. */
  readonly componentOf: Int32Array;
  /** For each KC that names a component, how many KCs that has. */
  readonly sizes: Int32Array;
}

export function usageOf(conditions: SideConditions, used: readonly number[]): Usage {
  const usage = {
    counts: new Int32Array(conditions.limits.length),
    componentOf: new Int32Array(conditions.kcCount).map((_, kc) => kc),
    sizes: new Int32Array(conditions.kcCount).fill(1),
  };
  for (const item of used) add(conditions, usage, item);
  return usage;
}

/** The usage with one more item. */
export function use(conditions: SideConditions, before: Usage, item: number): Usage {
  const usage = {
    counts: before.counts.slice(),
    componentOf: before.componentOf.slice(),
    sizes: before.sizes.slice(),
  };
  add(conditions, usage, item);
  return usage;
}

function add({ kcs, limitsOf }: SideConditions, { counts, componentOf, sizes }: Usage, item: number): void {
  for (const limit of limitsOf[item] ?? []) counts[limit] = at(counts, limit) + 1;
  const [first = 0, ...others] = kcs[item] ?? [];
  for (const kc of others) {
    const component = at(componentOf, first);
    const joining = at(componentOf, kc);
    if (joining === component) continue;
    for (let other = 0; other < componentOf.length; other += 1)
      if (componentOf[other] === joining) componentOf[other] = component;
    sizes[component] = at(sizes, component) + at(sizes, joining);
  }
}

/** Whether one more item may be used: limits kept, its component small enough. */
export function fits(
  { kcs, limitsOf, limits, componentLimit }: SideConditions,
  { counts, componentOf, sizes }: Usage,
  item: number,
): boolean {
  for (const limit of limitsOf[item] ?? [])
    if (at(counts, limit) >= (limits[limit]?.maximum ?? 0)) return false;
  const own = kcs[item] ?? [];
  // An item with one KC ties nothing together.
  if (own.length < 2) return true;
  let size = 0;
  own.forEach((kc, position) => {
    const component = at(componentOf, kc);
    if (own.findIndex((other) => at(componentOf, other) === component) === position)
      size += at(sizes, component);
  });
  return size <= componentLimit;
}

/** Writes 0 for every item that does not fit. */
export function bar(conditions: SideConditions, usage: Usage, candidates: Uint8Array): void {
  const { limits, spanning, kcs, componentLimit } = conditions;
  limits.forEach(({ items, maximum }, limit) => {
    if (at(usage.counts, limit) >= maximum) for (const item of items) candidates[item] = 0;
  });
  const largest = usage.sizes.reduce((a, b) => Math.max(a, b));
  for (const item of spanning)
    if ((kcs[item]?.length ?? 0) * largest > componentLimit && !fits(conditions, usage, item))
      candidates[item] = 0;
}
