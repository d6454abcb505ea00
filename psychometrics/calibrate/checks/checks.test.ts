import { describe, expect, it } from 'vitest';
import { normal } from '#psychometrics/recovery/learners.ts';
import { designs, type TestDesign } from '#psychometrics/verdicts/designs.ts';
import { simulateStudy } from '#psychometrics/verdicts/simulate.ts';
import type { StudyTables } from '#tools/terminal/study/tables.ts';
import { MISSING } from '#tools/terminal/study/values.ts';
import { condition, type Condition } from '../conditions.ts';
import { fit } from '../em.ts';
import { createDesign, startingParameters } from '../model.ts';
import { logistic, uniformFrom } from '../numbers.ts';
import { studyOf, type Study } from '../read-data.ts';
import { copiesIn } from './duplicates.ts';
import { nestingConditions, nestingOf } from './nesting.ts';
import { tailConditions } from './tails.ts';

/** A short test of three KCs: few learners, many equal rows. */
const short: TestDesign = {
  learners: 220,
  kcs: 3,
  kcsOf: [[0], [1], [2], [0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2], [0], [1]],
};

function read(tables: StudyTables): Study {
  const study = studyOf(tables);
  if (!study.ok) throw new Error(study.error.join('\n'));
  return study.value;
}

/** All conditions of this folder, and those of the tables. */
function check(tables: StudyTables): Condition[] {
  const study = read(tables);
  return [...study.conditions, ...nestingConditions(study, 'dina'), ...tailsOf(study)];
}

function tailsOf(study: Study): Condition[] {
  const design = createDesign('dina', study.kcs.length, study.kcsOf, { bound: 0.001, penalty: 'weak' });
  const { parameters } = fit(design, study.responses, startingParameters(design), {
    maximumIterations: 500,
    tolerance: 1e-3,
  });
  return tailConditions(design, parameters, study);
}

/** A study whose answers are changed: `of` returns the answers of one learner. */
function changed(tables: StudyTables, of: (answers: Int8Array, learner: number) => Int8Array): StudyTables {
  return {
    ...tables,
    learners: tables.learners.map(({ name, answers }, n) => ({
      name,
      answers: of(Int8Array.from(answers), n),
    })),
  };
}

/** A study of one item per entry of `sets`, of learners who answered those items only. */
function sets(groups: readonly (readonly [learners: number, items: readonly number[]])[]): StudyTables {
  const count = Math.max(...groups.flatMap(([, own]) => own)) + 1;
  const uniform = uniformFrom(1);
  const learners = groups.flatMap(([number, own]) =>
    Array.from({ length: number }, () => ({
      name: '',
      answers: Int8Array.from({ length: count }, (_, j) =>
        own.includes(j) ? Number(uniform() < 0.5) : MISSING,
      ),
    })),
  );
  return {
    items: Array.from({ length: count }, (_, j) => `I${j + 1}`),
    kcs: ['A'],
    kcsOf: Array.from({ length: count }, () => [0]),
    learners,
  };
}

const upside = (answers: Int8Array): Int8Array => answers.map((answer) => 1 - answer);

const damages: readonly (readonly [
  name: string,
  damage: (tables: StudyTables) => StudyTables,
  code: Condition['code'],
  subjects: readonly string[],
])[] = [
  [
    'every learner twice',
    (tables) => ({ ...tables, learners: [...tables.learners, ...tables.learners] }),
    'duplicated_learners',
    [],
  ],
  [
    'a column twice',
    (tables) =>
      changed(tables, (answers) => {
        answers[8] = answers[1] ?? 0;
        return answers;
      }),
    'identical_items',
    ['I2', 'I9'],
  ],
  [
    'a reversed item',
    (tables) => changed(tables, (answers) => answers.map((answer, j) => (j === 6 ? 1 - answer : answer))),
    'reversed_items',
    ['I7'],
  ],
  [
    'an item without variance',
    (tables) => changed(tables, (answers) => answers.fill(1, 4, 5)),
    'constant_item',
    ['I5'],
  ],
  ['every answer reversed', (tables) => changed(tables, upside), 'answers_upside_down', []],
  [
    '95 % missing',
    (tables) => {
      const uniform = uniformFrom(5);
      return changed(tables, (answers) => answers.map((answer) => (uniform() < 0.95 ? MISSING : answer)));
    },
    'few_answers',
    [],
  ],
];

