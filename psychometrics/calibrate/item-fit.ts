/**
 * Measures how well the model fits each item and each pair of items, in addition to the likelihood. Expected figures are the model's own; learners
 * who did not answer an item are left out of its figures, as if answers were missing at random.
 */
import { spread } from './expectation.ts';
import { answersOf, latentPrior, type Design, type Parameters, type Responses } from './model.ts';
import { addTo, at, chiSquareUpper, dot, integerAt, log, normalTwoSided, sqrt } from './numbers.ts';

/** Fit of one item. */
export interface ItemFit {
  readonly answered: number;
  readonly proportion: number;
  readonly expectedProportion: number;
  /** S-X2; absent if too few learners answered everything, or too few score groups are left. */
  readonly sx2?: ChiSquare & { readonly rmsea: number };
}

export interface ChiSquare {
  readonly statistic: number;
  readonly df: number;
  readonly p: number;
}

/** Fit of a pair of items, first < second. */
export interface PairFit {
  readonly first: number;
  readonly second: number;
  readonly learners: number;
  readonly correlation: number;
  readonly expectedCorrelation: number;
  /** (Fisher's z of the observed - that of the expected correlation) * sqrt(n - 3). */
  readonly zCorrelation: number;
  /** (Observed - expected log odds ratio) / its standard error. */
  readonly zLogOdds: number;
}

/** P(correct | pattern) of every item, and P(pattern). */
interface Expectations {
  readonly success: readonly Float64Array[];
  readonly patterns: Float64Array;
}

export function expectationsOf(design: Design, parameters: Parameters): Expectations {
  return {
    success: design.items.map(({ own }, j) => spread(parameters.tables[j], own, (p) => p)),
    patterns: latentPrior(design, parameters).patterns,
  };
}

/** S-X2 needs at least this many learners who answered everything. */
const FEWEST_COMPLETE = 50;

export function fitItems(design: Design, parameters: Parameters, responses: Responses): readonly ItemFit[] {
  const expectations = expectationsOf(design, parameters);
  const complete = completeRows(responses);
  const enough = complete.reduce((n, row) => n + at(responses.counts, row), 0) >= FEWEST_COMPLETE;
  return design.items.map(({ size }, j) => {
    let answered = 0;
    let correct = 0;
    for (let row = 0; row < responses.counts.length; row += 1) {
      const answer = integerAt(responses.answers, row * responses.items + j);
      if (answer >= 0) answered += at(responses.counts, row);
      if (answer === 1) correct += at(responses.counts, row);
    }
    const parametersOfItem = design.model === 'dina' ? 2 : size;
    const sx2 = enough ? scoreGroupFit(expectations, responses, complete, j, parametersOfItem) : undefined;
    return {
      answered,
      proportion: correct / answered,
      expectedProportion: dot(expectations.success[j] ?? new Float64Array(), expectations.patterns),
      ...(sx2 === undefined ? {} : { sx2 }),
    };
  });
}

function completeRows(responses: Responses): number[] {
  return [...responses.counts.keys()].filter((row) => !answersOf(responses, row).includes(-1));
}

/** The least expected frequency of a cell; neighbouring score groups are merged until both cells reach it. */
const LEAST_EXPECTED = 1;

/**
 * Computes S-X2 (Orlando and Thissen, 2000, Applied Psychological Measurement 24, 50-64): observed against expected proportions correct in groups of
 * equal total score, the expected ones by Lord and Wingersky's recursion (1984, ibid. 8, 453-461) over the patterns of mastery, as Sorrel and others
 * (2017, ibid. 41, 614-631) use it for cognitive diagnosis models.
 */
