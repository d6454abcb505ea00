/** Whether the sheet is upside down: every answer reversed. Only items that need more of the same KCs can show it. */
import { condition, type Condition } from '../conditions.ts';
import { fit } from '../em.ts';
import { createDesign, startingParameters, type ItemModel, type Responses } from '../model.ts';
import { sum } from '../numbers.ts';
import type { StudyData } from '../study-data.ts';

/** Items with nested rows. */
export interface Nesting {
  /** Pairs of items of which one needs all KCs of the other, and more. */
  readonly pairs: number;
  /** Mean P(correct) of the item that needs more, less that of the other: -1 to 1, below 0 in a sound study. NaN without a pair. */
  readonly difference: number;
}

/** Compares items whose KCs are nested. */
export function nestingOf({ kcsOf, answered, correct }: StudyData): Nesting {
  const proportion = (j: number): number => (correct[j] ?? 0) / (answered[j] ?? 1);
  const sets = kcsOf.map((own) => new Set(own));
  const differences = sets.flatMap((more, j) =>
    sets.flatMap((less, i) =>
      less.size < more.size && [...less].every((k) => more.has(k)) ? [proportion(j) - proportion(i)] : [],
    ),
  );
  const { length } = differences;
  return { pairs: length, difference: sum(differences) / length };
}

/**
 * The sheet is upside down only if items that need more are easier by at least this much on average. Where each KC helps by itself, they are about
 * equally hard.
 */
export const EASIER = 0.05;
/** The gain in log-likelihood by reversing all answers, above which they seem to be reversed, and the gain per answer. */
export const REVERSAL_GAIN = 10;
export const REVERSAL_GAIN_PER_ANSWER = 0.004;
/** Enough to tell two fits apart that differ by far more. */
const EFFORT = { maximumIterations: 100, tolerance: 0.01 } as const;

/**
 * Returns the gain in the log-likelihood of DINA if all answers are reversed; undefined if the items cannot show it, or are not suspicious.
 * G-DINA cannot tell: having a KC and lacking it change places. With items of one KC each DINA cannot tell either.
 */
function reversalGain(study: StudyData): number | undefined {
  const { pairs, difference } = nestingOf(study);
  if (pairs === 0 || difference < EASIER) return undefined;
  const design = createDesign('dina', study.kcs.length, study.kcsOf, { bound: 0.001, penalty: 'weak' });
  const objective = (responses: Responses): number =>
    fit(design, responses, startingParameters(design), EFFORT).objective;
  const { responses } = study;
  const answers = responses.answers.map((answer) => (answer < 0 ? answer : 1 - answer));
  return objective({ ...responses, answers }) - objective(responses);
}

/**
 * Returns the condition of a sheet that seems to be upside down. For a DINA fit it is then wrong. A G-DINA fit of items that need any of their KCs is
 * sound, and nothing but their content shows whether they do.
 */
export function nestingConditions(study: StudyData, model: ItemModel): Condition[] {
  const gain = reversalGain(study);
  const answers = sum(study.answered);
  if (gain === undefined || gain < Math.max(REVERSAL_GAIN, REVERSAL_GAIN_PER_ANSWER * answers)) return [];
  const figures = { easier: nestingOf(study).difference.toFixed(2), gain: gain.toFixed(0) };
  return [condition(model === 'dina' ? 'answers_upside_down' : 'disjunctive_items', [], figures)];
}
