import { cover, coverageOf, openOf, plan, type CoverageState, type SearchBudget } from './coverage.ts';
import { fits, kindOfItem, type Kind, type Rules } from './kinds.ts';

/** The search budget of one selection: for its plan, and once more for questions about kinds of items. */
const SEARCH_BUDGET = 100_000;

/** The items that the open minima permit next. */
export interface Reachability {
  /** Whether every minimum that can, or may, still be met has been met. */
  readonly isMet: boolean;
  /** Whether the item counts towards an open minimum. */
  readonly serves: (item: number) => boolean;
  /** Whether, with this item next, the planned minima can still be met. */
  readonly admits: (item: number) => boolean;
  /** Writes 0 for the items that are known so far, at no further cost, not to be admitted. */
  readonly ruleOut: (items: Uint8Array) => void;
  /** Returns how many looks at a kind of items it has taken so far. */
  readonly looks: () => number;
}

/** Plans for the open minima. One that is not planned restricts nothing. */
export function reachability(rules: Rules, start: CoverageState): Reachability {
  const planning: SearchBudget = { left: SEARCH_BUDGET };
  const { met, undecided, plan: whole } = coverageOf(rules, start, planning);
  const budget: SearchBudget = { left: SEARCH_BUDGET };
  /** A plan that leaves a slot to an item that counts towards nothing. */
  const spare = whole.slots > 0 ? whole : cover(rules, { ...start, slots: start.slots - 1 }, met, budget);
  const hasSpare = typeof spare === 'object';
  const isUseful = ({ minima }: Kind): boolean => minima.some((minimum) => met.includes(minimum));
  const isAdmitted = (kind: Kind): boolean =>
    whole.planned.includes(kind) ||
    (hasSpare && fits(spare, kind)) ||
    ((hasSpare || isUseful(kind)) && typeof cover(rules, plan(start, kind), met, budget) === 'object');
  const verdicts = new Map<Kind, boolean>();
  return {
    isMet: met.length === 0 && undecided.length === 0,
    serves: (item) => openOf(kindOfItem(rules, item).minima, start.needs) > 0,
    admits: (item) => {
      const kind = kindOfItem(rules, item);
      const verdict = verdicts.get(kind) ?? isAdmitted(kind);
      verdicts.set(kind, verdict);
      return verdict;
    },
    ruleOut: (items) => {
      if (hasSpare) return;
      for (const kind of rules.kinds) if (!isUseful(kind)) for (const item of kind.items) items[item] = 0;
    },
    looks: () => 2 * SEARCH_BUDGET - planning.left - budget.left + (planning.dived ?? 0),
  };
}