function scoreGroupFit(
  { success, patterns }: Expectations,
  responses: Responses,
  complete: readonly number[],
  item: number,
  parameters: number,
): (ChiSquare & { readonly rmsea: number }) | undefined {
  const items = success.length;
  const own = success[item] ?? new Float64Array();
  const right = new Float64Array(items + 1);
  const all = new Float64Array(items + 1);
  for (let a = 0; a < patterns.length; a += 1) {
    const rest = scoreDistribution(success, a, item);
    for (let s = 0; s < items; s += 1) {
      const mass = at(patterns, a) * at(rest, s);
      addTo(right, s + 1, mass * at(own, a));
      addTo(all, s + 1, mass * at(own, a));
      addTo(all, s, mass * (1 - at(own, a)));
    }
  }
  const learners = new Float64Array(items + 1);
  const correct = new Float64Array(items + 1);
  for (const row of complete) {
    const answers = answersOf(responses, row);
    const score = answers.reduce((total, answer) => total + answer, 0);
    addTo(learners, score, at(responses.counts, row));
    if (answers[item] === 1) addTo(correct, score, at(responses.counts, row));
  }
  const groups = mergedGroups(learners, correct, (s) => at(right, s) / at(all, s), items);
  const df = groups.length - parameters;
  if (df < 1) return undefined;
  let statistic = 0;
  for (const { n, observed, expected } of groups) {
    const difference = observed - expected;
    statistic += (difference * difference) / expected + (difference * difference) / (n - expected);
  }
  const total = groups.reduce((sum, { n }) => sum + n, 0);
  return {
    statistic,
    df,
    p: chiSquareUpper(statistic, df),
    rmsea: sqrt(Math.max(0, statistic - df) / (df * Math.max(1, total - 1))),
  };
}

/** Returns P(score on the other items | pattern). */
function scoreDistribution(success: readonly Float64Array[], pattern: number, without: number): Float64Array {
  const distribution = new Float64Array(success.length);
  distribution[0] = 1;
  let items = 0;
  success.forEach((table, j) => {
    if (j === without) return;
    const p = at(table, pattern);
    items += 1;
    for (let s = items; s >= 0; s -= 1) {
      const same = at(distribution, s) * (1 - p);
      if (s < success.length) distribution[s] = same + (s > 0 ? at(distribution, s - 1) * p : 0);
    }
  });
  return distribution;
}

interface ScoreGroup {
  n: number;
  observed: number;
  expected: number;
}

/** Merges score groups 1 to items - 1: a group that is too thin joins the next one, the last one the group before it. */
function mergedGroups(
  learners: Float64Array,
  correct: Float64Array,
  expectedRate: (score: number) => number,
  items: number,
): ScoreGroup[] {
  const groups: ScoreGroup[] = [];
  let open: ScoreGroup = { n: 0, observed: 0, expected: 0 };
  for (let score = 1; score < items; score += 1) {
    const n = at(learners, score);
    if (n === 0) continue;
    open = {
      n: open.n + n,
      observed: open.observed + at(correct, score),
      expected: open.expected + n * expectedRate(score),
    };
    if (open.expected < LEAST_EXPECTED || open.n - open.expected < LEAST_EXPECTED) continue;
    groups.push(open);
    open = { n: 0, observed: 0, expected: 0 };
  }
  const last = groups.at(-1);
  if (last !== undefined) {
    last.n += open.n;
    last.observed += open.observed;
    last.expected += open.expected;
  }
  return groups;
}

/** The fewest common learners that a pair needs. */
const FEWEST_PAIR = 10;

/**
 * Computes residual correlations and log odds ratios of all pairs (Chen, de la Torre and Zhang, 2013, J. of Educational Measurement 50, 123-140). A
 * pair with an item without variance is left out.
 */
export function fitPairs(design: Design, parameters: Parameters, responses: Responses): readonly PairFit[] {
  const { success, patterns } = expectationsOf(design, parameters);
  const pairs: PairFit[] = [];
  for (let second = 1; second < design.items.length; second += 1) {
    for (let first = 0; first < second; first += 1) {
      const observed = observedCells(responses, first, second);
      const expected = expectedCells(success, patterns, first, second);
      const n = observed.reduce((total, cell) => total + cell, 0);
      const correlation = phi(observed);
      const expectedCorrelation = phi(expected);
      if (n < FEWEST_PAIR || correlation === undefined || expectedCorrelation === undefined) continue;
      pairs.push({
        first,
        second,
        learners: n,
        correlation,
        expectedCorrelation,
        zCorrelation: (fisherZ(correlation) - fisherZ(expectedCorrelation)) * sqrt(n - 3),
        zLogOdds: logOddsResidual(observed, expected),
      });
    }
  }
  return pairs;
}

