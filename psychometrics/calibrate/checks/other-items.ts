/**
 * What the other items know of each learner: P(pattern | answers to all items but one). An item that is judged by it does not take part in its own
 * judgement, and a row of the Q-matrix is compared with every other one at the cost of a single E-step.
 */
import { eachRow } from '../expectation.ts';
import { latentPrior } from '../model.ts';
import type { LatentPrior } from '../dependence.ts';
import type { Design, Parameters, Responses } from '../model.ts';
import { addTo, at, clamp, integerAt, log, sqrt, sum } from '../numbers.ts';

/** Distinct rows of answers with P(pattern | answers), rows x patterns. */
export interface Posteriors {
  readonly responses: Responses;
  readonly values: Float64Array;
}

/** The most steps (rows x items x patterns x KCs) that the checks of items take. */
const MOST_STEPS = 1e9;

/** Returns the posteriors of all rows, or of as many evenly spaced ones as `mostSteps` allows. */
export function posteriorsOf(
  design: Design,
  parameters: Parameters,
  all: Responses,
  priorOf: (design: Design, parameters: Parameters, responses: Responses) => LatentPrior,
  mostSteps: number = MOST_STEPS,
): Posteriors {
  const { patterns, kcCount } = design;
  const steps = all.counts.length * all.items * patterns * kcCount;
  const responses = everyNth(all, Math.ceil(steps / mostSteps));
  const values = new Float64Array(responses.counts.length * patterns);
  eachRow(design, parameters, priorOf(design, parameters, responses), responses, (row, posterior) => {
    values.set(posterior, row * patterns);
  });
  return { responses, values };
}

/** The most steps of the free distribution, which starts near its end, and the largest change of a pattern's share that ends them. */
const PRIOR_STEPS = 25;
const PRIOR_CHANGE = 1e-4;

/**
 * Returns the distribution of patterns that the answers show, by EM with the items as fitted. Prerequisites or several abilities, which the fitted
 * distribution does not know, would otherwise pose as wrong rows: an item seems to need what its KC requires.
 */
export function freePrior(design: Design, parameters: Parameters, responses: Responses): LatentPrior {
  const fitted = latentPrior(design, parameters);
  let { patterns } = fitted;
  for (let step = 0; step < PRIOR_STEPS; step += 1) {
    const expected = new Float64Array(patterns.length);
    eachRow(design, parameters, { ...fitted, patterns }, responses, (row, posterior) => {
      const share = at(responses.counts, row) / responses.learners;
      for (let a = 0; a < posterior.length; a += 1) addTo(expected, a, share * at(posterior, a));
    });
    const change = expected.reduce((largest, p, a) => Math.max(largest, Math.abs(p - at(patterns, a))), 0);
    patterns = expected;
    if (change < PRIOR_CHANGE) break;
  }
  return { ...fitted, patterns };
}

function everyNth(all: Responses, n: number): Responses {
  if (n === 1) return all;
  const { items, answers, counts } = all;
  const rows = Array.from({ length: Math.ceil(counts.length / n) }, (_, row) => row * n);
  const taken = new Int8Array(rows.length * items);
  rows.forEach((row, to) => {
    taken.set(answers.subarray(row * items, (row + 1) * items), to * items);
  });
  const weights = Float64Array.from(rows, (row) => at(counts, row));
  return { learners: sum(weights), items, answers: taken, counts: weights };
}

/** Learners who answered one item, by distinct rows of answers. */
export interface ItemView {
  readonly rows: number;
  /** 1 correct, 0 wrong. */
  readonly correct: Int8Array;
  readonly counts: Float64Array;
  readonly learners: number;
  /** P(all KCs of a set mastered | the other answers), at row * 2^K + set. */
  readonly masters: Float64Array;
  /** Log-likelihood of the item's answers given the others, at the fitted table. */
  readonly logLikelihood: number;
}

/** Returns what the other items know of the learners who answered an item. */
export function viewOf(
  { patterns, items }: Design,
  { tables }: Parameters,
  { responses, values }: Posteriors,
  item: number,
): ItemView {
  const table = tables[item] ?? new Float64Array();
  const own = items[item]?.own ?? new Uint16Array(patterns);
  const success = Float64Array.from(own, (pattern) => at(table, pattern));
  const answerOf = (row: number): number => integerAt(responses.answers, row * responses.items + item);
  const answered = [...responses.counts.keys()].filter((row) => answerOf(row) >= 0);
  const correct = Int8Array.from(answered, answerOf);
  const counts = Float64Array.from(answered, (row) => at(responses.counts, row));
  const masters = new Float64Array(answered.length * patterns);
  let logLikelihood = 0;
  answered.forEach((row, to) => {
    const start = to * patterns;
    const right = integerAt(correct, to) === 1;
    let total = 0;
    for (let a = 0; a < patterns; a += 1) {
      const p = at(success, a);
      const value = at(values, row * patterns + a) / (right ? p : 1 - p);
      masters[start + a] = value;
      total += value;
    }
    for (let a = 0; a < patterns; a += 1) masters[start + a] = at(masters, start + a) / total;
    // The sum of posterior / likelihood is 1 / P(answer | other answers).
    logLikelihood -= at(counts, to) * log(total);
    for (let bit = 1; bit < patterns; bit *= 2) {
      for (let a = 0; a < patterns; a += 1) {
        if ((a & bit) === 0) addTo(masters, start + a, at(masters, start + a + bit));
      }
    }
  });
  const learners = sum(counts);
  return { rows: answered.length, correct, counts, learners, masters, logLikelihood };
}

