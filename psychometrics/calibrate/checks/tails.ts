/** Items that learners did not reach, scored 0: found after the fit by tails of incorrect answers that are longer than the items explain. */
import { condition, type Condition } from '../conditions.ts';
import { answersOf, latentPrior, type Design, type Parameters, type Responses } from '../model.ts';
import { spread } from '../expectation.ts';
import { addTo, at, exp, integerAt, log, sum, uniformFrom } from '../numbers.ts';
import type { StudyData } from '../study-data.ts';

/** The shortest tail: one incorrect answer at the end shows nothing. */
const SHORTEST = 2;
/** Twice the gain in log-likelihood by learners who stop, above which they are named: far beyond a chi-square variable per place. */
export const TAIL_GAIN = 20;
/** And the share of learners who stop. */
export const TAIL_SHARE = 0.02;
/** An item belongs to the tail if at least this share of the learners did not reach it. */
const UNREACHED = 0.01;
/** Share of learners who stop, at the start of EM. */
const START = 0.05;
const STEPS = 200;
/** EM ends when a step gains less. */
const LEAST_STEP = 0.01;
/** Other orders of the items, and how many times the largest gain in them the gain must be. */
const ORDERS = 19;
const AGAINST_OTHERS = 1.5;
/** Keeps exp finite. */
const LARGEST = 600;

/** Learners who seem to stop before the end. */
export interface Tails {
  /** Estimated share of learners, 0 to 1. */
  readonly share: number;
  /** Twice the gain in log-likelihood. */
  readonly gain: number;
  /** Items that learners did not reach. */
  readonly items: readonly number[];
}

/**
 * Estimates how many learners stop after each item, if their later answers are all scored 0: a mixture of the fitted model and of the same model up to
 * each place, by EM. A tail has two or more items, in the order of the Q-matrix; items keep their fitted probabilities.
 */
function zeroTails(design: Design, parameters: Parameters, responses: Responses): Tails {
  const { learners, items } = responses;
  const rows = tailRatios(design, parameters, responses);
  const others = learners - rows.reduce((total, row) => total + row.learners, 0);
  // P(stop after n + 1 items).
  const places = new Float64Array(items - SHORTEST).fill(START / items);
  let share = sum(places);
  let gain = -Infinity;
  for (let step = 0; step < STEPS; step += 1) {
    const stopped = new Float64Array(places.length);
    const before = gain;
    gain = 2 * others * log(1 - share);
    for (const row of rows) {
      let all = 1 - share;
      row.ratios.forEach((ratio, n) => (all += ratio * at(places, row.first + n)));
      gain += 2 * row.learners * log(all);
      row.ratios.forEach((ratio, n) => {
        addTo(stopped, row.first + n, (row.learners * ratio * at(places, row.first + n)) / all);
      });
    }
    if (gain - before < LEAST_STEP) break;
    places.set(stopped.map((count) => count / learners));
    share = sum(places);
  }
  let unreached = 0;
  const late = Array.from({ length: items }, (_, j) => j).filter((j) => {
    unreached += j === 0 || j > places.length ? 0 : at(places, j - 1);
    return unreached >= UNREACHED;
  });
  return { share, gain, items: late };
}

interface TailRow {
  readonly learners: number;
  /** The first possible stop: after `first + 1` items. */
  readonly first: number;
  /** P(answers | stops after first + n + 1 items) / P(answers | does not stop) at n. */
  readonly ratios: readonly number[];
}

/** Compares, for each row with a tail, the probability of all answers with that of the answers before each possible stop. */
function tailRatios(design: Design, parameters: Parameters, responses: Responses): TailRow[] {
  const success = design.items.map(({ own }, j) => spread(parameters.tables[j], own, (p) => p));
  const { patterns } = latentPrior(design, parameters);
  const state = new Float64Array(design.patterns);
  const rows: TailRow[] = [];
  responses.counts.forEach((learners, row) => {
    const answers = answersOf(responses, row);
    const last = answers.lastIndexOf(1);
    // Missing answers at the end show no tail: a row ends with its last answer.
    const end = answers.findLastIndex((answer) => answer >= 0) + 1;
    if (end - 1 - last < SHORTEST) return;
    state.set(patterns);
    let total = 0;
    const before = success.map((p, j) => {
      const earlier = total;
      const answer = integerAt(answers, j);
      if (answer < 0) return earlier;
      let likelihood = 0;
      for (let a = 0; a < state.length; a += 1) {
        const value = at(state, a) * (answer === 1 ? at(p, a) : 1 - at(p, a));
        state[a] = value;
        likelihood += value;
      }
      for (let a = 0; a < state.length; a += 1) state[a] = at(state, a) / likelihood;
      total += log(likelihood);
      return earlier;
    });
    const first = Math.max(0, last);
    const ratios = before
      .slice(first + 1, end + 1 - SHORTEST)
      .map((earlier) => exp(Math.min(LARGEST, earlier - total)));
    rows.push({ learners, first, ratios });
  });
  return rows;
}

/** Returns the largest gain in other orders of the items. If the model misfits in general, chance orders show tails as well. */
function gainInOtherOrders(design: Design, parameters: Parameters, responses: Responses): number {
  const uniform = uniformFrom(1);
  const { items } = responses;
  const gains = Array.from({ length: ORDERS }, () => {
    const order = Array.from({ length: items }, (_, j) => ({ j, place: uniform() }))
      .toSorted((a, b) => a.place - b.place)
      .map(({ j }) => j);
    const shuffled = <T>(of: readonly T[]): T[] => order.flatMap((j) => of.slice(j, j + 1));
    const answers = responses.answers.map((_, n) =>
      integerAt(responses.answers, n - (n % items) + (order[n % items] ?? 0)),
    );
    return zeroTails(
      { ...design, items: shuffled(design.items) },
      { ...parameters, tables: shuffled(parameters.tables) },
      { ...responses, answers },
    ).gain;
  });
  return Math.max(...gains);
}

/** Returns the condition of items that were not reached and scored 0: the order of the items shows more tails than chance orders do. */
export function tailConditions(
  design: Design,
  parameters: Parameters,
  { items: names, responses }: StudyData,
): Condition[] {
  if (names.length <= SHORTEST + 1) return [];
  const { share, gain, items } = zeroTails(design, parameters, responses);
  if (gain < TAIL_GAIN || share < TAIL_SHARE) return [];
  if (gain < AGAINST_OTHERS * gainInOtherOrders(design, parameters, responses)) return [];
  const late = items.map((j) => names[j] ?? '');
  return [condition('zero_tails', late, { percent: (100 * share).toFixed(1), from: late[0] ?? '' })];
}
