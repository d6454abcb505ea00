import { describe, expect, it } from 'vitest';
import { designs } from './designs.ts';
import { runStudies, studiesFrom, type VerdictStudy } from './run.ts';
import { simulateStudy } from './simulate.ts';

const studies = studiesFrom(
  'small',
  (seed) => simulateStudy({ ...designs.english, learners: 300, seed }),
  false,
);
const named = (name: string): VerdictStudy => studies.find((study) => study.name === name)!;
const outcomeOf = (study: VerdictStudy) => {
  let milliseconds = 0;
  return runStudies(
    study,
    [1, 2],
    'dina',
    () => (milliseconds += 500),
    () => undefined,
  );
};

describe('runStudies', () => {
  it('takes other items in a real study only', () => {
    const two = (isReal: boolean): VerdictStudy => ({
      ...named('coin_item'),
      isReal,
      aim: 0,
      make: (seed) => {
        const { tables } = named('coin_item').make(seed);
        const learners = tables.learners.map(({ name, answers }, n) => ({
          name,
          answers: answers.with(0, n % 2).with(1, (n >>> 1) % 2),
        }));
        return { tables: { ...tables, learners }, subjects: ['I1'] };
      },
    });
    expect(outcomeOf(two(true))).toMatchObject({ right: 2 });
    expect(outcomeOf(two(false))).toMatchObject({ right: 0 });
  });

  it('counts sound studies without a finding, with the mean of their steps and time', () => {
    const outcome = outcomeOf(named('sound'));
    expect(outcome).toMatchObject({ studies: 2, right: 2, alarmed: 0, wrong: [], milliseconds: 250 });
    expect(outcome.conditions['coarse_scores']).toBe(2);
    expect(outcome.eSteps).toBeGreaterThan(5);
  });

  it('counts a damaged study only if its condition names the right items', () => {
    const coin = named('coin_item');
    expect(outcomeOf(coin)).toMatchObject({ right: 2, alarmed: 2, conditions: { item_tells_nothing: 2 } });
    const wrong = outcomeOf({ ...coin, make: (seed) => ({ ...coin.make(seed), subjects: ['I0'] }) });
    expect(wrong).toMatchObject({ right: 0, alarmed: 2, wrong: [1, 2] });
  });

  it('expects no finding of a sound study, and nothing of one whose damage cannot be seen', () => {
    const { make } = named('coin_item');
    expect(outcomeOf({ ...named('sound'), make })).toMatchObject({ right: 0, wrong: [1, 2] });
    expect(outcomeOf({ ...named('hidden_group'), make })).toMatchObject({ right: 2 });
  });

  it('throws for tables that cannot be fitted', () => {
    const nothing = {
      ...named('sound'),
      make: () => ({ tables: { items: ['I1'], kcs: ['K1'], kcsOf: [[0]], learners: [] }, subjects: [] }),
    };
    expect(() => outcomeOf(nothing)).toThrow(/small sound, seed 1: /);
  });
});
