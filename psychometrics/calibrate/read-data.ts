import { err, ok, type Result } from '#shared/kernel/result.ts';
import { withAnswers, type StudyTables } from '#tools/terminal/study/tables.ts';
import { MISSING } from '#tools/terminal/study/values.ts';
import { MAXIMUM_KCS, collapse, type Responses } from './model.ts';

/** The most steps (rows x items x patterns) of one E-step, which then takes minutes. */
const MAXIMUM_WORK = 2e10;

/** The data that a model is fitted to; items and knowledge components (KCs) in the order of the Q-matrix. */
export interface Study {
  readonly items: readonly string[];
  readonly kcs: readonly string[];
  /** For each item the ascending indices of its KCs. */
  readonly kcsOf: readonly (readonly number[])[];
  readonly responses: Responses;
  /** For each item: learners who answered it, and how many of them correctly. */
  readonly answered: readonly number[];
  readonly correct: readonly number[];
  /** Learners without any answer, who are left out. */
  readonly silent: number;
  readonly missing: number;
  /** Sentences about what makes the fit less reliable. */
  readonly warnings: readonly string[];
}

/** Groups equal rows of answers, and checks that a model can be fitted to them. The error is one line per defect. */
export function studyOf({ items, kcs, kcsOf, learners }: StudyTables): Result<Study, readonly string[]> {
  if (kcs.length > MAXIMUM_KCS) {
    return err([
      `the Q-matrix has ${kcs.length} knowledge components, and the exact E-step takes at most ${MAXIMUM_KCS}: fit parts of the bank that share no knowledge component separately`,
    ]);
  }
  const answering = withAnswers(learners);
  const answers = new Int8Array(answering.length * items.length);
  const answered = items.map(() => 0);
  const correct = items.map(() => 0);
  answering.forEach((learner, n) => {
    answers.set(learner.answers, n * items.length);
    learner.answers.forEach((answer, j) => {
      if (answer !== MISSING) answered[j] = (answered[j] ?? 0) + 1;
      if (answer === 1) correct[j] = (correct[j] ?? 0) + 1;
    });
  });
  const unanswered = items.filter((_, j) => answered[j] === 0);
  if (unanswered.length > 0) {
    const names = unanswered.map((item) => `"${item}"`).join(', ');
    return err([`no learner answered ${names}: add --ignore ${unanswered.join(',')}`]);
  }
  const responses = collapse(answers, items.length);
  const work = responses.counts.length * items.length * 2 ** kcs.length;
  if (work > MAXIMUM_WORK) {
    const message = `${responses.counts.length} different rows of answers × ${items.length} items × ${2 ** kcs.length} patterns are too many for exact steps: use a random sample of the learners`;
    return err([message]);
  }
  const study = {
    items,
    kcs,
    kcsOf,
    responses,
    answered,
    correct,
    silent: learners.length - answering.length,
    missing: answers.reduce((count, answer) => count + Number(answer === MISSING), 0),
  };
  return ok({ ...study, warnings: warningsOf(study) });
}

/** The most items that are named. */
const NAMED_ITEMS = 5;

/** Returns how many answers are missing, and on which items most of them; undefined if none is. */
export function missingLine({ items, responses, answered, missing }: Study): string | undefined {
  if (missing === 0) return undefined;
  const { learners } = responses;
  const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
  const worst = items
    .map((item, j) => ({ item, count: learners - (answered[j] ?? 0) }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count);
  const named = worst
    .slice(0, NAMED_ITEMS)
    .map(({ item, count }) => `"${item}" ${count} (${percent(count / learners)})`);
  return `${missing} of ${learners * items.length} answers missing (${percent(missing / (learners * items.length))}), most on ${named.join(', ')}; the fit uses the others`;
}

/** Fewer learners than this give unstable parameters of any cognitive diagnosis model. */
const FEW_LEARNERS = 100;
/** Items that each KC needs for identification of DINA (Gu and Xu, 2019, Psychometrika 84, 468-483). */
const ITEMS_PER_KC = 3;

/** Returns what makes the fit less reliable, in sentences. */
function warningsOf(study: Omit<Study, 'warnings'>): string[] {
  const { items, kcs, kcsOf, responses, answered, correct } = study;
  const alone = new Set(kcsOf.flatMap((own) => (own.length === 1 ? own : [])));
  const named = (indices: readonly number[], names: readonly string[]): string =>
    indices.map((index) => `"${names[index] ?? ''}"`).join(', ');
  const jointly = kcs.flatMap((_, k) => (alone.has(k) ? [] : [k]));
  const rarely = kcs.flatMap((_, k) =>
    kcsOf.filter((own) => own.includes(k)).length < ITEMS_PER_KC ? [k] : [],
  );
  const same = kcs.flatMap((_, k) => {
    const column = (of: number): string => kcsOf.map((own) => Number(own.includes(of))).join('');
    return kcs.some((_other, l) => l < k && column(l) === column(k)) ? [k] : [];
  });
  const constant = items.flatMap((_, j) => (correct[j] === 0 || correct[j] === answered[j] ? [j] : []));
  return [
    ...(study.silent === 0 ? [] : [`Learners left out because they answered no item: ${study.silent}.`]),
    ...(responses.learners >= FEW_LEARNERS
      ? []
      : [
          `Only ${responses.learners} learners: with fewer than ${FEW_LEARNERS}, parameters and standard errors are rough.`,
        ]),
    ...(constant.length === 0
      ? []
      : [
          `No variance on ${named(constant, items)}: all answers are correct, or all are incorrect. Their probabilities are at the bound and carry little information.`,
        ]),
    ...(jointly.length === 0
      ? []
      : [
          `The Q-matrix is incomplete: no item measures ${named(jointly, kcs)} alone, so the answers cannot tell some patterns of mastery apart (Chiu, Douglas and Li, 2009). The posteriors of these patterns depend on the higher-order model.`,
        ]),
    ...(rarely.length === 0
      ? []
      : [
          `Fewer than ${ITEMS_PER_KC} items need ${named(rarely, kcs)}: identification requires ${ITEMS_PER_KC} (Gu and Xu, 2019).`,
        ]),
    ...(same.length === 0
      ? []
      : [
          `The same items need ${named(same, kcs)} and an earlier knowledge component: the data cannot tell these apart.`,
        ]),
  ];
}