describe('checks of a study', () => {
  it.each([100, 101, 102])('find nothing in a sound study, seed %i', (seed) => {
    expect(check(simulateStudy({ ...short, seed }))).toEqual([]);
  });

  it.each(damages)('find %s', (_, damage, code, subjects) => {
    for (const seed of [100, 101]) {
      const found = check(damage(simulateStudy({ ...short, seed }))).find((one) => one.code === code);
      expect(found?.subjects).toEqual(subjects);
    }
  });

  it('find 300 learners who were copied ten times', () => {
    const { learners, ...tables } = simulateStudy({ ...designs.english, seed: 100 });
    const copies = Array.from({ length: 9 }, () => learners.slice(0, 300)).flat();
    expect(copiesIn(read({ ...tables, learners: [...learners, ...copies] }).responses)?.times).toBe(10);
    expect(copiesIn(read({ ...tables, learners }).responses)).toBeUndefined();
  });

  it('find a tail of zeros, and where it begins', () => {
    const tables = changed(simulateStudy({ ...short, learners: 1000, seed: 100 }), (answers, n) =>
      n % 4 === 0 ? answers.fill(0, 8 + (n % 3)) : answers,
    );
    const found = check(tables).find(({ code }) => code === 'zero_tails');
    expect(found?.subjects).toEqual(['I9', 'I10', 'I11', 'I12']);
    expect(found?.sentence).toMatch(/^Some \d\d\.\d % of the learners seem to stop early: .* from "I9" on/);
  });

  it('count no missing answers at the end among tails of zeros', () => {
    const tables = changed(simulateStudy({ ...designs.english, learners: 1000, seed: 100 }), (answers, n) =>
      n % 10 === 0 ? answers.fill(0, 20) : n % 2 === 1 ? answers.fill(MISSING, 20) : answers,
    );
    const sentence = tailsOf(read(tables))[0]?.sentence ?? '';
    expect(Math.abs(Number.parseFloat(sentence.replace('Some ', '')) - 10)).toBeLessThan(3);
  });

  it('take no misfit in general for tails: other orders of the items show as much', () => {
    for (const seed of [100, 101]) {
      const codes = tailsOf(read(changed(simulateStudy({ ...short, learners: 800, seed }), upside))).map(
        ({ code }) => code,
      );
      expect(codes).toEqual([]);
    }
  });

  it('cannot tell a reversed sheet from items that need any of their KCs, if G-DINA is fitted', () => {
    const tables = changed(simulateStudy({ ...short, seed: 100 }), upside);
    expect(nestingConditions(read(tables), 'gdina').map(({ code }) => code)).toEqual(['disjunctive_items']);
  });

  /** Items on which each KC helps by itself: P(correct) rises evenly with the number of KCs. */
  function additive(seed: number): StudyTables {
    const uniform = uniformFrom(seed);
    const { learners, kcs, kcsOf } = designs.english;
    const items = kcsOf.map((own) => ({ own, guess: 0.1 + 0.15 * uniform(), best: 0.95 - 0.15 * uniform() }));
    const curves = Array.from({ length: kcs }, () => [1 + 1.5 * uniform(), 2 * uniform() - 1] as const);
    return {
      items: kcsOf.map((_, j) => `I${j + 1}`),
      kcs: ['A', 'B', 'C'],
      kcsOf,
      learners: Array.from({ length: learners }, () => {
        const ability = normal(uniform);
        const has = curves.map(([slope, location]) => uniform() < logistic(slope * (ability - location)));
        const answers = items.map(({ own, guess, best }) => {
          const held = own.filter((k) => has[k] === true).length;
          return Number(uniform() < guess + ((best - guess) * held) / own.length);
        });
        return { name: '', answers: Int8Array.from(answers) };
      }),
    };
  }

  it.each([1, 3])('take items on which each KC helps by itself for no reversed sheet, seed %i', (seed) => {
    const study = read(additive(seed));
    expect(Math.abs(nestingOf(study).difference)).toBeLessThan(0.02);
    expect(nestingConditions(study, 'dina')).toEqual([]);
    expect(nestingConditions(study, 'gdina')).toEqual([]);
  });

  it.each([1, 3])('find a reversed sheet of a long test, seed %i', (seed) => {
    const study = read(changed(simulateStudy({ ...designs.english, seed }), upside));
    expect(nestingConditions(study, 'dina').map(({ code }) => code)).toEqual(['answers_upside_down']);
  });

  it('cannot tell a reversed sheet without nested rows', () => {
    const kcsOf = [[0], [0], [0], [1], [1], [1]];
    const tables = changed(simulateStudy({ learners: 300, kcs: 2, kcsOf, seed: 1 }), upside);
    expect(nestingOf(read(tables)).pairs).toBe(0);
    expect(nestingConditions(read(tables), 'dina')).toEqual([]);
  });

  it('take no two items of a small study for the same column because all its learners answered them alike', () => {
    const agreements = Array.from({ length: 60 }, (_, seed) => {
      const tables = simulateStudy({ ...designs.english, learners: 25, seed });
      const columns = tables.items.map((__, j) => tables.learners.map(({ answers }) => answers[j]).join(''));
      const { conditions } = read(tables);
      expect(conditions.map(({ code }) => code)).not.toContain('identical_items');
      return columns.filter((column, j) => columns.indexOf(column) < j).length;
    });
    expect(Math.max(...agreements)).toBeGreaterThan(0);
  });

  it('find two pairs of identical columns in a study of 100 learners', () => {
    const tables = changed(simulateStudy({ ...designs.english, learners: 100, seed: 100 }), (answers) => {
      answers[8] = answers[1] ?? 0;
      answers[9] = answers[2] ?? 0;
      return answers;
    });
    const found = read(tables).conditions.find(({ code }) => code === 'identical_items');
    expect(found?.subjects).toEqual(['I2', 'I3', 'I9', 'I10']);
  });

  it('find several reversed items', () => {
    const tables = changed(simulateStudy({ ...designs.english, seed: 100 }), (answers) =>
      answers.map((answer, j) => (j < 5 ? 1 - answer : answer)),
    );
    const found = read(tables).conditions.find(({ code }) => code === 'reversed_items');
    expect(found?.subjects).toEqual(['I1', 'I2', 'I3', 'I4', 'I5']);
  });
});

