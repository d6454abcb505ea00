/** Columns of answers against each other: a reversed key, a column that is there twice, items without variance. */
import { condition, type Condition } from '../conditions.ts';
import { answersOf } from '../model.ts';
import { at, log, normalQuantileTwoSided, sqrt } from '../numbers.ts';
import type { StudyData } from '../study-data.ts';

/** The probability that a sound study has an item whose correlation with the rest is this far below 0. */
export const REVERSED_LEVEL = 0.001;
/** Identical columns need at least this many correct and this many incorrect answers in common. */
export const COMMON_ANSWERS = 10;

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
    const total = parts.reduce((a, b) => a + b, 0);
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

/** Returns the items whose answers are the same as those of an earlier item for all learners who answered both, with that item. */
function identicalItems({ items, responses, answered, correct }: StudyData): number[] {
  const rows = [...responses.counts.keys()];
  const agree = (j: number, i: number): boolean => {
    const both = [0, 0];
    for (const row of rows) {
      const [a = -1, b = -1] = [
        responses.answers[row * items.length + j],
        responses.answers[row * items.length + i],
      ];
      if (a < 0 || b < 0) continue;
      if (a !== b) return false;
      both[a] = (both[a] ?? 0) + at(responses.counts, row);
    }
    return Math.min(...both) >= COMMON_ANSWERS;
  };
  const same = new Set<number>();
  for (let j = 0; j < items.length; j += 1) {
    if (correct[j] === 0 || correct[j] === answered[j]) continue;
    for (let i = 0; i < j; i += 1) if (agree(j, i)) same.add(i).add(j);
  }
  return [...same].toSorted((a, b) => a - b);
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
