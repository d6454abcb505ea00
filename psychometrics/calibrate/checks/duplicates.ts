/** Learners who are in the table several times, found by how often equal rows of answers occur. */
import { condition, type Condition } from '../conditions.ts';
import { log, sqrt } from '../numbers.ts';
import type { StudyData } from '../study-data.ts';

/** With fewer different rows, all their numbers may have a common divisor by chance. */
const DISTINCT_ROWS = 16;
/** How many standard errors the number of rows that occur equally often must be above its bound. */
export const EXCESS = 5;

/** Rows of answers that occur suspiciously often the same number of times. */
interface Copies {
  /** How many different rows occur this often; `every` if every row occurs this often or a multiple of it. */
  readonly rows: number | 'every';
  readonly times: number;
}

/**
 * Returns the number of occurrences that is too frequent among rows of answers; undefined if none is.
 *
 * If learners answer independently of each other, the number of learners with a row is binomial, close to Poisson, however probable each row is. So
 * f_r, the number of rows that occur r times, is a mixture of Poisson probabilities, and r! f_r is log-convex in r: a series of moments
 * (Good, 1953, Biometrika 40, 237-264; Karlin and Studden, 1966, Tchebycheff systems). Copies break this: if each learner is in the table twice, f_2 is
 * large while f_1 and f_3 are 0. No model of the items is needed, so that short and easy tests, in which rows repeat by chance, do not raise it.
 */
export function copiesIn({ counts }: { readonly counts: Float64Array }): Copies | undefined {
  const divisor = counts.reduce(greatestCommonDivisor, 0);
  if (divisor > 1 && counts.length >= DISTINCT_ROWS) return { rows: 'every', times: divisor };
  const frequency = new Map<number, number>();
  for (const count of counts) frequency.set(count, (frequency.get(count) ?? 0) + 1);
  const found = [...frequency.keys()]
    .filter((times) => times > 1)
    .map((times) => ({ times, rows: frequency.get(times) ?? 0, z: excessOf(frequency, times) }))
    .reduce((worst, one) => (one.z > worst.z ? one : worst), { times: 0, rows: 0, z: 0 });
  return found.z > EXCESS ? { rows: found.rows, times: found.times } : undefined;
}

/**
 * Tests whether f_r is above the bound that its neighbours set, f_r^2 r <= f_(r-1) f_(r+1) (r + 1) in expectation: the root of the likelihood ratio of
 * three Poisson counts x, y, z. On the bound their means are x + s, y - 2s and z + s, where s is the smaller root of a quadratic equation.
 */
function excessOf(frequency: ReadonlyMap<number, number>, times: number): number {
  const [x = 0, y = 0, z = 0] = [times - 1, times, times + 1].map((r) => frequency.get(r));
  const ratio = times / (times + 1);
  const gap = ratio * y * y - x * z;
  if (gap <= 0) return 0;
  const [a, b] = [4 * ratio - 1, 4 * ratio * y + x + z];
  const shift = (b - sqrt(b * b - 4 * a * gap)) / (2 * a);
  const part = (count: number, mean: number): number => (count === 0 ? 0 : count * log(count / mean));
  return sqrt(2 * (part(x, x + shift) + part(y, y - 2 * shift) + part(z, z + shift)));
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

/** Returns the condition of copied learners. */
export function duplicateConditions({ responses }: StudyData): Condition[] {
  const copies = copiesIn(responses);
  return copies === undefined ? [] : [condition('duplicated_learners', [], copies)];
}
