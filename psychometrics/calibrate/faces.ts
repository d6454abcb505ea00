/**
 * The face of the feasible set on which a point may move: what is free, what a bound holds, and which patterns monotonicity holds together, by the sign
 * of the score (conditions of Karush, Kuhn and Tucker). The score is that of the observed data: by Fisher's identity it follows from the expected counts.
 */
import type { ExpectedCounts } from './expectation.ts';
import { isotonicTable } from './isotonic.ts';
import { curveTerms, pushesOutward, type CurveTerms } from './maximization.ts';
import type { Design, Parameters } from './model.ts';
import { at, sum } from './numbers.ts';

/** One free parameter. Patterns of a table that move together share one. */
export type FreeParameter =
  | { readonly kind: 'table'; readonly item: number; readonly patterns: readonly number[] }
  | { readonly kind: 'slope' | 'location'; readonly kc: number }
  /** One of `Parameters.extras`. */
  | { readonly kind: 'extra'; readonly index: number };

/** A free parameter of the prior. */
export type PriorParameter = Exclude<FreeParameter, { readonly kind: 'table' }>;

/** Returns the place of a parameter among those of the prior: slopes, locations, extras. */
export function priorPlace(kcCount: number, one: PriorParameter): number {
  if (one.kind === 'extra') return 2 * kcCount + one.index;
  return one.kind === 'slope' ? one.kc : kcCount + one.kc;
}

/** Returns the parameter at a place among those of the prior. */
function priorParameter(kcCount: number, place: number): PriorParameter {
  if (place >= 2 * kcCount) return { kind: 'extra', index: place - 2 * kcCount };
  return place < kcCount ? { kind: 'slope', kc: place } : { kind: 'location', kc: place - kcCount };
}

/** The face at some parameters, with the score on it: in the logits of probabilities, logarithms of slopes, and locations. */
export interface Face {
  readonly free: readonly FreeParameter[];
  readonly score: Float64Array;
  /** The complete data's information of each free probability; that of the curves is in `curves`. */
  readonly information: Float64Array;
  readonly curves: CurveTerms;
}

/** Returns the face for parameters and the expected counts at them. */
export function faceAt(design: Design, parameters: Parameters, counts: ExpectedCounts): Face {
  const free: FreeParameter[] = [];
  const score: number[] = [];
  const information: number[] = [];
  design.items.forEach((_, item) => {
    const table = parameters.tables[item] ?? new Float64Array();
    const answered = counts.answered[item] ?? table;
    const correct = counts.correct[item] ?? table;
    for (const patterns of together(design, table, answered, correct)) {
      const p = at(table, patterns[0] ?? 0);
      const n = sum(patterns.map((s) => at(answered, s)));
      const value = sum(patterns.map((s) => at(correct, s))) - n * p;
      if ((p <= design.bound && value <= 0) || (p >= 1 - design.bound && value >= 0)) continue;
      free.push({ kind: 'table', item, patterns });
      score.push(value);
      information.push(n * p * (1 - p));
    }
  });
  const curves = curveTerms(design, parameters, counts.everybody);
  curves.score.forEach((value, n) => {
    if (pushesOutward(design, parameters, n, value)) return;
    free.push(priorParameter(design.kcCount, n));
    score.push(value);
    information.push(0);
  });
  return { free, score: Float64Array.from(score), information: Float64Array.from(information), curves };
}

/** Distinct values of a table are this far apart when their order is all that counts: more than two proportions differ. */
const APART = 4;
/** The weight of a pattern that no learner is expected to have. */
const LEAST_WEIGHT = 1e-12;

/** Returns sets of patterns that move together: of one value, and pooled when each moves to its own proportion. */
function together(
  design: Design,
  table: Float64Array,
  answered: Float64Array,
  correct: Float64Array,
): number[][] {
  if (!design.monotone) return Array.from(table, (_, pattern) => [pattern]);
  const last = table.length - 1;
  if (design.model === 'dina' && at(table, 0) < at(table, last))
    return [Array.from({ length: last }, (_, s) => s), [last]];
  const cells = design.model === 'dina' ? 2 : table.length;
  const cellOf = (s: number): number => (design.model === 'dina' ? Number(s === last) : s);
  const weights = new Float64Array(cells).fill(LEAST_WEIGHT);
  const excess = new Float64Array(cells);
  table.forEach((p, s) => {
    const n = at(answered, s);
    weights[cellOf(s)] = at(weights, cellOf(s)) + n;
    excess[cellOf(s)] = at(excess, cellOf(s)) + at(correct, s) - n * p;
  });
  const order = [...new Set(table)].sort((a, b) => a - b);
  const rank = new Map(order.map((value, n) => [value, APART * n]));
  const start = Float64Array.from(
    { length: cells },
    (_, cell) => rank.get(at(table, cells === 2 ? cell * last : cell)) ?? 0,
  );
  const target = isotonicTable(
    start.map((value, cell) => value + at(excess, cell) / at(weights, cell)),
    weights,
  );
  return levelSets(target).map((set) =>
    design.model === 'gdina' ? set : [...table.keys()].filter((s) => set.includes(cellOf(s))),
  );
}

/** Returns the sets of patterns of equal value that are connected by adding one KC at a time. */
export function levelSets(table: Float64Array): number[][] {
  const setOf = Array.from(table, (_, pattern) => pattern);
  for (let pattern = 0; pattern < table.length; pattern += 1) {
    for (let bit = 1; bit < table.length; bit *= 2) {
      const larger = pattern | bit;
      if (larger === pattern || at(table, larger) !== at(table, pattern)) continue;
      const [low = 0, high = 0] = [setOf[pattern] ?? 0, setOf[larger] ?? 0].sort((a, b) => a - b);
      setOf.forEach((set, member) => {
        if (set === high) setOf[member] = low;
      });
    }
  }
  return [...Map.groupBy(setOf.keys(), (pattern) => setOf[pattern]).values()];
}
