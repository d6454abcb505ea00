import type { Penalty } from './model.ts';

/**
 * What can speak against a calibration: one table of conditions, which the terminal, `fit.json` and the report share. With a `limited` condition a
 * calibration can be released, and carries the sentence among its limitations; with a `not_releasable` one it must not be.
 */
export type Level = 'limited' | 'not_releasable';

/**
 * What a condition rests on. A `fact` follows from the tables or the fit, and holds wherever it is stated. A `finding` is inferred from the answers,
 * so that chance can produce it: how often it does in sound studies is measured (docs/calibrate.md).
 */
type Basis = 'fact' | 'finding';

interface Row<Figures> {
  readonly level: Level;
  readonly basis: Basis;
  /** The sentence about the quoted subjects, which may be none, with figures of its own. */
  readonly sentence: (subjects: string, figures: Figures) => string;
}

/** Returns a constructor of rows of one level and basis. */
function rowsOf(level: Level, basis: Basis) {
  return <Figures = undefined>(sentence: Row<Figures>['sentence']): Row<Figures> => ({
    level,
    basis,
    sentence,
  });
}
const limitingFact = rowsOf('limited', 'fact');
const forbiddingFact = rowsOf('not_releasable', 'fact');
const limitingFinding = rowsOf('limited', 'finding');
const forbiddingFinding = rowsOf('not_releasable', 'finding');

/** Returns the addition to a sentence about structure if rows of some items, quoted, were replaced before its test; nothing without any. */
function byRows(items: string): string {
  return items === ''
    ? ''
    : ` Tested with other components for ${items} than the Q-matrix names, because the answers contradict these rows.`;
}

