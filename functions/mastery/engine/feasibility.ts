import { cover, planCoverage } from './coverage.ts';
import type { CoverageProblem } from './coverage.ts';
import { coverageProblem, needsAfter } from './reachability.ts';
import type { SelectionContext } from './selection.ts';
import { usageOf } from './side-conditions.ts';

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

/** Item visits for one question: ten times what a selection may spend, since nobody waits for the next item here. */
const QUESTION_BUDGET = 300_000;

type Answer = 'yes' | 'no' | 'undecided';

/**
 * Whether a run without these items (model indices) must leave a minimum unmet that it could meet with them. Minima that the pool cannot
 * meet at all make no difference, nor does a search that comes to no end.
 */
export function losesMinimum(context: SelectionContext, without: readonly number[]): boolean {
  const planned = (barred: readonly number[]) => {
    const budget = { left: QUESTION_BUDGET };
    const { met } = planCoverage(wholeProblem(context, barred), context.constraints.maxItems, budget);
    return { met: met.length, isCertain: budget.left > 0 };
  };
  const rest = planned(without);
  return rest.isCertain && rest.met < planned([]).met;
}

/** The minima as they stand before a run that is offered every admitted item but the barred ones. */
function wholeProblem(
  { admitted, conditions, requirements }: SelectionContext,
  barred: readonly number[] = [],
): CoverageProblem {
  const candidates = admitted.slice();
  usageOf(conditions, []).bar(candidates);
  for (const item of barred) candidates[item] = 0;
  return coverageProblem(requirements, conditions, needsAfter(requirements, []), [], candidates);
}

/** Which of the minima can be met by a run that begins with the whole pool, and by which others the rest are kept from it. */
export function feasibilityOf(context: SelectionContext): Feasibility {
  const problem = wholeProblem(context);
  const canMeet = (minima: readonly number[]): Answer => {
    const budget = { left: QUESTION_BUDGET };
    if (cover(problem, minima, context.constraints.maxItems, budget) !== undefined) return 'yes';
    return budget.left > 0 ? 'no' : 'undecided';
  };
  const met: number[] = [];
  const unmeetable: UnmeetableMinimum[] = [];
  const undecided: number[] = [];
  for (const [minimum, need] of problem.needs.entries()) {
    if (need <= 0) continue;
    const items = problem.servers[minimum]?.length ?? 0;
    const alone = items < need ? 'no' : canMeet([minimum]);
    if (alone === 'no') {
      unmeetable.push({ minimum, cause: items < need ? 'items' : 'conditions', items, others: [] });
      continue;
    }
    const together = alone === 'yes' ? canMeet([...met, minimum]) : 'undecided';
    if (together === 'yes') met.push(minimum);
    if (together === 'undecided') undecided.push(minimum);
    if (together !== 'no') continue;
    // Whoever can be left out without making it possible has no part in the conflict.
    let others: readonly number[] = [...met];
    for (const other of met) {
      const fewer = others.filter((one) => one !== other);
      if (canMeet([...fewer, minimum]) === 'no') others = fewer;
    }
    unmeetable.push({ minimum, cause: 'together', items, others });
  }
  return { unmeetable, undecided };
}
