import { cover, planCoverage, standingOf } from './coverage.ts';
import type { Plan, Standing } from './coverage.ts';
import type { SelectionContext } from './selection.ts';
import { bar, usageOf } from './side-conditions.ts';

/** A minimum that no run can meet. */
export interface UnmeetableMinimum {
  /** Index in `constraints.minima`. */
  readonly minimum: number;
  /**
   * `items`: too few items count towards it that may be offered at all. `conditions`: there are enough, but enemies, maxima, the component
   * limit or the length of the run keep too few of them together. `together`: it can be met, but not with the minima in `others`.
   */
  readonly cause: 'items' | 'conditions' | 'together';
  /** How many items count towards it that may be offered, each for itself. */
  readonly items: number;
  /** Indices of minima that can be met together, but not with this one; none of them could be left out. */
  readonly others: readonly number[];
}

/** What a pool can do for a policy. */
export interface Feasibility {
  /** In the order of the minima; one that cannot be met with earlier ones is named, they are not. */
  readonly unmeetable: readonly UnmeetableMinimum[];
  /** Minima about which the search came to no end: they may be meetable. */
  readonly undecided: readonly number[];
}

/** Item visits for one question: far more than a selection may spend, since nobody waits for the next item here. */
const BUDGET = 1_000_000;

/**
 * Whether a run without these items (model indices) must leave a minimum unmet that it could meet with them. Minima that the pool cannot
 * meet at all make no difference, nor does a search that comes to no end.
 */
export function losesMinimum(context: SelectionContext, without: readonly number[]): boolean {
  const planned = (barred: readonly number[]): Plan =>
    planCoverage(context.requirements, startOf(context, barred), { left: BUDGET });
  const rest = planned(without);
  return rest.undecided.length === 0 && planned([]).met.some((minimum) => !rest.met.includes(minimum));
}

/** The start of a run that is offered every admitted item but the barred ones. */
function startOf(
  { admitted, conditions, constraints, requirements }: SelectionContext,
  barred: readonly number[] = [],
): Standing {
  const usage = usageOf(conditions, []);
  const candidates = admitted.slice();
  bar(conditions, usage, candidates);
  for (const item of barred) candidates[item] = 0;
  return standingOf(requirements, [], usage, candidates, constraints.maxItems);
}

/** Which of the minima can be met by a run that begins with the whole pool, and by which others the rest are kept from it. */
export function feasibilityOf(context: SelectionContext): Feasibility {
  const { requirements } = context;
  const start = startOf(context);
  const { met, undecided } = planCoverage(requirements, start, { left: BUDGET });
  const isExcluded = (minima: readonly number[]): boolean => {
    const budget = { left: BUDGET };
    return cover(requirements, minima, start, budget) === undefined && budget.left >= 0;
  };
  const unmeetable: UnmeetableMinimum[] = [];
  for (const [minimum, need] of start.needs.entries()) {
    if (need <= 0 || met.includes(minimum) || undecided.includes(minimum)) continue;
    const items = start.supply[minimum] ?? 0;
    // Whoever can be left out without making it possible has no part in the conflict.
    let others: readonly number[] = met.filter((other) => other < minimum);
    for (const other of others) {
      const fewer = others.filter((one) => one !== other);
      if (isExcluded([...fewer, minimum])) others = fewer;
    }
    const cause = others.length > 0 ? 'together' : items < need ? 'items' : 'conditions';
    unmeetable.push({ minimum, cause, items, others });
  }
  return { unmeetable, undecided };
}