/** All conditions, the gravest first: a verdict lists them in this order. */
const conditions = {
  not_converged: forbiddingFact<{
    readonly iterations: number;
    readonly isAtRest: boolean;
    readonly penalty: Penalty;
  }>((_, { iterations, isAtRest, penalty }) =>
    isAtRest
      ? `Not converged: after ${iterations} E-steps no step raises the likelihood, but its score is not zero. ${
          penalty === 'none' ? 'Use --penalty weak' : 'Increase --tolerance, or add --starts 10'
        }.`
      : `Not converged after ${iterations} E-steps: increase --max-iterations or --tolerance.`,
  ),
  // Checks of the tables: checks/.
  too_few_learners: forbiddingFact<{ readonly learners: number; readonly least: number }>(
    (_, { learners, least }) =>
      `Learners who gave answers: ${learners}. With fewer than ${least}, parameters are hardly more than chance.`,
  ),
  component_without_variance: forbiddingFact(
    (kcs) =>
      `All answers to each item that needs ${kcs} are the same: the answers contain nothing about what they measure. Check the scoring.`,
  ),
  few_answers: forbiddingFact<{ readonly percent: string; readonly least: number }>(
    (_, { percent, least }) =>
      `${percent} % of the learners gave fewer than ${least} answers: a distribution of mastery shows only in the joint answers to ${least} items (Allman, Matias and Rhodes, 2009). Collect more answers per learner.`,
  ),
  identical_items: forbiddingFinding(
    (items) =>
      `All learners gave the same answers to ${items}, which chance hardly produces: the table contains a column twice. Leave one out with --ignore.`,
  ),
  reversed_items: forbiddingFinding(
    (items) =>
      `Learners who do better on the other items do worse on ${items}: check the key. Score the answers anew, or leave them out with --ignore.`,
  ),
  answers_upside_down: forbiddingFinding<{ readonly easier: string; readonly gain: string }>(
    (_, { easier, gain }) =>
      `Items that need more of the same knowledge components are easier (${easier} more correct on average), and the model fits better with all answers reversed (log-likelihood ${gain} higher): 1 and 0 are exchanged, or items need any of their knowledge components instead of all.`,
  ),
  duplicated_learners: forbiddingFinding<{ readonly rows: number | 'every'; readonly times: number }>(
    (_, { rows, times }) =>
      `${
        rows === 'every'
          ? `Every row of answers occurs a multiple of ${times} times, which chance hardly produces`
          : `${rows} different rows of answers occur exactly ${times} times, far more than chance produces`
      }: the table contains learners several times. Keep one row per learner.`,
  ),
  disjunctive_items: limitingFinding<{ readonly easier: string; readonly gain: string }>(
    (_, { easier, gain }) =>
      `Items that need more of the same knowledge components are easier (${easier} more correct on average), and DINA fits better with all answers reversed (log-likelihood ${gain} higher): items need any of their knowledge components instead of all, or 1 and 0 are exchanged. The answers cannot tell these apart.`,
  ),
  zero_tails: limitingFinding<{ readonly percent: string; readonly from: string }>(
    (_, { percent, from }) =>
      `Some ${percent} % of the learners seem to stop early: their answers from "${from}" on, or later, are all 0, more than the items explain. If these items were not reached, leave the cells empty.`,
  ),
  unlinked_parts: limitingFact(
    (parts) =>
      `Nothing links the parts ${parts}: no learner answered items of two of them. They have a common scale only if their groups of learners are equally able, which the fit assumes.`,
  ),
  weakly_linked_parts: limitingFact<{ readonly link: string }>(
    (parts, { link }) => `The parts ${parts} are linked weakly: ${link}. Their common scale is uncertain.`,
  ),
  mostly_missing: limitingFact<{ readonly percent: string }>(
    (_, { percent }) => `${percent} % of all answers are missing: the fit uses the others.`,
  ),
  not_reached: limitingFact<{ readonly learners: number; readonly from: string }>(
    (_, { learners, from }) =>
      `${learners} learners answered every item up to one and none after it, at several places, the earliest from "${from}" on: if they ran out of time, late items rest on faster learners.`,
  ),
  // End of the checks of the tables.
  prerequisites_insisted: forbiddingFinding<{
    readonly hierarchy: string;
    readonly gain: string;
    readonly least: number;
  }>(
    (_, { hierarchy, gain, least }) =>
      `The calibration carries prerequisites that the answers do not show (${hierarchy}): with them BIC is ${gain}, and not at least ${least} lower. Where they do not hold, it is too certain of what learners have mastered. Leave --insist out, or collect more answers.`,
  ),
  // Items, rows of the Q-matrix and learners, after the fit.
  q_matrix_does_not_fit: forbiddingFinding<{
    readonly count: number;
    readonly items: number;
    readonly isDina: boolean;
  }>(
    (_, { count, items, isDina }) =>
      `The Q-matrix does not fit the answers: ${count} of ${items} items follow other knowledge components than their rows name. Check that its rows are in the order of the items${isDina ? '. If they are, some components may help without the others: try --model gdina' : ''}.`,
  ),
  q_row_doubtful: limitingFinding<{ readonly better: string; readonly isDina: boolean }>(
    (items, { better, isDina }) =>
      `The answers contradict the Q-matrix on ${items}: ${better}. Check the Q-matrix there${isDina ? ', or try --model gdina: a component may help without the others' : ''}.`,
  ),
  item_tells_nothing: limitingFinding(
    (items) =>
      `Learners with and without the knowledge components answer ${items} alike: check key and Q-matrix, or use --ignore.`,
  ),
  rapid_guessers: limitingFinding<{ readonly percent: number; readonly success: string }>(
    (_, { percent, success }) =>
      `About ${percent} % of the learners answer as if they guessed, right with probability ${success} on every item: remove careless answers.`,
  ),

  // Structure of knowledge: structure/.
  prerequisites: limitingFinding<{
    readonly hierarchy: string;
    readonly loss: string;
    readonly fewer: number;
    /** KCs whose unpenalized slope is on its bound, quoted; empty if there are none. */
    readonly onBound: string;
    readonly rows: string;
    /** Whether the calibration carries them as blocks. */
    readonly isCarried: boolean;
  }>(
    (_, { hierarchy, loss, fewer, onBound, rows, isCarried }) =>
      `The answers show prerequisites (${hierarchy}): components that are independent given ability ${
        fewer > 0
          ? `need ${fewer} more parameters to fit as well`
          : `lose ${loss} of log-likelihood per learner`
      }${onBound === '' ? '' : `, and without priors the slope of ${onBound} is on its bound`}. ${
        isCarried
          ? 'The calibration carries them: it expects no pattern of mastery that contradicts them, and its accuracies and its reliability are those of learners for whom they hold.'
          : 'The calibration expects patterns of mastery that do not occur, so its accuracies and its reliability do not hold.'
      }${byRows(rows)}`,
  ),
  two_abilities: limitingFinding<{
    readonly parts: string;
    readonly correlation: string;
    readonly loss: string;
    readonly rows: string;
    readonly isCarried: boolean;
  }>(
    (_, { parts, correlation, loss, rows, isCarried }) =>
      `The answers show two abilities (${parts}; correlation ${correlation}): one ability loses ${loss} of log-likelihood per learner. ${
        isCarried
          ? 'The calibration carries an ability for each part; its scale is what both have in common.'
          : 'A score on one scale mixes them, and its reliability does not hold.'
      }${byRows(rows)}`,
  ),
  dependent_components: limitingFinding<{
    readonly loss: string;
    readonly rows: string;
    /** The blocks that the calibration carries; empty if it carries none. */
    readonly blocks: string;
  }>(
    (_, { loss, rows, blocks }) =>
      `Knowledge components depend on each other more than one ability explains: independent ones lose ${loss} of log-likelihood per learner${
        blocks === ''
          ? ', and the accuracies and the reliability of the calibration do not hold.'
          : `. The calibration carries ${blocks}.`
      }${byRows(rows)}`,
  ),
  prerequisites_not_shown: limitingFinding<{
    readonly hierarchy: string;
    readonly gain: string;
    readonly least: number;
  }>(
    (_, { hierarchy, gain, least }) =>
      `The answers do not show the prerequisites that were given (${hierarchy}): with them BIC is ${gain}, and not at least ${least} lower. The calibration does not carry them.`,
  ),
  no_components_shown: limitingFinding<{
    readonly lower: string;
    readonly gain: string;
    readonly rows: string;
  }>(
    (_, { lower, gain, rows }) =>
      `One ability without knowledge components describes the answers better (BIC lower by ${lower}, log-likelihood ${gain} higher per learner). The components may still be useful, but these answers by themselves do not support them.${byRows(rows)}`,
  ),
  slope_on_bound: limitingFact<{ readonly min: number; readonly max: number }>(
    (kcs, { min, max }) =>
      `The slope of ${kcs} is on its bound: at ${max} mastery is a step in ability, at ${min} it hardly depends on ability. Prerequisites may cause it, and so may too few items or learners.`,
  ),
  structure_untested: limitingFact<{ readonly kcs: number; readonly most: number }>(
    (_, { kcs, most }) =>
      `The structure is not tested with ${kcs} knowledge components, more than ${most}: prerequisites or several abilities would go unseen.`,
  ),
  // End of the structure of knowledge.
  poor_fit: limitingFact<{ readonly rmsea: string; readonly srmsr: string }>(
    (_, { rmsea, srmsr }) =>
      `The model fits pairs of items poorly (RMSEA₂ ${rmsea}, SRMSR without sampling error ${srmsr}).`,
  ),
  components_alike: limitingFact(
    (kcs) => `The same items need ${kcs}: the data cannot tell these knowledge components apart.`,
  ),
  incomplete_q_matrix: limitingFact(
    (kcs) =>
      `The Q-matrix is incomplete: no item measures ${kcs} alone, so the answers cannot tell some patterns of mastery apart (Chiu, Douglas and Li, 2009). The posteriors of these patterns depend on the higher-order model.`,
  ),
  component_rarely_measured: limitingFact<{ readonly least: number }>(
    (kcs, { least }) =>
      `Fewer than ${least} items need ${kcs}: identification requires ${least} (Gu and Xu, 2019).`,
  ),
  constant_item: limitingFact(
    (items) =>
      `No variance on ${items}: all answers are correct, or all are incorrect. Their probabilities are at the bound and carry little information.`,
  ),
  few_learners: limitingFact<{ readonly learners: number; readonly least: number }>(
    (_, { learners, least }) =>
      `Only ${learners} learners: with fewer than ${least}, parameters and standard errors are rough.`,
  ),
  many_parameters: limitingFact<{ readonly parameters: number; readonly learners: number }>(
    (_, { parameters, learners }) =>
      `${parameters} parameters for ${learners} learners: all of them are uncertain.`,
  ),
  singular_information: limitingFact<{
    readonly missing: number;
    readonly free: number;
    readonly rows: number;
  }>(
    (_, { missing, free, rows }) =>
      `The information matrix is singular: of ${free} free parameters, ${missing} without standard error, because ${
        rows < free
          ? `too few different rows of answers were given (${rows})`
          : 'the data cannot tell them apart from others'
      }.`,
  ),
  probabilities_on_bound: limitingFact<{ readonly count: number; readonly bound: number }>(
    (_, { count, bound }) =>
      `Item probabilities on the bound (${bound} or ${1 - bound}), which have no standard error: ${count}.`,
  ),
  one_start: limitingFact(
    () =>
      'Only one start: a G-DINA likelihood often has several maxima. Add --starts 10 to look for higher ones.',
  ),
  several_maxima: limitingFact<{
    readonly lower: number;
    readonly starts: number;
    readonly dropped: number;
    readonly seed: number;
  }>(
    (_, { lower, starts, dropped, seed }) =>
      `${lower} of ${starts} starts that converged (seed ${seed}) ended at a lower maximum${
        dropped > 0 ? `; ${dropped} others were dropped after short runs` : ''
      }. The best fit is written.`,
  ),
  coarse_scores: limitingFact<{ readonly ceiling: string | undefined }>((_, { ceiling }) =>
    ceiling === undefined
      ? 'The reliability of one score cannot be stated: the answers show a structure without a single ability. Scores count as too coarse for an individual.'
      : `Scores are too coarse for an individual: no test of these knowledge components reaches a reliability above ${ceiling}.`,
  ),
  learners_without_answers: limitingFact<{ readonly learners: number }>(
    (_, { learners }) => `Learners left out because they answered no item: ${learners}.`,
  ),
} as const;
export type ConditionCode = keyof typeof conditions;
type FiguresOf<Code extends ConditionCode> = Parameters<(typeof conditions)[Code]['sentence']>[1];

