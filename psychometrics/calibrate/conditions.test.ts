import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { INDIVIDUAL_RELIABILITY } from '#shared/records/records.ts';
import { OTHER_MAXIMUM, POOR } from './calibrate.ts';
import { COMMON_ANSWERS, IDENTICAL_LEVEL, REVERSED_LEVEL } from './checks/columns.ts';
import { EXCESS } from './checks/duplicates.ts';
import { NO_DIFFERENCE, ROW_GAIN, ROW_GAIN_PER_LEARNER, SHARE_OF_ROWS } from './checks/items.ts';
import { GUESSERS_GAIN, LEAST_SHARE } from './checks/learners.ts';
import { COMMON_LEARNERS } from './checks/linkage.ts';
import { JOINT_ANSWERS, MOSTLY_MISSING, NOT_REACHED } from './checks/missing.ts';
import { EASIER, REVERSAL_GAIN, REVERSAL_GAIN_PER_ANSWER } from './checks/nesting.ts';
import { TAIL_GAIN, TAIL_SHARE } from './checks/tails.ts';
import { allConditions, condition, isFinding, verdictOf } from './conditions.ts';
import { FEW_LEARNERS, TOO_FEW_LEARNERS, ITEMS_PER_KC } from './read-data.ts';
import { verdictSentence } from './report/verdict.ts';
import { LEAST_GAIN, STRONG } from './structure/candidates.ts';
import { MAXIMUM_TESTED_KCS } from './structure/structure-test.ts';

const few = condition('few_learners', [], { learners: 3, least: 100 });
const unfinished = condition('not_converged', [], { iterations: 7, isAtRest: false, penalty: 'weak' });

describe('verdictOf', () => {
  it.each([
    [[], 'releasable', /^Releasable: no check/],
    [[few], 'limited', /^Releasable with limitations, because of 1 condition:$/],
    [[few, unfinished], 'not_releasable', /^Not releasable, because of 2 conditions:$/],
  ])('is the gravest level of its conditions: %j', (found, level, sentence) => {
    const verdict = verdictOf(found);
    expect(verdict.level).toBe(level);
    expect(verdictSentence(verdict)).toMatch(sentence);
  });

  it('lists the gravest condition first', () => {
    expect(verdictOf([few, unfinished]).conditions).toEqual([unfinished, few]);
  });
});

describe('condition', () => {
  it('quotes its first subjects, counts the others, and keeps all', () => {
    const items = Array.from({ length: 12 }, (_, j) => `I${j}`);
    const found = condition('constant_item', items);
    expect(found.sentence).toMatch(/^No variance on "I0", .* "I7", 4 more: /);
    expect(found.subjects).toEqual(items);
    expect(isFinding(found)).toBe(false);
  });
});

describe('the sentence of a condition', () => {
  it.each(['weak', 'none'] as const)('advises no option that is already set: --penalty %s', (penalty) => {
    const { sentence } = condition('not_converged', [], { iterations: 7, isAtRest: true, penalty });
    expect(sentence.includes('--penalty weak')).toBe(penalty === 'none');
  });

  it('names the cause of a singular information matrix that is seen', () => {
    const of = (rows: number): string =>
      condition('singular_information', [], { missing: 2, free: 20, rows }).sentence;
    expect(of(12)).toMatch(/because too few different rows of answers were given \(12\)\.$/);
    expect(of(40)).toMatch(/because the data cannot tell them apart from others\.$/);
  });

  it.each([
    [0, 'maximum. '],
    [4, 'maximum; 4 others were dropped after short runs. '],
  ])('counts short runs that were dropped: %i', (dropped, text) => {
    expect(condition('several_maxima', [], { lower: 1, starts: 2, dropped, seed: 1 }).sentence).toContain(
      `1 of 2 starts that converged (seed 1) ended at a lower ${text}`,
    );
  });
});

describe('docs/calibrate.md', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/calibrate.md'), 'utf8');
  const section = page.slice(page.indexOf('## Verdict'), page.indexOf('## Metadata'));
  const rows = section
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')));

  it('lists every condition once, in order, with its level, its basis, what it means and what to do', () => {
    const listed = rows.filter(({ length }) => length === 7);
    expect(listed.map(([, code, level, basis]) => ({ code, level, basis }))).toEqual(allConditions());
    for (const cells of listed) expect(cells.slice(4, 6)).not.toContain('');
  });

  it('gives the thresholds of the product', () => {
    expect(
      rows.filter(({ length }) => length === 5).map(([, code, , value]) => [code, Number(value)]),
    ).toEqual([
      ['too_few_learners', TOO_FEW_LEARNERS],
      ['few_answers', JOINT_ANSWERS],
      ['identical_items', COMMON_ANSWERS],
      ['identical_items', IDENTICAL_LEVEL],
      ['reversed_items', REVERSED_LEVEL],
      ['answers_upside_down', EASIER],
      ['answers_upside_down', REVERSAL_GAIN],
      ['answers_upside_down', REVERSAL_GAIN_PER_ANSWER],
      ['duplicated_learners', EXCESS],
      ['zero_tails', TAIL_GAIN],
      ['zero_tails', TAIL_SHARE],
      ['weakly_linked_parts', COMMON_LEARNERS],
      ['mostly_missing', MOSTLY_MISSING],
      ['not_reached', NOT_REACHED],
      ['q_matrix_does_not_fit', SHARE_OF_ROWS],
      ['q_row_doubtful', ROW_GAIN],
      ['q_row_doubtful', ROW_GAIN_PER_LEARNER],
      ['item_tells_nothing', NO_DIFFERENCE],
      ['rapid_guessers', GUESSERS_GAIN],
      ['rapid_guessers', LEAST_SHARE],
      ['prerequisites', STRONG],
      ['two_abilities', LEAST_GAIN],
      ['no_components_shown', STRONG],
      ['no_components_shown', LEAST_GAIN],
      ['structure_untested', MAXIMUM_TESTED_KCS],
      ['poor_fit', POOR],
      ['component_rarely_measured', ITEMS_PER_KC],
      ['few_learners', FEW_LEARNERS],
      ['several_maxima', OTHER_MAXIMUM],
      ['coarse_scores', INDIVIDUAL_RELIABILITY],
    ]);
  });

  it.each(['calibrate.md', 'own-study.md'])('warns of a poor fit where %s does', (name) => {
    const text = readFileSync(join(import.meta.dirname, '../../docs', name), 'utf8');
    expect(text).toMatch(new RegExp(`above ${POOR}( it is)? poor`));
    expect(text).toMatch(/[Cc]lose is not sound/);
  });
});
