import { err, ok, type Result } from '#shared/kernel/result.ts';
import { withAnswers, type StudyTables } from '#tools/terminal/study/tables.ts';
import { MISSING } from '#tools/terminal/study/values.ts';
import { columnConditions } from './checks/columns.ts';
import { duplicateConditions } from './checks/duplicates.ts';
import { linkageConditions, linkageOf, type Linkage } from './checks/linkage.ts';
import { missingConditions, missingFigures, type MissingFigures } from './checks/missing.ts';
import { condition, type Condition } from './conditions.ts';
import { MAXIMUM_KCS, collapse } from './model.ts';
import type { StudyData } from './study-data.ts';

/** The most steps (rows x items x patterns) of one E-step, which then takes minutes. */
const MAXIMUM_WORK = 2e10;

/** A study, what its tables show before any fit, and what they have against it. */
export interface Study extends StudyData {
  readonly linkage: Linkage;
  readonly lacking: MissingFigures;
  readonly conditions: readonly Condition[];
}

/** Groups equal rows of answers, and checks that a model can be fitted to them. The error is one line per defect. */
export function studyOf({ items, kcs, kcsOf, learners }: StudyTables): Result<Study, readonly string[]> {
  if (kcs.length > MAXIMUM_KCS) {
    return err([
      `the Q-matrix has ${kcs.length} knowledge components, and the exact E-step takes at most ${MAXIMUM_KCS}: fit parts of the bank that share no knowledge component separately`,
    ]);
  }
  const answering = withAnswers(learners);
  if (answering.length === 0) return err(['no learner answered any item: there is nothing to fit']);
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
  const data: StudyData = {
    items,
    kcs,
    kcsOf,
    responses,
    answered,
    correct,
    silent: learners.length - answering.length,
    missing: answers.reduce((count, answer) => count + Number(answer === MISSING), 0),
  };
  const study = { ...data, linkage: linkageOf(data), lacking: missingFigures(data) };
  return ok({ ...study, conditions: conditionsOf(study) });
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
export const FEW_LEARNERS = 100;
/** With fewer, parameters are hardly more than chance. */
export const TOO_FEW_LEARNERS = 30;
/** Items that each KC needs for identification of DINA (Gu and Xu, 2019, Psychometrika 84, 468-483). */
export const ITEMS_PER_KC = 3;

/** Returns the conditions that follow from the tables themselves. */
function conditionsOf(study: Omit<Study, 'conditions'>): Condition[] {
  const { kcs, kcsOf, responses } = study;
  const alone = new Set(kcsOf.flatMap((own) => (own.length === 1 ? own : [])));
  const column = (k: number): string => kcsOf.map((own) => Number(own.includes(k))).join('');
  const same = kcs.filter((_, k) => kcs.some((_other, l) => l !== k && column(l) === column(k)));
  // Items that need only one of two such KCs would not help: these are to be merged.
  const jointly = kcs.filter((kc, k) => !alone.has(k) && !same.includes(kc));
  const rarely = kcs.filter((_, k) => kcsOf.filter((own) => own.includes(k)).length < ITEMS_PER_KC);
  const { learners } = responses;
  const isVaried = (j: number): boolean => study.correct[j] !== 0 && study.correct[j] !== study.answered[j];
  const unvaried = kcs.filter((_, k) => !kcsOf.some((own, j) => own.includes(k) && isVaried(j)));
  return [
    ...(unvaried.length === 0 ? [] : [condition('component_without_variance', unvaried)]),
    ...linkageConditions(study, study.linkage),
    ...missingConditions(study, study.lacking),
    ...columnConditions(study),
    ...duplicateConditions(study),
    ...(same.length === 0 ? [] : [condition('components_alike', same)]),
    ...(jointly.length === 0 ? [] : [condition('incomplete_q_matrix', jointly)]),
    ...(rarely.length === 0 ? [] : [condition('component_rarely_measured', rarely, { least: ITEMS_PER_KC })]),
    ...(learners < TOO_FEW_LEARNERS
      ? [condition('too_few_learners', [], { learners, least: TOO_FEW_LEARNERS })]
      : learners < FEW_LEARNERS
        ? [condition('few_learners', [], { learners, least: FEW_LEARNERS })]
        : []),
    ...(study.silent === 0 ? [] : [condition('learners_without_answers', [], { learners: study.silent })]),
  ];
}
