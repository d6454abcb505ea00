/** Damages of a study, one at a time, with the condition that must name each: the verdict must tell a damaged study from a sound one. */
import type { ConditionCode } from '#psychometrics/calibrate/conditions.ts';
import { uniformFrom } from '#psychometrics/calibrate/numbers.ts';
import type { LearnerAnswers, StudyTables } from '#tools/terminal/study/tables.ts';
import { MISSING } from '#tools/terminal/study/values.ts';

/** A damaged study, and what its condition must name. */
export interface DamagedStudy {
  readonly tables: StudyTables;
  /** Items that the condition names, and no others; none if it names no items. */
  readonly subjects: readonly string[];
}

/** One kind of damage. */
export interface Damage {
  /** The code of its condition; undefined if the answers cannot show it. */
  readonly code: ConditionCode | undefined;
  readonly apply: (sound: StudyTables, uniform: () => number) => DamagedStudy;
}

const GUESSERS = 0.1;
const TAILS = 0.25;
const COPIED = { learners: 300, times: 10 } as const;
const MISSING_SHARE = 0.95;

/** All damages. */
export const damages: Readonly<Record<string, Damage>> = {
  reversed_item: {
    code: 'reversed_items',
    apply: (sound, uniform) => onItem(sound, uniform, (answer) => 1 - answer),
  },
  coin_item: {
    code: 'item_tells_nothing',
    apply: (sound, uniform) => onItem(sound, uniform, () => coin(uniform)),
  },
  shuffled_rows: {
    code: 'q_matrix_does_not_fit',
    apply: (sound, uniform) => ({
      tables: { ...sound, kcsOf: shuffled(sound.kcsOf, uniform) },
      subjects: [],
    }),
  },
  two_wrong_rows: { code: 'q_row_doubtful', apply: wrongRows },
  guessing_learners: {
    code: 'rapid_guessers',
    apply: (sound, uniform) =>
      onLearners(sound, (answers) => (uniform() < GUESSERS ? answers.map(() => coin(uniform)) : answers)),
  },
  hidden_group: {
    code: undefined,
    apply: (sound, uniform) =>
      onItem(sound, uniform, (answer, learner) => (learner % 2 === 0 && uniform() < 0.5 ? 0 : answer)),
  },
  zero_tails: {
    code: 'zero_tails',
    apply: (sound, uniform) =>
      onLearners(sound, (answers) => {
        if (uniform() >= TAILS) return answers;
        // The last quarter to three quarters of the test.
        const reached = Math.floor(answers.length * (0.25 + 0.5 * uniform()));
        return answers.map((answer, j) => (j < reached ? answer : 0));
      }),
  },
  every_learner_twice: {
    code: 'duplicated_learners',
    apply: (sound) => withLearners(sound, [...sound.learners, ...sound.learners]),
  },
  copied_learners: {
    code: 'duplicated_learners',
    apply: (sound, uniform) => {
      const chosen = shuffled(sound.learners, uniform).slice(0, COPIED.learners);
      const copies = Array.from({ length: COPIED.times }, () => chosen).flat();
      return withLearners(sound, [...sound.learners, ...copies]);
    },
  },
  every_answer_reversed: {
    code: 'answers_upside_down',
    apply: (sound) => onLearners(sound, (answers) => answers.map((answer) => 1 - answer)),
  },
  identical_items: {
    code: 'identical_items',
    apply: (sound, uniform) => {
      const [from = 0, to = 1] = shuffled([...sound.items.keys()], uniform);
      const { tables } = onLearners(sound, (answers) =>
        answers.map((answer, j) => (j === to ? (answers[from] ?? MISSING) : answer)),
      );
      return { tables, subjects: [from, to].toSorted((a, b) => a - b).map((j) => sound.items[j] ?? '') };
    },
  },
  constant_item: {
    code: 'constant_item',
    apply: (sound, uniform) => onItem(sound, uniform, () => 1),
  },
  mostly_missing: {
    code: 'few_answers',
    apply: (sound, uniform) =>
      onLearners(sound, (answers) => answers.map((answer) => (uniform() < MISSING_SHARE ? MISSING : answer))),
  },
};

/** Damages a sound study. The seed of the damage differs from the one that the study was drawn from. */
export function damaged(sound: StudyTables, damage: Damage, seed: number): DamagedStudy {
  return damage.apply(sound, uniformFrom(seed + 1_000_003));
}

function coin(uniform: () => number): number {
  return Number(uniform() < 0.5);
}

/** Returns the values in random order (Fisher and Yates). */
function shuffled<T>(values: readonly T[], uniform: () => number): T[] {
  const rest = [...values];
  return values.flatMap(() => rest.splice(Math.floor(uniform() * rest.length), 1));
}

function withLearners(sound: StudyTables, learners: readonly LearnerAnswers[]): DamagedStudy {
  return {
    tables: { ...sound, learners: learners.map(({ answers }, n) => ({ name: `L${n + 1}`, answers })) },
    subjects: [],
  };
}

function onLearners(sound: StudyTables, change: (answers: Int8Array) => Int8Array): DamagedStudy {
  return withLearners(
    sound,
    sound.learners.map(({ name, answers }) => ({ name, answers: change(answers) })),
  );
}

/** Changes the answers to one random item. */
function onItem(
  sound: StudyTables,
  uniform: () => number,
  change: (answer: number, learner: number) => number,
): DamagedStudy {
  const item = Math.floor(uniform() * sound.items.length);
  const learners = sound.learners.map(({ name, answers }, n) => ({
    name,
    answers: answers.map((answer, j) => (j === item && answer !== MISSING ? change(answer, n) : answer)),
  }));
  return { tables: { ...sound, learners }, subjects: [sound.items[item] ?? ''] };
}

/** Gives two items other rows, at random. */
function wrongRows(sound: StudyTables, uniform: () => number): DamagedStudy {
  const chosen = shuffled([...sound.items.keys()], uniform).slice(0, 2);
  const others = (own: readonly number[]): number[] => {
    for (;;) {
      const set = 1 + Math.floor(uniform() * (2 ** sound.kcs.length - 1));
      const kcs = [...sound.kcs.keys()].filter((k) => (set >>> k) & 1);
      if (kcs.join() !== own.join()) return kcs;
    }
  };
  const kcsOf = sound.kcsOf.map((own, j) => (chosen.includes(j) ? others(own) : own));
  const subjects = chosen.toSorted((a, b) => a - b).map((j) => sound.items[j] ?? '');
  return { tables: { ...sound, kcsOf }, subjects };
}
