/**
 * Check of the learners: a class that answers every item right with one and the same probability, as rapid guessing does (Schnipke and Scrams, 1997,
 * J. of Educational Measurement 34, 213-232), in addition to the learners of the fitted model. Its share and its probability are estimated by EM;
 * the items stay as they are, and the distribution of patterns is the one that the answers show.
 */
import { condition, type Condition } from '../conditions.ts';
import { eachRow } from '../expectation.ts';
import { answersOf, type Design, type Parameters, type Responses } from '../model.ts';
import { at, clamp, exp, log, sum } from '../numbers.ts';
import { freePrior } from './other-items.ts';

/** The class of guessing learners. */
export interface Guessers {
  readonly share: number;
  /** P(correct) on every item. */
  readonly success: number;
  /** Twice the log-likelihood that the class gains. */
  readonly gain: number;
}

const STEPS = 200;
const LEAST_GAIN = 1e-3;

/** Returns the most likely class of guessing learners. */
export function guessersOf(design: Design, parameters: Parameters, responses: Responses): Guessers {
  const { counts, learners } = responses;
  const model = new Float64Array(counts.length);
  const right = new Float64Array(counts.length);
  const answered = new Float64Array(counts.length);
  eachRow(
    design,
    parameters,
    freePrior(design, parameters, responses),
    responses,
    (row, _posterior, logLikelihood) => {
      const answers = answersOf(responses, row);
      model[row] = logLikelihood;
      right[row] = answers.reduce((n, answer) => n + Number(answer === 1), 0);
      answered[row] = answers.reduce((n, answer) => n + Number(answer >= 0), 0);
    },
  );
  let found: Guessers = { share: 0.05, success: 0.5, gain: -Infinity };
  for (let step = 0; step < STEPS; step += 1) {
    const { share, success } = found;
    const [yes, no] = [log(success), log(1 - success)];
    let [gain, members, theirRight, theirAnswers] = [0, 0, 0, 0];
    for (let row = 0; row < counts.length; row += 1) {
      const count = at(counts, row);
      const guessed = at(right, row) * yes + (at(answered, row) - at(right, row)) * no;
      const ratio = share * exp(Math.min(guessed - at(model, row), 700));
      const total = 1 - share + ratio;
      const weight = (count * ratio) / total;
      gain += count * log(total);
      members += weight;
      theirRight += weight * at(right, row);
      theirAnswers += weight * at(answered, row);
    }
    const isDone = 2 * gain - found.gain < LEAST_GAIN;
    found = {
      share: members / learners,
      success: clamp(theirRight / theirAnswers, 0.01, 0.99),
      gain: 2 * gain,
    };
    if (isDone) break;
  }
  return found;
}

/** The least share of learners, and what the class gains at least; chosen on simulated sound studies with seeds below 100 (docs/verdicts.md). */
export const LEAST_SHARE = 0.02;
export const GUESSERS_GAIN = 20;
/** Guessing differs from knowing nothing by this much more than the mean guess of the items, and from knowing all by the upper limit. */
const ABOVE_GUESS = 0.1;
const HIGHEST_SUCCESS = 0.8;

/** Checks whether a part of the learners guesses. */
export function checkLearners(design: Design, parameters: Parameters, responses: Responses): Condition[] {
  const { share, success, gain } = guessersOf(design, parameters, responses);
  const guess = sum(parameters.tables.map((table) => at(table, 0))) / parameters.tables.length;
  if (share < LEAST_SHARE || gain < GUESSERS_GAIN) return [];
  if (success < guess + ABOVE_GUESS || success > HIGHEST_SUCCESS) return [];
  const percent = Math.round(100 * share);
  return [condition('rapid_guessers', [], { percent, success: success.toFixed(2) })];
}