describe('copiesIn', () => {
  it.each([
    ['each row twice', Array<number>(16).fill(2), { rows: 'every', times: 2 }],
    [
      'each row twice, some by chance more often',
      [...Array<number>(16).fill(2), 4, 6],
      { rows: 'every', times: 2 },
    ],
    ['too few rows to tell', Array<number>(12).fill(2), undefined],
    [
      'a Poisson distribution',
      [...Array<number>(50).fill(1), ...Array<number>(25).fill(2), 3, 3, 3, 3, 3, 3, 3, 3],
      undefined,
    ],
    [
      'more pairs than singles, and no triples',
      [...Array<number>(60).fill(1), ...Array<number>(120).fill(2)],
      { rows: 120, times: 2 },
    ],
    ['one frequent row', [...Array<number>(60).fill(1), 500], undefined],
  ])('%s', (_, counts, copies) => {
    expect(copiesIn({ counts: Float64Array.from(counts) })).toEqual(copies);
  });

  it('is stated as what is seen: a multiple, or an exact number', () => {
    expect(condition('duplicated_learners', [], { rows: 'every', times: 2 }).sentence).toMatch(
      /^Every row of answers occurs a multiple of 2 times, /,
    );
    expect(condition('duplicated_learners', [], { rows: 9, times: 3 }).sentence).toMatch(
      /^9 different rows of answers occur exactly 3 times, /,
    );
  });
});

