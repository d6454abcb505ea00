/**
 * Whether requirements ("at least n items with this tag") can still be met in the slots left. In general that is set multicover, which is
 * NP-hard; with the few requirements of a policy the search below settles it, and it has a budget for when it does not.
 */

/** The pool as the search sees it. Sets of items that go together must stay so when one is left out. */
export interface CoverageProblem {
  /** How many further items each requirement needs, at least 1. */
  readonly needs: readonly number[];
  /** Items that may still be chosen and serve at least one requirement. */
  readonly items: readonly CoverageItem[];
  /** For some chosen items, the test whether one more may be used together with them. */
  readonly compatibleWith: (chosen: readonly number[]) => (item: number) => boolean;
}

export interface CoverageItem {
  readonly item: number;
  /** The requirements that it serves. */
  readonly serves: readonly number[];
  /** Items with the same key are interchangeable: where one leads nowhere, so does another. */
  readonly key: string;
}

export interface CoveragePlan {
  /** The requirements that the plan meets, ascending. */
  readonly met: readonly number[];
  /** Items that meet them together, no more than there are slots. */
  readonly items: readonly number[];
}

/** Item visits that a search may still make: a bound on work, not on time, so that every machine gives up at the same point. */
export interface SearchBudget {
  left: number;
}

/**
 * A plan that meets as many requirements as can be met together; where that leaves a choice, it favours the earlier ones. If the budget
 * runs out the plan is the greedy one, which is feasible but may leave a requirement out that could have been met.
 */
export function planCoverage(problem: CoverageProblem, slots: number, budget: SearchBudget): CoveragePlan {
  const all = problem.needs.map((_, r) => r);
  const greedy = planGreedily(problem, all, slots);
  if (greedy.met.length === all.length) return greedy;
  const possible = all.filter(
    (r) => greedy.met.includes(r) || search(problem, [r], slots, budget) !== undefined,
  );
  for (let size = mostThatFit(problem, possible, slots); size > greedy.met.length; size -= 1) {
    for (const wanted of subsets(possible, size)) {
      const items = search(problem, wanted, slots, budget);
      if (items !== undefined) return { met: wanted, items };
      if (budget.left <= 0) return greedy;
    }
  }
  return greedy;
}

/** Whether the requirements can be met together in that many slots; false also when the budget runs out. */
export function canCover(
  problem: CoverageProblem,
  wanted: readonly number[],
  slots: number,
  budget: SearchBudget,
): boolean {
  const greedy = planGreedily(problem, wanted, slots);
  return greedy.met.length === wanted.length || search(problem, wanted, slots, budget) !== undefined;
}

/** Serves the scarcest requirement first, each time by the item that serves most of what is open; one that cannot be met is left out. */
function planGreedily(problem: CoverageProblem, wanted: readonly number[], slots: number): CoveragePlan {
  const servers = new Map<number, CoverageItem[]>(wanted.map((r) => [r, []]));
  for (const item of problem.items) for (const r of item.serves) servers.get(r)?.push(item);
  const slack = (r: number): number => (servers.get(r)?.length ?? 0) - needOf(problem, r);
  const open = new Map(wanted.map((r) => [r, needOf(problem, r)]));
  const chosen: number[] = [];
  const met: number[] = [];
  const openServed = ({ serves }: CoverageItem): number =>
    serves.reduce((count, r) => count + Number((open.get(r) ?? 0) > 0), 0);
  for (const requirement of [...wanted].sort((a, b) => slack(a) - slack(b) || a - b)) {
    const before = new Map(open);
    const length = chosen.length;
    while ((open.get(requirement) ?? 0) > 0 && chosen.length < slots) {
      let best: CoverageItem | undefined;
      const compatible = problem.compatibleWith(chosen);
      for (const item of servers.get(requirement) ?? []) {
        if (chosen.includes(item.item)) continue;
        if (best !== undefined && openServed(item) <= openServed(best)) continue;
        if (compatible(item.item)) best = item;
      }
      if (best === undefined) break;
      chosen.push(best.item);
      for (const r of best.serves) {
        const need = open.get(r);
        if (need !== undefined) open.set(r, need - 1);
      }
    }
    if ((open.get(requirement) ?? 0) <= 0) {
      met.push(requirement);
    } else {
      chosen.length = length;
      for (const [r, need] of before) open.set(r, need);
      open.delete(requirement);
    }
  }
  return { met: met.sort((a, b) => a - b), items: chosen };
}

