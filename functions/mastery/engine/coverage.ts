import { integerAt as at } from './kernels/ho-cdm-grid-1/arrays.ts';
import { fits, use, type Kind, type Rules, type Usage } from './kinds.ts';

/**
 * Decides which minima ("at least n of these items") can still be met in the remaining slots. In general this is set multicover under side
 * conditions, which is NP-hard. Policies have few minima: most often the first dive of the search meets them, and the rest is bounded.
 */

/** Where a run stands, or a plan for the rest of it. It is never changed: one more item makes another standing. */
export interface CoverageState extends Usage {
  /** How many items of each kind that counts towards an open minimum may be used next, before any are planned. */
  readonly supply: Int32Array;
  readonly slots: number;
  /** The kinds of the planned items, one entry per item. */
  readonly planned: readonly Kind[];
}

/** @param candidates 1 for items that may be used next, each by itself */
export function coverageStateOf(
  rules: Rules,
  usage: Usage,
  candidates: Uint8Array,
  slots: number,
): CoverageState {
  const supply = new Int32Array(rules.kinds.length);
  for (const { index, items, minima } of rules.kinds)
    if (openOf(minima, usage.needs) > 0)
      for (const item of items) supply[index] = at(supply, index) + (candidates[item] ?? 0);
  return { ...usage, supply, slots, planned: [] };
}

/** Returns how many of these minima are open. */
export function openOf(minima: readonly number[], needs: Int32Array): number {
  let open = 0;
  for (const minimum of minima) if (at(needs, minimum) > 0) open += 1;
  return open;
}

/** The standing with one more item planned. */
export function plan(before: CoverageState, kind: Kind): CoverageState {
  return {
    ...before,
    ...use(before, kind),
    slots: before.slots - 1,
    planned: [...before.planned, kind],
  };
}

/** The number of kinds that may still be looked at. It bounds the search and not its time, so that every machine gives up at the same point. */
export interface SearchBudget {
  left: number;
  /** Looks that dives have made without reducing `left`. */
  dived?: number;
}

/** The share of the budget that one question must leave for others. */
const RESERVE = 4 / 5;

/** The cost of planning an item, in looks at a kind. */
const STEP = 50;

/** More than the rounding of a sum of quotients. */
const MARGIN = 1e-9;

/** A standing in which what was asked for is met, or why there is none. */
export type Answer = CoverageState | 'impossible' | 'undecided';

/**
 * Plans items until all of these minima are met. The search goes depth first: it serves the minimum with the least choice next, by an item of the
 * kind that counts towards the most open ones. It leaves out a kind that led to a dead end from there on, so that it meets each set of items once. It
 * gives up only at a dead end: the first dive takes no more steps than there are slots, and always ends.
 */
