import { cover, coverageOf, coverageStateOf, type CoverageState } from './coverage.ts';
import { bar, usageOf } from './kinds.ts';
import type { SelectionContext } from './selection.ts';

/** A minimum that no run can meet. */
export interface UnmeetableMinimum {
  /** Index in `constraints.minima`. */
  readonly minimum: number;
  /**
   * `items`: too few of the items that count towards it may be offered at all. `conditions`: there are enough, but because of enemies, maxima, the
   * component limit or the length of the run too few of them fit together. `together`: it can be met, but not with the minima in `others`.
   */
  readonly cause: 'items' | 'conditions' | 'together';
  /** How many items that may be offered count towards it, regardless of the others. */
  readonly items: number;
  /** Indices of minima that can be met together, but not with this one. Each of them takes part in the conflict, as far as the search could show. */
  readonly others: readonly number[];
}

/** What a pool can do for a policy. */
export interface Feasibility {
  /** In the order of the minima. Where a minimum cannot be met together with earlier ones, only the later one is listed. */
  readonly unmeetable: readonly UnmeetableMinimum[];
  /** Minima for which the search reached no result: they may be meetable. */
  readonly undecided: readonly number[];
}

/** The search budget of all questions about one policy: far more than a selection may, since no learner waits for the next item here. */
const SEARCH_BUDGET = 3_000_000;

/**
 * Returns whether a run without these items (model indices) must leave a minimum unmet that it could meet with them. Minima that the pool cannot meet
 * at all make no difference, nor does one for which the search reaches no result.
 */
export function losesMinimum(context: SelectionContext, without: readonly number[]): boolean {
  const whole = coverageOf(context.rules, startOf(context, []), { left: SEARCH_BUDGET });
  const rest = coverageOf(context.rules, startOf(context, without), { left: SEARCH_BUDGET });
  // The whole pool meets all that the rest meets: at the first difference, the plan that meets the minimum is the better one.
  const parting = context.constraints.minima.findIndex(
    (_, minimum) => whole.met.includes(minimum) !== rest.met.includes(minimum),
  );
  return rest.undecided.length === 0 && whole.met.includes(parting);
}

/** The start of a run that is offered every admitted item but the barred ones. */
function startOf(
  { admitted, constraints, rules }: SelectionContext,
  barred: readonly number[],
): CoverageState {
  const usage = usageOf(rules, []);
  const candidates = admitted.slice();
  bar(rules, usage, candidates);
  for (const item of barred) candidates[item] = 0;
  return coverageStateOf(rules, usage, candidates, constraints.maxItems);
}

/** Returns which minima a run that begins with the whole pool cannot meet, and which other minima prevent each of them. */
export function feasibilityOf(context: SelectionContext): Feasibility {
  const { rules } = context;
  const start = startOf(context, []);
  const budget = { left: SEARCH_BUDGET };
  const { met, undecided } = coverageOf(rules, start, budget);
  const unmeetable: UnmeetableMinimum[] = [];
  const open = [...undecided];
  for (const [minimum, need] of start.needs.entries()) {
    if (need <= 0 || met.includes(minimum) || undecided.includes(minimum)) continue;
    const items = (rules.kindsTowards[minimum] ?? []).reduce(
      (sum, { index }) => sum + (start.supply[index] ?? 0),
      0,
    );
    const alone = cover(rules, start, [minimum], budget);
    if (alone === 'undecided') open.push(minimum);
    if (alone === 'impossible')
      unmeetable.push({ minimum, cause: items < need ? 'items' : 'conditions', items, others: [] });
    if (typeof alone !== 'object') continue;
    // A minimum has no part in the conflict if the conflict remains without it.
    let others: readonly number[] = met.filter((other) => other < minimum);
    for (const other of others) {
      const fewer = others.filter((one) => one !== other);
      if (cover(rules, start, [...fewer, minimum], budget) === 'impossible') others = fewer;
    }
    unmeetable.push({ minimum, cause: 'together', items, others });
  }
  return { unmeetable, undecided: open.toSorted((a, b) => a - b) };
}