describe('parts of a study', () => {
  const parts = (tables: StudyTables): readonly (readonly [string, readonly string[]])[] =>
    read(tables).conditions.flatMap(({ code, subjects }) =>
      code.endsWith('linked_parts') ? [[code, subjects] as const] : [],
    );

  it.each([
    [
      'booklets in a chain',
      [
        [60, [0, 1, 2, 3]],
        [60, [2, 3, 4, 5]],
      ],
      [],
    ],
    [
      'two groups',
      [
        [60, [0, 1, 2]],
        [60, [3, 4, 5]],
      ],
      [['unlinked_parts', ['I1, I2, I3', 'I4, I5, I6']]],
    ],
    [
      'a single item between them',
      [
        [60, [0, 1, 2]],
        [60, [2, 3, 4]],
      ],
      [['weakly_linked_parts', ['I1, I2', 'I4, I5']]],
    ],
    [
      'nine learners between them',
      [
        [60, [0, 1, 2]],
        [60, [3, 4, 5]],
        [9, [0, 1, 2, 3, 4, 5]],
      ],
      [['weakly_linked_parts', ['I1, I2, I3', 'I4, I5, I6']]],
    ],
    [
      'ten learners between them',
      [
        [60, [0, 1, 2]],
        [60, [3, 4, 5]],
        [10, [0, 1, 2, 3, 4, 5]],
      ],
      [],
    ],
    ['all answers', [[60, [0, 1, 2]]], []],
    [
      'nine learners, one of whom omitted an item',
      [
        [8, [0, 1, 2]],
        [1, [0, 1]],
      ],
      [],
    ],
    [
      'a part that nothing links to a chain of booklets with few common learners',
      [
        [60, [0, 1, 2]],
        [60, [3, 4, 5]],
        [9, [0, 1, 2, 3, 4, 5]],
        [60, [6, 7]],
      ],
      [
        ['unlinked_parts', ['I1, I2, I3, I4, I5, I6', 'I7, I8']],
        ['weakly_linked_parts', ['I1, I2, I3', 'I4, I5, I6']],
      ],
    ],
  ] as const)('%s', (_, groups, expected) => {
    expect(parts(sets(groups))).toEqual(expected);
  });
});

describe('missing answers', () => {
  it('are counted at places where few learners stop, without a cause', () => {
    const study = read(
      sets([
        [60, [0, 1, 2, 3, 4, 5, 6, 7]],
        [40, [0, 1, 2]],
        [3, [0, 1, 2, 3]],
        [3, [0, 1, 2, 3, 4]],
        [3, [0, 1, 2, 3, 4, 5]],
      ]),
    );
    const found = study.conditions.find(({ code }) => code === 'not_reached');
    expect(found?.sentence).toBe(
      '9 learners answered every item up to one and none after it, at several places, the earliest from "I5" on: if they ran out of time, late items rest on faster learners.',
    );
    expect(study.lacking.tails).toBe(49);
  });

  it.each([
    [
      'learners who stop at different items',
      [
        [90, [0, 1, 2, 3, 4, 5]],
        [2, [0, 1, 2, 3]],
        [2, [0, 1, 2]],
        [2, [0, 1]],
      ],
      ['not_reached'],
    ],
    [
      'a shorter booklet',
      [
        [90, [0, 1, 2, 3, 4, 5]],
        [20, [0, 1, 2, 3]],
      ],
      [],
    ],
    [
      'nested booklets',
      [
        [60, [0, 1, 2, 3, 4, 5, 6, 7]],
        [60, [0, 1, 2, 3, 4, 5]],
        [60, [0, 1, 2, 3]],
        [60, [0, 1, 2]],
      ],
      [],
    ],
    [
      'two in a hundred learners',
      [
        [294, [0, 1, 2, 3, 4, 5]],
        [2, [0, 1, 2, 3]],
        [2, [0, 1, 2]],
        [2, [0, 1]],
      ],
      [],
    ],
    [
      'a majority of cells',
      [
        [90, [0, 1, 2]],
        [90, [1, 2, 3]],
        [90, [3, 4, 5, 6]],
        [90, [6, 7, 1]],
      ],
      ['mostly_missing'],
    ],
    [
      'most learners with two answers',
      [
        [60, [0, 1]],
        [50, [0, 1, 2, 3]],
      ],
      ['few_answers'],
    ],
  ] as const)('%s', (_, groups, expected) => {
    const codes = read(sets(groups)).conditions.map(({ code }) => code);
    expect(codes.filter((code) => ['not_reached', 'mostly_missing', 'few_answers'].includes(code))).toEqual(
      expected,
    );
  });
});