/** The two probabilities of a DINA item, without order, and the log-likelihood of its answers given the others. */
export interface TwoValues {
  readonly guess: number;
  readonly success: number;
  readonly logLikelihood: number;
}

const NEWTON_STEPS = 30;
const HALVINGS = 20;
const LEAST_GAIN = 1e-9;

/** Returns the most likely probabilities of an item that needs a set of KCs: Newton's method on a concave function, within the bounds. */
export function twoValuesOf(view: ItemView, set: number, bound: number): TwoValues {
  const size = view.masters.length / view.rows;
  const masters = Float64Array.from({ length: view.rows }, (_, row) => at(view.masters, row * size + set));
  const inside = (p: number): number => clamp(p, bound, 1 - bound);
  const rate = inside(correctOf(view) / view.learners);
  let best = { guess: rate, success: rate };
  let reached = likelihoodOf(view, masters, best);
  for (let step = 0; step < NEWTON_STEPS; step += 1) {
    const { guess, success } = newtonStep(view, masters, best, bound);
    let gain = 0;
    for (let halving = 0, share = 1; halving < HALVINGS && gain <= 0; halving += 1, share /= 2) {
      const next = {
        guess: inside(best.guess + share * guess),
        success: inside(best.success + share * success),
      };
      const value = likelihoodOf(view, masters, next);
      if (value <= reached) continue;
      gain = value - reached;
      best = next;
      reached = value;
    }
    if (gain < LEAST_GAIN) break;
  }
  return { ...best, logLikelihood: reached };
}

/** Returns the log-likelihood of an item on which all learners have the same probability. */
export function constantLikelihood(view: ItemView): number {
  const rate = correctOf(view) / view.learners;
  const term = (p: number): number => (p > 0 ? p * log(p) : 0);
  return view.learners * (term(rate) + term(1 - rate));
}

function correctOf({ correct, counts }: ItemView): number {
  return counts.reduce((total, count, row) => total + count * integerAt(correct, row), 0);
}

type Probabilities = Pick<TwoValues, 'guess' | 'success'>;

function likelihoodOf(view: ItemView, masters: Float64Array, { guess, success }: Probabilities): number {
  let total = 0;
  for (let row = 0; row < view.rows; row += 1) {
    const p = guess + (success - guess) * at(masters, row);
    total += at(view.counts, row) * log(integerAt(view.correct, row) === 1 ? p : 1 - p);
  }
  return total;
}

/** Returns Newton's step; a probability on its bound stays there if the slope leads out. */
function newtonStep(
  view: ItemView,
  masters: Float64Array,
  { guess, success }: Probabilities,
  bound: number,
): Probabilities {
  let [g0, g1, h00, h01, h11] = [0, 0, 0, 0, 0];
  for (let row = 0; row < view.rows; row += 1) {
    const m = at(masters, row);
    const p = guess + (success - guess) * m;
    const right = integerAt(view.correct, row) === 1;
    const inverse = right ? 1 / p : -1 / (1 - p);
    const first = at(view.counts, row) * inverse;
    const second = first * inverse;
    g0 += first * (1 - m);
    g1 += first * m;
    h00 += second * (1 - m) * (1 - m);
    h01 += second * m * (1 - m);
    h11 += second * m * m;
  }
  const held = (p: number, slope: number): boolean => (slope < 0 ? p <= bound : p >= 1 - bound);
  const determinant = h00 * h11 - h01 * h01;
  if (held(guess, g0)) return { guess: 0, success: h11 > 0 ? g1 / h11 : 0 };
  if (held(success, g1)) return { guess: h00 > 0 ? g0 / h00 : 0, success: 0 };
  if (!(determinant > 0)) return { guess: 0, success: 0 };
  return {
    guess: (h11 * g0 - h01 * g1) / determinant,
    success: (h00 * g1 - h01 * g0) / determinant,
  };
}

/** How well a straight line through P(all KCs of a set mastered) explains an item's answers. */
export interface LinearFits {
  /** For each set of KCs the sum of squares that it explains; 0 where the line falls. */
  readonly explained: Float64Array;
  /** For each set the standard error of the line's slope. */
  readonly error: Float64Array;
}

/** Returns the straight lines of all sets of KCs: a quick choice of which ones to fit. */
export function linearFits(view: ItemView): LinearFits {
  const size = view.masters.length / view.rows;
  const sums = new Float64Array(size);
  const squares = new Float64Array(size);
  const products = new Float64Array(size);
  for (let row = 0; row < view.rows; row += 1) {
    const count = at(view.counts, row);
    const right = count * integerAt(view.correct, row);
    for (let set = 1; set < size; set += 1) {
      const m = at(view.masters, row * size + set);
      addTo(sums, set, count * m);
      addTo(squares, set, count * m * m);
      addTo(products, set, right * m);
    }
  }
  const total = view.learners;
  const rate = correctOf(view) / total;
  const variance = squares.map((square, set) => square - (at(sums, set) * at(sums, set)) / total);
  return {
    explained: variance.map((value, set) => {
      const covariance = at(products, set) - rate * at(sums, set);
      return covariance > 0 && value > 0 ? (covariance * covariance) / value : 0;
    }),
    error: variance.map((value) => (value > 0 ? sqrt((rate * (1 - rate)) / value) : Infinity)),
  };
}
