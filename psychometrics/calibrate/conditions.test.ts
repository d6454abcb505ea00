import { describe, expect, it } from 'vitest';
import { condition, isFinding, verdictOf } from './conditions.ts';
import { verdictSentence } from './report/verdict.ts';

const few = condition('few_learners', [], { learners: 3, least: 100 });
const unfinished = condition('not_converged', [], { iterations: 7 });

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