/**
 * Depth first: the requirement with the least choice is served next, by the item that serves most of what is open. An item that has been
 * tried is not tried again further along, so that each set of items is met once.
 */
function search(
  problem: CoverageProblem,
  wanted: readonly number[],
  slots: number,
  budget: SearchBudget,
): readonly number[] | undefined {
  const open = new Map(wanted.map((r) => [r, needOf(problem, r)]));
  const isOpen = (r: number): boolean => (open.get(r) ?? 0) > 0;
  const openServed = ({ serves }: CoverageItem): number => serves.reduce((n, r) => n + Number(isOpen(r)), 0);
  const chosen: number[] = [];

  const descend = (candidates: readonly CoverageItem[], slotsLeft: number): boolean => {
    const needs = [...open].filter(([, need]) => need > 0);
    if (needs.length === 0) return true;
    budget.left -= candidates.length + 1;
    if (budget.left < 0 || slotsLeft === 0) return false;
    const compatible = problem.compatibleWith(chosen);
    const usable = candidates.filter((item) => item.serves.some(isOpen) && compatible(item.item));
    const available = new Map<number, number>();
    let widest = 0;
    for (const item of usable) {
      widest = Math.max(widest, openServed(item));
      for (const r of item.serves) available.set(r, (available.get(r) ?? 0) + 1);
    }
    let total = 0;
    let next = -1;
    let leastChoice = Infinity;
    for (const [r, need] of needs) {
      const choice = (available.get(r) ?? 0) - need;
      if (choice < 0 || need > slotsLeft) return false;
      total += need;
      if (choice < leastChoice) {
        leastChoice = choice;
        next = r;
      }
    }
    if (total > slotsLeft * widest) return false;
    const branches = usable
      .filter(({ serves }) => serves.includes(next))
      .sort((a, b) => openServed(b) - openServed(a) || a.item - b.item);
    const failed = new Set<string>();
    let left: readonly CoverageItem[] = usable;
    for (const branch of branches) {
      if (budget.left < 0) return false;
      left = left.filter(({ item }) => item !== branch.item);
      if (failed.has(branch.key)) continue;
      chosen.push(branch.item);
      for (const r of branch.serves) if (open.has(r)) open.set(r, (open.get(r) ?? 0) - 1);
      if (descend(left, slotsLeft - 1)) return true;
      for (const r of branch.serves) if (open.has(r)) open.set(r, (open.get(r) ?? 0) + 1);
      chosen.pop();
      failed.add(branch.key);
    }
    return false;
  };
  return descend(problem.items, slots) ? chosen : undefined;
}

/** No more requirements than this can be met together: the smallest needs, with every item serving as many as the widest does. */
function mostThatFit(problem: CoverageProblem, possible: readonly number[], slots: number): number {
  const widest = problem.items.reduce((most, { serves }) => Math.max(most, serves.length), 0);
  let room = slots * widest;
  let count = 0;
  for (const need of possible.map((r) => needOf(problem, r)).sort((a, b) => a - b)) {
    room -= need;
    if (room < 0) break;
    count += 1;
  }
  return count;
}

function needOf({ needs }: CoverageProblem, requirement: number): number {
  return needs[requirement] ?? 0;
}

/** All subsets of that size, in lexicographic order. */
function* subsets(values: readonly number[], size: number): Generator<readonly number[]> {
  if (size === 0) {
    yield [];
    return;
  }
  for (let i = 0; i + size <= values.length; i += 1) {
    for (const rest of subsets(values.slice(i + 1), size - 1)) yield [values[i] ?? 0, ...rest];
  }
}
