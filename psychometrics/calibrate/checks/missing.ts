/** How many answers a study lacks, and where. */
import { condition, type Condition } from '../conditions.ts';
import { answersOf } from '../model.ts';
import type { StudyData } from '../study-data.ts';

/** Above this share of missing answers, the fit rests on the minority that was given. */
export const MOSTLY_MISSING = 0.5;
/**
 * A distribution of patterns shows in the joint answers to three items, and not in fewer (Allman, Matias and Rhodes, 2009, Annals of Statistics 37,
 * 3099-3132): so most learners must have this many answers.
 */
export const JOINT_ANSWERS = 3;
/** A tail of this many missing answers counts as not reached. */
const TAIL = 2;
/** Above this share of learners with such a tail, late items may rest on those who were fast. */
export const NOT_REACHED = 0.02;
/** Learners who run out of time stop at several places. */
const ENDS = 3;
/** Where several learners stop who are more than this share of all, a booklet ends. */
const BOOKLET = 0.1;

/** Where answers are missing. */
export interface MissingFigures {
  /** Share of all answers, 0 to 1. */
  readonly share: number;
  /** Share of learners with fewer answers than a model needs. */
  readonly few: number;
  /** Learners who answered every item up to one, and none of the two or more after it; items in the order of the Q-matrix. */
  readonly tails: number;
  /** Their first unanswered items, in order, with the number of learners; without those that so many learners have in common that a booklet ends there. */
  readonly ends: readonly { readonly first: number; readonly learners: number }[];
}

/** Counts missing answers. */
export function missingFigures({ items, responses, missing }: StudyData): MissingFigures {
  let few = 0;
  let tails = 0;
  const ends = new Map<number, number>();
  if (missing > 0) {
    responses.counts.forEach((learners, row) => {
      const answers = answersOf(responses, row);
      const given = answers.reduce((total, answer) => total + Number(answer >= 0), 0);
      const first = answers.indexOf(-1);
      if (given < JOINT_ANSWERS) few += learners;
      if (first !== given || items.length - given < TAIL) return;
      tails += learners;
      ends.set(first, (ends.get(first) ?? 0) + learners);
    });
  }
  return {
    share: missing / (responses.learners * items.length),
    few: few / responses.learners,
    tails,
    ends: [...ends]
      .map(([first, learners]) => ({ first, learners }))
      .filter(({ learners }) => learners === 1 || learners <= BOOKLET * responses.learners)
      .toSorted((a, b) => a.first - b.first),
  };
}

/** Returns the conditions of missing answers. */
export function missingConditions(study: StudyData, { share, few, ends }: MissingFigures): Condition[] {
  const { items, responses } = study;
  const percent = (value: number): string => (100 * value).toFixed(1);
  const stopped = ends.reduce((total, { learners }) => total + learners, 0);
  const isTimed = stopped > NOT_REACHED * responses.learners && ends.length >= ENDS;
  const late = items.slice(ends[0]?.first ?? 0);
  return [
    ...(few > 0.5 ? [condition('few_answers', [], { percent: percent(few), least: JOINT_ANSWERS })] : []),
    ...(share > MOSTLY_MISSING ? [condition('mostly_missing', [], { percent: percent(share) })] : []),
    ...(isTimed ? [condition('not_reached', late, { learners: stopped, from: late[0] ?? '' })] : []),
  ];
}
