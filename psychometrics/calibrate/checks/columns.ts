/** Columns of answers against each other: a reversed key, a column that is there twice, items without variance. */
import { condition, type Condition } from '../conditions.ts';
import { answersOf } from '../model.ts';
import { at, integerAt, log, normalQuantileTwoSided, sqrt, sum } from '../numbers.ts';
import type { StudyData } from '../study-data.ts';

/** The probability that a sound study has an item whose correlation with the rest is this far below 0. */
export const REVERSED_LEVEL = 0.001;
/** Identical columns need at least this many correct and this many incorrect answers in common. */
export const COMMON_ANSWERS = 10;
/** And the probability that two different items of the study agree for all learners must be below this. */
export const IDENTICAL_LEVEL = 0.001;

/** The correlation of an item with the sum of the others. */
export interface ItemRest {
  /** -1 to 1; undefined without variance. */
  readonly correlation: number | undefined;
  readonly learners: number;
}

/**
 * Correlates each item with the rest of the test: the sum over the other answered items of (answer - mean of the item), each with its sign, so that
 * a learner's booklet does not count.
 */
export function itemRest(
  { items, responses, answered, correct }: StudyData,
  signs: readonly number[] = items.map(() => 1),
): ItemRest[] {
  const means = items.map((_, j) => (correct[j] ?? 0) / (answered[j] ?? 1));
  const sums = items.map(() => ({ n: 0, x: 0, y: 0, xx: 0, yy: 0, xy: 0 }));
  responses.counts.forEach((learners, row) => {
    const answers = answersOf(responses, row);
    const parts = means.map((mean, j) => {
      const answer = answers[j] ?? -1;
      return answer < 0 ? 0 : (answer - mean) * (signs[j] ?? 1);
    });
    const total = sum(parts);
    sums.forEach((sum, j) => {
      if ((answers[j] ?? -1) < 0) return;
      const x = parts[j] ?? 0;
      const y = total - x;
      sum.n += learners;
      sum.x += learners * x;
      sum.y += learners * y;
      sum.xx += learners * x * x;
      sum.yy += learners * y * y;
      sum.xy += learners * x * y;
    });
  });
  return sums.map(({ n, x, y, xx, yy, xy }) => {
    const product = (xx - (x * x) / n) * (yy - (y * y) / n);
    return { learners: n, correlation: product > 1e-9 ? (xy - (x * y) / n) / sqrt(product) : undefined };
  });
}

/** Fewer learners give no test of a correlation. */
const FEWEST = 10;

/**
 * Returns the items whose key seems to be reversed: their correlation with the rest is below 0 by Fisher's z, corrected for the number of items
 * (Bonferroni). Under the model all items correlate positively or not at all, on a multidimensional test too. The worst item is reversed before the
 * next one is looked for, so that several reversed items do not hide each other.
 */
function reversedItems(study: StudyData): number[] {
  const signs = study.items.map(() => 1);
  const least = normalQuantileTwoSided((2 * REVERSED_LEVEL) / study.items.length);
  const found: number[] = [];
  while (found.length < study.items.length / 2) {
    const z = itemRest(study, signs).map(({ correlation, learners }) =>
      correlation === undefined || learners < FEWEST
        ? 0
        : 0.5 * log((1 + correlation) / (1 - correlation)) * sqrt(learners - 3),
    );
    const lowest = z.reduce((worst, value, j) => (value < (z[worst] ?? 0) ? j : worst), 0);
    if ((z[lowest] ?? 0) > -least || found.includes(lowest)) break;
    found.push(lowest);
    signs[lowest] = -1;
  }
  return found.toSorted((a, b) => a - b);
}

/** Two items, and how the learners who answered both did. */
interface ColumnPair {
  readonly first: number;
  readonly second: number;
  readonly learners: number;
  /** How many of these answered both alike, and both correctly. */
  readonly alike: number;
  readonly correct: number;
  /** -1 to 1; undefined without variance. */
  readonly correlation: number | undefined;
}

function columnPair({ items, responses }: StudyData, first: number, second: number): ColumnPair {
  let [learners, alike, correct, one, other] = [0, 0, 0, 0, 0];
  for (let row = 0; row < responses.counts.length; row += 1) {
    const a = integerAt(responses.answers, row * items.length + first);
    const b = integerAt(responses.answers, row * items.length + second);
    if (a < 0 || b < 0) continue;
    const count = at(responses.counts, row);
    learners += count;
    alike += a === b ? count : 0;
    correct += a * b * count;
    one += a * count;
    other += b * count;
  }
  const product = one * (learners - one) * other * (learners - other);
  const correlation = product > 0 ? (learners * correct - one * other) / sqrt(product) : undefined;
  return { first, second, learners, alike, correct, correlation };
}

/**
 * Returns the items whose answers are the same as those of another item for all learners who answered both, if chance hardly produces it: the
 * probability that two different items with this share p of correct answers agree for all n learners, (1 - 2 p (1 - p) (1 - r))^n with r the largest
 * correlation of two columns that are not the same, times the number of pairs.
 */
function identicalItems(study: StudyData): number[] {
  const all = study.items.flatMap((_, j) =>
    Array.from({ length: j }, (__, i) => columnPair(study, i, j)).filter(
      ({ learners, correct }) => learners >= 2 * COMMON_ANSWERS && correct > 0,
    ),
  );
  const isSame = ({ alike, learners }: ColumnPair): boolean => alike === learners;
  const largest = all.reduce((r, pair) => (isSame(pair) ? r : Math.max(r, pair.correlation ?? 0)), 0);
  const same = all.filter((pair) => {
    const { learners, correct } = pair;
    if (!isSame(pair) || Math.min(correct, learners - correct) < COMMON_ANSWERS) return false;
    const share = correct / learners;
    const agreement = log(1 - 2 * share * (1 - share) * (1 - largest));
    return learners * agreement + log(all.length) < log(IDENTICAL_LEVEL);
  });
  return [...new Set(same.flatMap(({ first, second }) => [first, second]))].toSorted((a, b) => a - b);
}

/** Returns the conditions of the columns. */
export function columnConditions(study: StudyData): Condition[] {
  const { items, answered, correct } = study;
  const named = (found: readonly number[]): string[] => found.map((j) => items[j] ?? '');
  const identical = identicalItems(study);
  const reversed = reversedItems(study);
  const constant = items.filter((_, j) => correct[j] === 0 || correct[j] === answered[j]);
  return [
    ...(identical.length === 0 ? [] : [condition('identical_items', named(identical))]),
    ...(reversed.length === 0 ? [] : [condition('reversed_items', named(reversed))]),
    ...(constant.length === 0 ? [] : [condition('constant_item', constant)]),
  ];
}
