import { integerAt as at } from './kernels/ho-cdm-grid-1/arrays.ts';
import type { Usage } from './side-conditions.ts';

/**
 * Whether requirements ("at least n items with this tag") can still be met in the slots left. In general that is set multicover, which is
 * NP-hard; with the few requirements of a policy the search below settles it, and it has a budget for when it does not.
 */

/** What the pool's items serve, by model item. Items that serve the same have the same signature. */
export interface Service {
  readonly signatureOf: Int32Array;
  /** The requirements that a signature serves, ascending. */
  readonly signatures: readonly (readonly number[])[];
  /** For each requirement, the signatures that serve it. */
  readonly signaturesWith: readonly (readonly number[])[];
  /** Items of one class are interchangeable: they serve and disturb the same, and where one leads nowhere, so does another. */
  readonly classOf: (item: number) => number;
}

/** The pool as the search sees it. What it adds to `usage` and bars, it takes back before it answers. */
export interface CoverageProblem {
  readonly service: Service;
  /** How many further items each requirement needs; not above 0 for one that is met. */
  readonly needs: Int32Array;
  /** For each requirement that is not met, the items that may still be chosen and serve it, ascending. */
  readonly servers: readonly Int32Array[];
  /** How many of those there are with each signature. */
  readonly supply: Int32Array;
  readonly usage: Usage;
  /** 1 for items that must be left out. */
  readonly barred: Uint8Array;
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

/** What choosing an item costs, in item visits. */
const STEP_COST = 100;

/**
 * A plan that meets as many requirements as can be met together; where that leaves a choice, it favours the earlier ones. If the budget
 * runs out the plan is the greedy one, which is feasible but may leave a requirement out that could have been met.
 */
export function planCoverage(problem: CoverageProblem, slots: number, budget: SearchBudget): CoveragePlan {
  const all = [...problem.needs.keys()].filter((r) => at(problem.needs, r) > 0);
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

/** Items that meet all of these requirements in that many slots; undefined when there are none, or the budget runs out before any is found. */
export function cover(
  problem: CoverageProblem,
  wanted: readonly number[],
  slots: number,
  budget: SearchBudget,
): readonly number[] | undefined {
  if (budget.left <= 0 || mostThatFit(problem, wanted, slots) < wanted.length) return undefined;
  const greedy = planGreedily(problem, wanted, slots, budget);
  return greedy.met.length === wanted.length ? greedy.items : search(problem, wanted, slots, budget);
}

/** What is still open while items are chosen. */
interface Tally {
  /** 1 for the requirements that are wanted. */
  readonly wanted: Uint8Array;
  /** What each wanted requirement still needs; below 0 when it got more. */
  readonly open: Int32Array;
  /** How many open requirements each signature serves. */
  readonly served: Int32Array;
}

function tallyOf({ service, needs }: CoverageProblem, wanted: readonly number[]): Tally {
  const tally = {
    wanted: new Uint8Array(needs.length),
    open: new Int32Array(needs.length),
    served: new Int32Array(service.signatures.length),
  };
  for (const r of wanted) {
    tally.wanted[r] = 1;
    changeNeed(service, tally, r, at(needs, r));
  }
  return tally;
}

function changeNeed({ signaturesWith }: Service, { open, served }: Tally, r: number, by: number): void {
  const before = at(open, r);
  open[r] = before + by;
  if (before > 0 === before + by > 0) return;
  for (const signature of signaturesWith[r] ?? [])
    served[signature] = at(served, signature) + (by > 0 ? 1 : -1);
}

/** Counts an item against the needs that it serves (1), or takes it back (-1). */
function take(service: Service, tally: Tally, item: number, count: 1 | -1): void {
  for (const r of service.signatures[at(service.signatureOf, item)] ?? []) {
    if (tally.wanted[r] === 1) changeNeed(service, tally, r, -count);
  }
}

/** Serves the scarcest requirement first, each time by the item that serves most of what is open; one that cannot be met is left out. */
function planGreedily(
  problem: CoverageProblem,
  wanted: readonly number[],
  slots: number,
  budget: SearchBudget,
): CoveragePlan {
  const { service, usage, barred } = problem;
  const slack = (r: number): number => serversOf(problem, r).length - at(problem.needs, r);
  const tally = tallyOf(problem, wanted);
  const { open } = tally;
  const chosen: number[] = [];
  const met: number[] = [];
  const giveBack = (): void => {
    const item = chosen.pop() ?? -1;
    take(service, tally, item, -1);
    usage.removeLast();
    barred[item] = 0;
  };
  for (const requirement of [...wanted].sort((a, b) => slack(a) - slack(b) || a - b)) {
    const before = chosen.length;
    while (at(open, requirement) > 0 && chosen.length + at(open, requirement) <= slots) {
      budget.left -= serversOf(problem, requirement).length + STEP_COST;
      const best = mostServing(problem, tally, requirement);
      if (best === undefined) break;
      take(service, tally, best, 1);
      usage.add(best);
      barred[best] = 1;
      chosen.push(best);
    }
    if (at(open, requirement) <= 0) {
      met.push(requirement);
      continue;
    }
    while (chosen.length > before) giveBack();
    changeNeed(service, tally, requirement, -at(open, requirement));
    tally.wanted[requirement] = 0;
  }
  const items = [...chosen];
  while (chosen.length > 0) giveBack();
  return { met: met.sort((a, b) => a - b), items };
}

/** The item for a requirement that serves most open ones, the first of several. */
function mostServing(
  { service, servers, usage, barred }: CoverageProblem,
  { served }: Tally,
  requirement: number,
): number | undefined {
  let ceiling = 0;
  for (const signature of service.signaturesWith[requirement] ?? [])
    ceiling = Math.max(ceiling, at(served, signature));
  let best: number | undefined;
  let most = 0;
  for (const item of servers[requirement] ?? []) {
    const count = at(served, at(service.signatureOf, item));
    if (count <= most || barred[item] === 1 || !usage.fits(item)) continue;
    best = item;
    most = count;
    if (most === ceiling) break;
  }
  return best;
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
  const { service, usage, barred } = problem;
  const { signatureOf, signatures, classOf } = service;
  const tally = tallyOf(problem, wanted);
  const { open, served } = tally;
  const chosen: number[] = [];

  /** `live` of the candidates are not barred. */
  const descend = (candidates: readonly number[], live: number, slotsLeft: number): boolean => {
    const needs = wanted.filter((r) => at(open, r) > 0);
    if (needs.length === 0) return true;
    budget.left -= live + STEP_COST;
    if (budget.left < 0 || slotsLeft === 0) return false;
    const usable: number[] = [];
    const available = new Int32Array(open.length);
    const widths = new Int32Array(wanted.length + 1);
    for (const item of candidates) {
      const width = at(served, at(signatureOf, item));
      if (width === 0 || barred[item] === 1 || !usage.fits(item)) continue;
      usable.push(item);
      widths[width] = at(widths, width) + 1;
      for (const r of signatures[at(signatureOf, item)] ?? []) available[r] = at(available, r) + 1;
    }
    let total = 0;
    let next = -1;
    let leastChoice = Infinity;
    for (const r of needs) {
      const choice = at(available, r) - at(open, r);
      if (choice < 0 || at(open, r) > slotsLeft) return false;
      total += at(open, r);
      if (choice < leastChoice) {
        leastChoice = choice;
        next = r;
      }
    }
    if (total > widestSum(widths, slotsLeft)) return false;
    const branches = usable
      .filter((item) => signatures[at(signatureOf, item)]?.includes(next) === true)
      .sort((a, b) => at(served, at(signatureOf, b)) - at(served, at(signatureOf, a)) || a - b);
    const failed = new Set<number>();
    let tried = 0;
    let found = false;
    for (const branch of branches) {
      if (found || budget.left < 0) break;
      tried += 1;
      barred[branch] = 1;
      if (failed.has(classOf(branch))) continue;
      chosen.push(branch);
      usage.add(branch);
      take(service, tally, branch, 1);
      found = descend(usable, usable.length - tried, slotsLeft - 1);
      take(service, tally, branch, -1);
      usage.removeLast();
      if (!found) chosen.pop();
      failed.add(classOf(branch));
    }
    for (const branch of branches.slice(0, tried)) barred[branch] = 0;
    return found;
  };
  if (budget.left <= 0) return undefined;
  const candidates = [...new Set(wanted.flatMap((r) => [...serversOf(problem, r)]))];
  return descend(candidates, candidates.length, slots) ? chosen : undefined;
}

/** No more requirements than this can be met together: the smallest needs, in slots that go to the items that serve most. */
function mostThatFit(
  { service, needs, supply }: CoverageProblem,
  possible: readonly number[],
  slots: number,
): number {
  const wanted = new Uint8Array(needs.length);
  for (const r of possible) wanted[r] = 1;
  const widths = new Int32Array(possible.length + 1);
  service.signatures.forEach((requirements, signature) => {
    const items = at(supply, signature);
    if (items === 0) return;
    let width = 0;
    for (const r of requirements) width += Number(wanted[r] === 1);
    widths[width] = at(widths, width) + items;
  });
  let room = widestSum(widths, slots);
  let count = 0;
  for (const need of possible.map((r) => at(needs, r)).sort((a, b) => a - b)) {
    room -= need;
    if (room < 0) break;
    count += 1;
  }
  return count;
}

/** What the widest items serve together. `widths[w]`: how many items serve w requirements. */
function widestSum(widths: Int32Array, slots: number): number {
  let left = slots;
  let sum = 0;
  for (let width = widths.length - 1; width > 0 && left > 0; width -= 1) {
    const items = Math.min(left, at(widths, width));
    sum += items * width;
    left -= items;
  }
  return sum;
}

function serversOf({ servers }: CoverageProblem, requirement: number): Int32Array {
  return servers[requirement] ?? new Int32Array();
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
