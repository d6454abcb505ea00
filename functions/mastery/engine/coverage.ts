/**
 * Whether requirements ("at least n items with this tag") can still be met in the slots left. In general that is set multicover, which is
 * NP-hard; with the few requirements of a policy the search below settles it, and it has a budget for when it does not.
 */

/** The pool as the search sees it. Sets of items that go together must stay so when one is left out. */
export interface CoverageProblem {
  /** How many further items each requirement needs, at least 1. */
  readonly needs: readonly number[];
  /** For each requirement, the items that may still be chosen and serve it, in ascending order. */
  readonly servers: readonly (readonly CoverageItem[])[];
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

/** Item visits that may still be made: a bound on work, not on time, so that every machine gives up at the same point. */
export interface SearchBudget {
  left: number;
}

/** What choosing an item costs, in item visits: what goes with the chosen ones is worked out anew. */
const STEP_COST = 100;

/**
 * A plan that meets as many requirements as can be met together; where that leaves a choice, it favours the earlier ones. If the budget
 * runs out the plan is the greedy one, which is feasible but may leave a requirement out that could have been met.
 */
export function planCoverage(problem: CoverageProblem, slots: number, budget: SearchBudget): CoveragePlan {
  const all = problem.needs.map((_, r) => r);
  const greedy = planGreedily(problem, all, slots, { left: Infinity });
  if (greedy.met.length === all.length) return greedy;
  const possible = all.filter(
    (r) => greedy.met.includes(r) || search(problem, [r], slots, budget) !== undefined,
  );
  for (let size = mostThatFit(problem, possible, slots); size > greedy.met.length; size -= 1) {
    for (const wanted of subsets(possible, size)) {
      if (budget.left <= 0) return greedy;
      const items = search(problem, wanted, slots, budget);
      if (items !== undefined) return { met: wanted, items };
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
  if (budget.left <= 0 || mostThatFit(problem, wanted, slots) < wanted.length) return false;
  const greedy = planGreedily(problem, wanted, slots, budget);
  return greedy.met.length === wanted.length || search(problem, wanted, slots, budget) !== undefined;
}

/** Serves the scarcest requirement first, each time by the item that serves most of what is open; one that cannot be met is left out. */
function planGreedily(
  problem: CoverageProblem,
  wanted: readonly number[],
  slots: number,
  budget: SearchBudget,
): CoveragePlan {
  const slack = (r: number): number => serversOf(problem, r).length - needOf(problem, r);
  const open = new Map(wanted.map((r) => [r, needOf(problem, r)]));
  const openServed = ({ serves }: CoverageItem): number => {
    let count = 0;
    for (const r of serves) if ((open.get(r) ?? 0) > 0) count += 1;
    return count;
  };
  const chosen: number[] = [];
  const met: number[] = [];
  let compatible = problem.compatibleWith(chosen);
  for (const requirement of [...wanted].sort((a, b) => slack(a) - slack(b) || a - b)) {
    const undo: CoverageItem[] = [];
    while ((open.get(requirement) ?? 0) > 0 && chosen.length + (open.get(requirement) ?? 0) <= slots) {
      const servers = serversOf(problem, requirement);
      budget.left -= servers.length + STEP_COST;
      let best: CoverageItem | undefined;
      let most = 0;
      for (const item of servers) {
        const served = openServed(item);
        if (served <= most || chosen.includes(item.item) || !compatible(item.item)) continue;
        best = item;
        most = served;
      }
      if (best === undefined) break;
      undo.push(best);
      take(open, best, 1);
      chosen.push(best.item);
      compatible = problem.compatibleWith(chosen);
    }
    if ((open.get(requirement) ?? 0) <= 0) {
      met.push(requirement);
      continue;
    }
    open.delete(requirement);
    for (const item of undo) take(open, item, -1);
    chosen.length -= undo.length;
    if (undo.length > 0) compatible = problem.compatibleWith(chosen);
  }
  return { met: met.sort((a, b) => a - b), items: chosen };
}

/** Counts an item against the needs that it serves, or takes it back. */
function take(open: Map<number, number>, { serves }: CoverageItem, count: number): void {
  for (const r of serves) {
    const need = open.get(r);
    if (need !== undefined) open.set(r, need - count);
  }
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
    budget.left -= candidates.length + STEP_COST;
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
      take(open, branch, 1);
      if (descend(left, slotsLeft - 1)) return true;
      take(open, branch, -1);
      chosen.pop();
      failed.add(branch.key);
    }
    return false;
  };
  if (budget.left <= 0) return undefined;
  const candidates = new Map(wanted.flatMap((r) => serversOf(problem, r)).map((item) => [item.item, item]));
  return descend([...candidates.values()], slots) ? chosen : undefined;
}

/** No more requirements than this can be met together: the smallest needs, with every item serving as many as the widest does. */
function mostThatFit(problem: CoverageProblem, possible: readonly number[], slots: number): number {
  const wanted = new Set(possible);
  let widest = 0;
  for (const r of possible) {
    for (const { serves } of serversOf(problem, r)) {
      if (serves.length <= widest) continue;
      widest = Math.max(
        widest,
        serves.reduce((count, other) => count + Number(wanted.has(other)), 0),
      );
    }
  }
  let room = slots * widest;
  let count = 0;
  for (const need of possible.map((r) => needOf(problem, r)).sort((a, b) => a - b)) {
    room -= need;
    if (room < 0) break;
    count += 1;
  }
  return count;
}

function serversOf({ servers }: CoverageProblem, requirement: number): readonly CoverageItem[] {
  return servers[requirement] ?? [];
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
