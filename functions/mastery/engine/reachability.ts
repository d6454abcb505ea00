import { cover, planCoverage, take } from './coverage.ts';
import type { Requirements, SearchBudget, Standing } from './coverage.ts';
import { fits, use } from './side-conditions.ts';

/** Item visits that one selection may spend on a plan, and as many on questions about items. */
const BUDGET = 30_000;

/** What the open requirements leave for the next item. */
export interface Reachability {
  /** Whether every requirement that can still be met is met. */
  readonly isMet: boolean;
  /** Whether, with this item next, the planned requirements can still be met. */
  readonly admits: (item: number) => boolean;
  /** Writes 0 for items of which it is known by now, at no further cost, that they are not admitted. */
  readonly ruleOut: (items: Uint8Array) => void;
}

/** Plans for the open requirements. Those that are left out of the plan restrict nothing. */
export function reachability(requirements: Requirements, start: Standing): Reachability {
  const { conditions, serves, classOf } = requirements;
  const { met, standing } = planCoverage(requirements, start, { left: BUDGET });
  const budget: SearchBudget = { left: BUDGET };
  const shorter =
    standing.slots > 0 ? standing : cover(requirements, met, { ...start, slots: start.slots - 1 }, budget);
  const { planned, usage, needs } = shorter ?? standing;
  const servesPlanned = (item: number): boolean => serves[item]?.some((r) => met.includes(r)) === true;
  /** Whether the plan meets everything with the item in the place of another. */
  const replaces = (item: number, other: number): boolean =>
    serves[other]?.every(
      (r) => !met.includes(r) || (needs[r] ?? 0) < 0 || serves[item]?.includes(r) === true,
    ) === true &&
    fits(
      conditions,
      planned
        .filter((one) => one !== other)
        .reduce((before, one) => use(conditions, before, one), start.usage),
      item,
    );
  const verdicts = new Map<number, boolean>();
  const admits = (item: number): boolean => {
    if (planned.includes(item)) return true;
    if (shorter === undefined && !servesPlanned(item)) return false;
    if (shorter !== undefined && fits(conditions, usage, item)) return true;
    if (planned.some((other) => replaces(item, other))) return true;
    const kind = classOf[item] ?? -1;
    const verdict =
      verdicts.get(kind) ?? cover(requirements, met, take(requirements, start, item), budget) !== undefined;
    verdicts.set(kind, verdict);
    return verdict;
  };
  return {
    isMet: met.length === 0,
    admits,
    ruleOut: (items) => {
      if (shorter === undefined)
        for (let item = 0; item < items.length; item += 1) if (!servesPlanned(item)) items[item] = 0;
    },
  };
}