/** Counts or probabilities of (wrong, wrong), (first correct), (second correct), (both correct). */
type Cells = readonly [number, number, number, number];

function observedCells(responses: Responses, first: number, second: number): Cells {
  const cells: [number, number, number, number] = [0, 0, 0, 0];
  for (let row = 0; row < responses.counts.length; row += 1) {
    const a = integerAt(responses.answers, row * responses.items + first);
    const b = integerAt(responses.answers, row * responses.items + second);
    if (a < 0 || b < 0) continue;
    const cell = a + 2 * b;
    cells[cell] = (cells[cell] ?? 0) + at(responses.counts, row);
  }
  return cells;
}

function expectedCells(
  success: readonly Float64Array[],
  patterns: Float64Array,
  first: number,
  second: number,
): Cells {
  const one = success[first] ?? new Float64Array();
  const other = success[second] ?? new Float64Array();
  const p1 = dot(one, patterns);
  const p2 = dot(other, patterns);
  let both = 0;
  for (let a = 0; a < patterns.length; a += 1) both += at(patterns, a) * at(one, a) * at(other, a);
  return [1 - p1 - p2 + both, p1 - both, p2 - both, both];
}

/** Returns the correlation of a two-by-two table; undefined if an item has no variance. */
function phi([none, first, second, both]: Cells): number | undefined {
  const product = (none + first) * (none + second) * (both + first) * (both + second);
  return product > 0 ? (none * both - first * second) / sqrt(product) : undefined;
}

const ALMOST_ONE = 1 - 1e-9;

function fisherZ(r: number): number {
  const bounded = Math.min(ALMOST_ONE, Math.max(-ALMOST_ONE, r));
  return 0.5 * log((1 + bounded) / (1 - bounded));
}

/** Returns the residual of the log odds ratio. An empty cell counts as a half, with all others raised alike (Haldane, 1956; Anscombe, 1956). */
function logOddsResidual(observed: Cells, expected: Cells): number {
  const add = observed.includes(0) ? 0.5 : 0;
  const [none, first, second, both] = [
    observed[0] + add,
    observed[1] + add,
    observed[2] + add,
    observed[3] + add,
  ];
  const observedLog = log((none * both) / (first * second));
  const expectedLog = log((expected[0] * expected[3]) / (expected[1] * expected[2]));
  return (observedLog - expectedLog) / sqrt(1 / none + 1 / first + 1 / second + 1 / both);
}

/** Returns the largest |z| of the pairs, and its two-sided p, with Bonferroni's correction for the number of pairs. */
export function worstPair(
  pairs: readonly PairFit[],
  zOf: (pair: PairFit) => number,
): { readonly z: number; readonly p: number; readonly pair: PairFit } | undefined {
  const [pair] = pairs.toSorted((a, b) => Math.abs(zOf(b)) - Math.abs(zOf(a)));
  if (pair === undefined) return undefined;
  return { z: zOf(pair), p: Math.min(1, pairs.length * normalTwoSided(zOf(pair))), pair };
}

/**
 * Returns the root mean square of the residual correlations without what chance adds: the sampling variance of each, (1 - expected correlation^2)^2 / n,
 * is taken from its square (Maydeu-Olivares, 2017, Psychometrika 82, 533-558). For binary answers this variance is some 10 % too small, but fitted
 * parameters follow chance by more than that.
 */
export function unbiasedSrmsr(pairs: readonly PairFit[]): number | undefined {
  if (pairs.length === 0) return undefined;
  const total = pairs.reduce(
    (sum, { correlation, expectedCorrelation: expected, learners }) =>
      sum + (correlation - expected) ** 2 - (1 - expected ** 2) ** 2 / learners,
    0,
  );
  return sqrt(Math.max(0, total / pairs.length));
}

/** Returns the root mean square of the residual correlations. */
export function srmsr(pairs: readonly PairFit[]): number | undefined {
  if (pairs.length === 0) return undefined;
  const total = pairs.reduce((sum, pair) => sum + (pair.correlation - pair.expectedCorrelation) ** 2, 0);
  return sqrt(total / pairs.length);
}
