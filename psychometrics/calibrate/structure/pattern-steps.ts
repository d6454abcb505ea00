/**
 * E-step and M-step of the items over patterns of mastery. Answers depend on a structure only through P(pattern), so that one E-step serves all
 * structures. Items with the same KCs share their sums, and products of probabilities replace sums of logarithms.
 */
import { isotonicTable } from '../isotonic.ts';
import { answersOf, type Design, type Parameters, type Responses } from '../model.ts';
import { addTo, at, clamp, integerAt, log } from '../numbers.ts';

/** An item with a free probability per level. A saturated item has a level per own pattern, a DINA item has two: not all KCs, all KCs. */
export interface LeveledItem {
  /** A power of 2: levels are patterns of KCs, or of the one bit "all KCs". */
  readonly levels: number;
  /** Pattern of all KCs -> level. */
  readonly levelOf: Uint16Array;
  readonly isSaturated: boolean;
  /** Items of one group share `levelOf`. */
  readonly group: number;
}

/** Items with the richest model that the data bear, and the bound of their probabilities. */
export interface Bank {
  readonly items: readonly LeveledItem[];
  readonly bound: number;
}

/** Creates the bank: items for which `isRich` returns true are saturated, all others DINA. */
export function createBank({ items, bound }: Design, isRich: (item: number) => boolean): Bank {
  const groups = new Map<string, number>();
  return {
    bound,
    items: items.map(({ kcs, size, own }, j) => {
      const isSaturated = size === 2 || isRich(j);
      const key = `${kcs.join()} ${isSaturated}`;
      const group = groups.get(key) ?? groups.size;
      groups.set(key, group);
      return {
        levels: isSaturated ? size : 2,
        levelOf: isSaturated ? own : own.map((pattern) => Number(pattern === size - 1)),
        isSaturated,
        group,
      };
    }),
  };
}

/** Returns the free probabilities of all items. */
export function itemParameters({ items }: Bank): number {
  return items.reduce((total, { levels }) => total + levels, 0);
}

/** Converts tables of a fit into tables by level. */
export function tablesByLevel({ items }: Bank, { tables }: Parameters): Float64Array[] {
  return items.map(({ levels }, j) => {
    const table = tables[j] ?? new Float64Array(levels);
    return levels === table.length
      ? table.slice()
      : Float64Array.of(at(table, 0), at(table, table.length - 1));
  });
}

/** Expected counts given the answers. */
export interface PatternCounts {
  readonly logLikelihood: number;
  /** Learners with each pattern of the support. */
  readonly patterns: Float64Array;
  /** For each item and level: learners who answered it, and who answered it correctly. */
  readonly answered: readonly Float64Array[];
  readonly correct: readonly Float64Array[];
}

/** Numbers that a block of rows holds per step: as many as stay in a processor's cache. */
const BLOCK = 16_384;
/** After so many items a row's products are divided by their sum, so that they do not underflow with hundreds of items. */
const ITEMS_PER_SCALE = 60;

/**
 * Returns the E-step for patterns of one support. The returned function takes P(pattern) on the support (ascending patterns) and tables by level.
 * Rows cost items x levels + 2 x groups x patterns each; the innermost loops go over a block of rows.
 */