/** One condition that a study meets. */
export interface Condition {
  readonly code: ConditionCode;
  /** Names of items, KCs or groups of learners. */
  readonly subjects: readonly string[];
  readonly sentence: string;
}

/** The most subjects that a sentence names. */
const NAMED = 8;

/** Quotes the first of some names, and counts the others. */
export function quotedNames(names: readonly string[]): string {
  const quoted = names.slice(0, NAMED).map((name) => `"${name}"`);
  const more = names.length - quoted.length;
  return [...quoted, ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

/** Returns a condition with its sentence. Subjects are names of items, KCs or groups; the sentence quotes the first of them and counts the others. */
export function condition<Code extends ConditionCode>(
  code: Code,
  subjects: readonly string[],
  ...[figures]: FiguresOf<Code> extends undefined ? [] : [FiguresOf<Code>]
): Condition {
  // The row's figures are those of its code, which a union of all rows does not show.
  const row = conditions[code] as Row<FiguresOf<Code> | undefined>;
  return { code, subjects, sentence: row.sentence(quotedNames(subjects), figures) };
}

/** Returns whether a condition is inferred from the answers, so that chance can produce it in a sound study. */
export function isFinding({ code }: Condition): boolean {
  return conditions[code].basis === 'finding';
}

/** Returns level and basis of every condition, the gravest first: docs/calibrate.md lists them. */
export function allConditions(): readonly {
  readonly code: string;
  readonly level: Level;
  readonly basis: Basis;
}[] {
  return Object.entries(conditions).map(([code, { level, basis }]) => ({ code, level, basis }));
}

/** Whether a calibration can be released, and the conditions that limit or forbid it, the gravest first. */
export interface Verdict {
  readonly level: 'releasable' | Level;
  readonly conditions: readonly Condition[];
}

/** Returns the verdict that conditions amount to: the gravest level among them. */
export function verdictOf(found: readonly Condition[]): Verdict {
  const order: readonly string[] = Object.keys(conditions);
  const sorted = found.toSorted((a, b) => order.indexOf(a.code) - order.indexOf(b.code));
  const levels = sorted.map(({ code }): Level => conditions[code].level);
  const level = levels.includes('not_releasable')
    ? 'not_releasable'
    : levels.length > 0
      ? 'limited'
      : 'releasable';
  return { level, conditions: sorted };
}
