/** Items that learners did not reach, scored 0: found after the fit by tails of incorrect answers that are longer than the items explain. */
import { condition, type Condition } from '../conditions.ts';
import { answersOf, latentPrior, type Design, type Parameters } from '../model.ts';
import { spread } from '../expectation.ts';
import { addTo, at, exp, log, sum } from '../numbers.ts';
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
export function zeroTails(design: Design, parameters: Parameters, { items, responses }: StudyData): Tails {
  const rows = tailRatios(design, parameters, responses);
  // P(stop after n + 1 items).
  const places = new Float64Array(items.length - SHORTEST).fill(START / items.length);
  const either = ({ ratios }: TailRow, goesOn: number): number =>
    ratios.reduce((total, ratio, n) => total + ratio * at(places, n), goesOn);
  let share = sum(places);
  let gain = 0;
  for (let step = 0; step < STEPS; step += 1) {
    const stopped = new Float64Array(places.length);
    gain = 0;
    for (const row of rows) {
      const all = either(row, 1 - share);
      gain += 2 * row.learners * log(all);
      row.ratios.forEach((ratio, n) => {
        addTo(stopped, n, (row.learners * ratio * at(places, n)) / all);
      });
    }
    places.set(stopped.map((learners) => learners / responses.learners));
    share = sum(places);
  }
  let unreached = 0;
  const late = [...items.keys()].filter((j) => {
    unreached += j === 0 || j > places.length ? 0 : at(places, j - 1);
    return unreached >= UNREACHED;
  });
  return { share, gain, items: late };
}

interface TailRow {
  readonly learners: number;
  /** P(answers | stops after n + 1 items) / P(answers | does not stop) at n; empty without a tail. */
  readonly ratios: readonly number[];
}

/** Compares for each row the probability of all answers with that of the answers before each possible stop. */
function tailRatios(design: Design, parameters: Parameters, responses: StudyData['responses']): TailRow[] {
  const success = design.items.map(({ own }, j) => spread(parameters.tables[j], own, (p) => p));
  const { patterns } = latentPrior(design, parameters);
  const state = new Float64Array(design.patterns);
  return Array.from(responses.counts, (learners, row) => {
    const answers = answersOf(responses, row);
    const last = answers.lastIndexOf(1);
    if (answers.length - 1 - last < SHORTEST) return { learners, ratios: [] };
    state.set(patterns);
    let total = 0;
    const before = success.map((p, j) => {
      const earlier = total;
      const answer = answers[j] ?? -1;
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
    const ratios = before
      .slice(1, 1 - SHORTEST)
      .map((earlier, n) => (n < last ? 0 : exp(Math.min(LARGEST, earlier - total))));
    return { learners, ratios };
  });
}

/** Returns the condition of items that were not reached and scored 0. */
export function tailConditions(design: Design, parameters: Parameters, study: StudyData): Condition[] {
  if (study.items.length <= SHORTEST + 1) return [];
  const { share, gain, items } = zeroTails(design, parameters, study);
  if (gain < TAIL_GAIN || share < TAIL_SHARE) return [];
  const names = items.map((j) => study.items[j] ?? '');
  return [condition('zero_tails', names, { percent: (100 * share).toFixed(1), from: names[0] ?? '' })];
}