export function patternStep(
  { items }: Bank,
  support: Int32Array,
  responses: Responses,
): (prior: Float64Array, tables: readonly Float64Array[]) => PatternCounts {
  const size = support.length;
  const rows = responses.counts.length;
  const block = Math.max(1, Math.min(rows, Math.floor(BLOCK / size)));
  const groups = Array.from({ length: 1 + Math.max(...items.map(({ group }) => group)) }, (_, group) => {
    const members = items.flatMap((item, j) => (item.group === group ? [j] : []));
    const { levelOf, levels } = items[members[0] ?? 0] as LeveledItem;
    return { members, levels, levelOf: Int32Array.from(support, (pattern) => integerAt(levelOf, pattern)) };
  });
  const byItem = transposed(responses);
  const posterior = new Float64Array(size * block);
  const byLevel = new Float64Array(block * Math.max(...items.map(({ levels }) => levels)));
  const totals = new Float64Array(block);
  const logScale = new Float64Array(block);
  const divideBySums = (n: number): void => {
    totals.fill(0);
    for (let a = 0; a < size; a += 1) addInto(totals, 0, posterior, a * n, n);
    for (let r = 0; r < n; r += 1) {
      addTo(logScale, r, log(at(totals, r)));
      totals[r] = 1 / at(totals, r);
    }
    for (let a = 0; a < size; a += 1) multiplyInto(posterior, a * n, totals, 0, n);
  };
  return (prior, tables) => {
    const patterns = new Float64Array(size);
    const answered = items.map(({ levels }) => new Float64Array(levels));
    const correct = items.map(({ levels }) => new Float64Array(levels));
    let logLikelihood = 0;
    for (let from = 0; from < rows; from += block) {
      const n = Math.min(block, rows - from);
      for (let a = 0; a < size; a += 1) posterior.fill(at(prior, a), a * n, (a + 1) * n);
      logScale.fill(0);
      let multiplied = 0;
      for (const { members, levels, levelOf } of groups) {
        byLevel.fill(1);
        for (const j of members) {
          const table = tables[j] as Float64Array;
          for (let s = 0; s < levels; s += 1)
            multiplyByAnswers(byLevel, s * n, byItem, j * rows + from, n, at(table, s));
          multiplied += 1;
        }
        for (let a = 0; a < size; a += 1)
          multiplyInto(posterior, a * n, byLevel, integerAt(levelOf, a) * n, n);
        if (multiplied < ITEMS_PER_SCALE) continue;
        multiplied = 0;
        divideBySums(n);
      }
      divideBySums(n);
      for (let r = 0; r < n; r += 1) {
        const count = at(responses.counts, from + r);
        logLikelihood += count * at(logScale, r);
        totals[r] = count;
      }
      for (let a = 0; a < size; a += 1) {
        multiplyInto(posterior, a * n, totals, 0, n);
        addTo(patterns, a, total(posterior, a * n, n));
      }
      for (const { members, levels, levelOf } of groups) {
        byLevel.fill(0);
        for (let a = 0; a < size; a += 1) addInto(byLevel, integerAt(levelOf, a) * n, posterior, a * n, n);
        for (const j of members) {
          for (let s = 0; s < levels; s += 1) {
            const place = s * n;
            let [right, wrong] = [0, 0];
            for (let r = 0; r < n; r += 1) {
              const answer = byItem[j * rows + from + r] as number;
              if (answer === 2) right += at(byLevel, place + r);
              else if (answer === 1) wrong += at(byLevel, place + r);
            }
            addTo(answered[j] as Float64Array, s, right + wrong);
            addTo(correct[j] as Float64Array, s, right);
          }
        }
      }
    }
    return { logLikelihood, patterns, answered, correct };
  };
}

/** Returns the answers by item, as the place of a factor: 0 missing, 1 wrong, 2 correct. */
function transposed(responses: Responses): Int8Array {
  const rows = responses.counts.length;
  const result = new Int8Array(rows * responses.items);
  for (let row = 0; row < rows; row += 1) {
    const answers = answersOf(responses, row);
    for (let j = 0; j < answers.length; j += 1) result[j * rows + row] = integerAt(answers, j) + 1;
  }
  return result;
}

function multiplyByAnswers(
  values: Float64Array,
  place: number,
  answers: Int8Array,
  from: number,
  n: number,
  p: number,
): void {
  const factors = Float64Array.of(1, 1 - p, p);
  for (let r = 0; r < n; r += 1) {
    values[place + r] = (values[place + r] as number) * (factors[answers[from + r] as number] as number);
  }
}

function multiplyInto(
  values: Float64Array,
  place: number,
  factors: Float64Array,
  from: number,
  n: number,
): void {
  for (let r = 0; r < n; r += 1)
    values[place + r] = (values[place + r] as number) * (factors[from + r] as number);
}

function addInto(sums: Float64Array, place: number, values: Float64Array, from: number, n: number): void {
  for (let r = 0; r < n; r += 1) sums[place + r] = (sums[place + r] as number) + (values[from + r] as number);
}

function total(values: Float64Array, from: number, n: number): number {
  let result = 0;
  for (let r = from; r < from + n; r += 1) result += values[r] as number;
  return result;
}

/** The weight of an earlier probability, in learners: it decides only where no learner is expected. */
const MEMORY = 1e-9;

/** Returns the monotone tables of the highest likelihood. */
export function maximizeTables(
  bank: Bank,
  { answered, correct }: Pick<PatternCounts, 'answered' | 'correct'>,
  before: readonly Float64Array[],
): Float64Array[] {
  return before.map((table, j) => {
    const weights = (answered[j] as Float64Array).map((count) => count + MEMORY);
    const rates = table.map((p, s) => (at(correct[j] as Float64Array, s) + MEMORY * p) / at(weights, s));
    return isotonicTable(rates, weights).map((p) => clamp(p, bank.bound, 1 - bank.bound));
  });
}
