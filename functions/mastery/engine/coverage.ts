import { integerAt as at } from './kernels/ho-cdm-grid-1/arrays.ts';
import { fits, membershipOf, use } from './side-conditions.ts';
import type { Lists, SideConditions, Usage } from './side-conditions.ts';

/**
 * Whether requirements ("at least n items with this tag") can still be met in the slots left. That is set multicover under side conditions,
 * which is NP-hard; with the few requirements of a policy the search below settles it, and it has a budget for when it does not.
 */
export interface Requirements {
  readonly conditions: SideConditions;
  /** How many items each requirement wants in the whole run. */
  readonly wanted: Int32Array;
  /** For each requirement, the pool's items that serve it. */
  readonly servers: Lists;
  /** For each item, the requirements that it serves. */
  readonly serves: Lists;
  /** Items of one class serve the same, count against the same limits and tie the same KCs: where one leads nowhere, so does another. */
  readonly classOf: Int32Array;
}

/**
 * Lays requirements out. Items are model indices.
 * @param minima items that share a tag, and how many of them are wanted
 */
export function requirementsOf(
  conditions: SideConditions,
  minima: readonly { readonly items: readonly number[]; readonly wanted: number }[],
): Requirements {
  const servers = minima.map(({ items }) => items);
  const serves = membershipOf(conditions.kcs.length, servers);
  const classes = new Map<string, number>();
  return {
    conditions,
    wanted: Int32Array.from(minima, ({ wanted }) => wanted),
    servers,
    serves,
    classOf: Int32Array.from(conditions.kcs, (kcs, item) => {
      // Which KC a single-KC item has makes no difference: it ties nothing together.
      const tied = kcs.length < 2 ? [] : kcs.toSorted((a, b) => a - b);
      const key = [serves[item], conditions.limitsOf[item], tied].join(';');
      const number = classes.get(key) ?? classes.size;
      classes.set(key, number);
      return number;
    }),
  };
}

/** Where a run stands, or a plan for the rest of it. It is never changed: one more item leads to another one. */
export interface Standing {
  readonly usage: Usage;
  /** How many further items each requirement needs; not above 0 for one that is met. */
  readonly needs: Int32Array;
  /** How many items that may be used serve each open requirement. */
  readonly supply: Int32Array;
  /** The most open requirements that one of those items served at the start of the plan. */
  readonly widest: Int32Array;
  /** 1 for items that may be used, each by itself, at the start of the plan. */
  readonly candidates: Uint8Array;
  readonly planned: readonly number[];
  readonly slots: number;
}

/** Where a run stands that has used these items: nothing is planned. */
export function standingOf(
  { wanted, servers, serves }: Requirements,
  used: readonly number[],
  usage: Usage,
  candidates: Uint8Array,
  slots: number,
): Standing {
  const needs = wanted.slice();
  for (const item of new Set(used)) lower(needs, serves[item]);
  const supply = new Int32Array(wanted.length);
  const widest = new Int32Array(wanted.length);
  servers.forEach((items, r) => {
    if (at(needs, r) <= 0) return;
    for (const item of items) {
      if (candidates[item] !== 1) continue;
      supply[r] = at(supply, r) + 1;
      widest[r] = Math.max(at(widest, r), openOf(serves[item], needs));
    }
  });
  return { usage, needs, supply, widest, candidates, planned: [], slots };
}

/** How many of these requirements are open. */
function openOf(requirements: readonly number[] = [], needs: Int32Array): number {
  let open = 0;
  for (const r of requirements) if (at(needs, r) > 0) open += 1;
  return open;
}

/** The standing with one more item planned. */
export function take({ conditions, serves }: Requirements, standing: Standing, item: number): Standing {
  return {
    ...standing,
    usage: use(conditions, standing.usage, item),
    needs: lower(standing.needs.slice(), serves[item]),
    supply: lower(standing.supply.slice(), serves[item]),
    planned: [...standing.planned, item],
    slots: standing.slots - 1,
  };
}

/** Counts one item less for each of the requirements. */
function lower(counts: Int32Array, requirements: readonly number[] = []): Int32Array {
  for (const r of requirements) counts[r] = at(counts, r) - 1;
  return counts;
}

/** Item visits that may still be made: a bound on work, not on time, so that every machine gives up at the same point. */
export interface SearchBudget {
  left: number;
}

/** What choosing an item costs, in item visits. */
const STEP_COST = 100;

/** More than the rounding of a sum of quotients. */
const MARGIN = 1e-9;

/**
 * A standing in which all of these requirements are met; undefined when there is none, or the budget runs out before any is found. Depth
 * first: the requirement with the least choice is served next, by the item that serves most open ones. An item that has been tried is not
 * tried again further along, so that each set of items is met once.
 */
export function cover(
  requirements: Requirements,
  wanted: readonly number[],
  start: Standing,
  budget: SearchBudget,
): Standing | undefined {
  const { conditions, servers, serves, classOf } = requirements;
  const candidates = start.candidates.slice();
  for (const item of start.planned) candidates[item] = 0;
  const descend = (standing: Standing): Standing | undefined => {
    const { usage, needs, widest, slots } = standing;
    let { supply } = standing;
    const slack = (r: number): number => at(supply, r) - at(needs, r);
    let next: number | undefined;
    let least = 0;
    for (const r of wanted) {
      if (at(needs, r) <= 0) continue;
      if (slack(r) < 0 || at(needs, r) > slots) return undefined;
      // An item counts at most 1 in all, however many requirements it serves.
      least += at(needs, r) / at(widest, r);
      if (next === undefined || slack(r) < slack(next)) next = r;
    }
    if (next === undefined) return standing;
    if (least > slots + MARGIN) return undefined;
    budget.left -= STEP_COST;
    const tried: number[] = [];
    const failed = new Set<number>();
    for (let width = at(widest, next); width > 0; width -= 1)
      for (const item of servers[next] ?? []) {
        budget.left -= 1;
        if (budget.left < 0) return undefined;
        if (candidates[item] !== 1 || openOf(serves[item], needs) !== width || !fits(conditions, usage, item))
          continue;
        candidates[item] = 0;
        tried.push(item);
        const taken = take(requirements, { ...standing, supply }, item);
        supply = taken.supply;
        if (failed.has(at(classOf, item))) continue;
        const found = descend(taken);
        if (found !== undefined) return found;
        failed.add(at(classOf, item));
      }
    for (const item of tried) candidates[item] = 1;
    return undefined;
  };
  return descend(start);
}

/** A way to meet requirements in the slots left. */
export interface Plan {
  /** The requirements that it meets, ascending. */
  readonly met: readonly number[];
  /** Those about which the search came to no end. */
  readonly undecided: readonly number[];
  readonly standing: Standing;
}

/** No requirement may take more than this share of what is left of the budget: a hard one leaves room for the others. */
const SHARE = 1 / 4;

/** Plans for each open requirement, in their order, that can be met together with those planned before it: an earlier one never gives way. */
export function planCoverage(requirements: Requirements, start: Standing, budget: SearchBudget): Plan {
  const met: number[] = [];
  const undecided: number[] = [];
  let standing = start;
  for (const [r, need] of start.needs.entries()) {
    if (need <= 0) continue;
    const share = { left: budget.left * SHARE };
    budget.left -= share.left;
    const found = cover(requirements, [r], standing, share) ?? cover(requirements, [...met, r], start, share);
    if (found !== undefined) {
      standing = found;
      met.push(r);
    } else if (share.left < 0) undecided.push(r);
    budget.left += share.left;
  }
  return { met, undecided, standing };
}