export function cover(
  rules: Rules,
  start: CoverageState,
  wanted: readonly number[],
  budget: SearchBudget,
): Answer {
  if (budget.left <= 0) return 'undecided';
  const reserve = budget.left * RESERVE;
  const supply = start.supply.slice();
  const choice = new Int32Array(start.needs.length);
  const widest = new Int32Array(start.needs.length);
  const asked = new Int32Array(start.needs.length);
  for (const minimum of wanted) asked[minimum] = at(start.needs, minimum);
  /** Takes this many items of a kind out of the supply. */
  const takeOut = ({ index, minima }: Kind, count: number): void => {
    supply[index] = at(supply, index) - count;
    for (const minimum of minima) choice[minimum] = at(choice, minimum) - count;
  };
  for (const minimum of wanted)
    for (const kind of rules.kindsTowards[minimum] ?? []) {
      const items = at(supply, kind.index);
      budget.left -= 1;
      if (items <= 0) continue;
      choice[minimum] = at(choice, minimum) + items;
      widest[minimum] = Math.max(at(widest, minimum), openOf(kind.minima, asked));
    }
  for (const kind of start.planned) takeOut(kind, 1);

  /** Returns the share of a slot that an item saves for the open minima: at most 1, however many it counts towards. */
  const shareOf = ({ minima }: Kind, needs: Int32Array): number => {
    let share = 0;
    for (const minimum of minima)
      if (at(asked, minimum) > 0 && at(needs, minimum) > 0) share += 1 / at(widest, minimum);
    return share;
  };
  /** The open minimum with the least choice; undefined when they cannot all be met. */
  const mostUrgent = (open: readonly number[], { needs, slots }: CoverageState): number | undefined => {
    const slack = (minimum: number): number => at(choice, minimum) - at(needs, minimum);
    for (const minimum of open) if (slack(minimum) < 0 || at(needs, minimum) > slots) return undefined;
    return open.reduce((a, b) => (slack(b) < slack(a) ? b : a));
  };
  /**
   * Returns the kind that counts towards the most open minima, among those that leave enough slots.
   * @param least slots that the open minima take
   * @returns undefined if there is none, or if too few items fit for this minimum
   */
  const bestKind = (minimum: number, state: CoverageState, least: number): Kind | undefined => {
    const kinds = rules.kindsTowards[minimum] ?? [];
    budget.left -= STEP + wanted.length + kinds.length;
    let items = 0;
    let best: Kind | undefined;
    let most = 0;
    for (const kind of kinds) {
      if (at(supply, kind.index) <= 0 || !fits(state, kind)) continue;
      items += at(supply, kind.index);
      const open = openOf(kind.minima, state.needs);
      if (open <= most || least - shareOf(kind, state.needs) > state.slots - 1 + MARGIN) continue;
      best = kind;
      most = open;
    }
    return items < at(state.needs, minimum) ? undefined : best;
  };
  const descend = (state: CoverageState): Answer => {
    const open = wanted.filter((minimum) => at(state.needs, minimum) > 0);
    if (open.length === 0) return state;
    const least = open.reduce((sum, minimum) => sum + at(state.needs, minimum) / at(widest, minimum), 0);
    const leftOut: [Kind, number][] = [];
    for (;;) {
      const minimum = mostUrgent(open, state);
      const kind = minimum === undefined ? undefined : bestKind(minimum, state, least);
      if (kind === undefined) break;
      takeOut(kind, 1);
      const found = descend(plan(state, kind));
      if (found !== 'impossible') return found;
      if (budget.left <= reserve) return 'undecided';
      const others = at(supply, kind.index);
      takeOut(kind, others);
      leftOut.push([kind, others + 1]);
    }
    for (const [kind, count] of leftOut) takeOut(kind, -count);
    return 'impossible';
  };
  return descend(start);
}

/** The result of planning for the open minima. */
export interface Coverage {
  /** The minima that the plan meets, ascending. */
  readonly met: readonly number[];
  /** The minima for which the search reached no result. */
  readonly undecided: readonly number[];
  readonly plan: CoverageState;
}

/**
 * Returns a plan that meets every open minimum. If there is none, it goes through the minima in order and meets each that can be met together with
 * those before it: a later one never displaces an earlier one.
 */
export function coverageOf(rules: Rules, start: CoverageState, budget: SearchBudget): Coverage {
  const open = [...start.needs.keys()].filter((minimum) => at(start.needs, minimum) > 0);
  const all = cover(rules, start, open, budget);
  if (typeof all === 'object') return { met: open, undecided: [], plan: all };
  const met: number[] = [];
  const undecided: number[] = [];
  let plan = start;
  for (const minimum of open) {
    // One dive from the present plan is enough for most.
    const dive: SearchBudget = { left: 1 };
    const longer = cover(rules, plan, [minimum], dive);
    budget.dived = (budget.dived ?? 0) + 1 - dive.left;
    const answer = typeof longer === 'object' ? longer : cover(rules, start, [...met, minimum], budget);
    if (typeof answer === 'object') {
      plan = answer;
      met.push(minimum);
    } else if (answer === 'undecided') undecided.push(minimum);
  }
  return { met, undecided, plan };
}
