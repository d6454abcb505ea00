import { describe, expect, it } from 'vitest';
import { MISSING } from '#tools/terminal/study/values.ts';
import { damaged, damages } from './damages.ts';
import { designs } from './designs.ts';
import { simulateStudy } from './simulate.ts';

const sound = simulateStudy({ ...designs.english, learners: 400, seed: 2 });
const of = (name: string) => damaged(sound, damages[name]!, 2);
/** For each item the learners whose answer changed. */
const changes = (name: string): number[] => {
  const { learners } = of(name).tables;
  return sound.items.map(
    (_, j) => learners.filter(({ answers }, n) => answers[j] !== sound.learners[n]?.answers[j]).length,
  );
};

describe('damages', () => {
  it('leave the sound study as it is, and are the same for the same seed', () => {
    const before = JSON.stringify(sound);
    for (const name of Object.keys(damages)) expect(of(name)).toEqual(of(name));
    expect(JSON.stringify(sound)).toBe(before);
  });

  it.each(['reversed_item', 'coin_item', 'hidden_group', 'constant_item'])(
    '%s changes the item that it names',
    (name) => {
      const items = sound.items.filter((_, j) => changes(name)[j] !== 0);
      expect(items).toEqual(of(name).subjects);
      expect(items).toHaveLength(1);
    },
  );

  it('two_wrong_rows gives two items rows that they did not have, the others keep theirs', () => {
    const { tables, subjects } = of('two_wrong_rows');
    const different = sound.items.filter((_, j) => tables.kcsOf[j]?.join() !== sound.kcsOf[j]?.join());
    expect(different).toEqual(subjects);
    expect(subjects).toHaveLength(2);
    expect(tables.kcsOf.every((own) => own.length > 0)).toBe(true);
  });

  it('shuffled_rows keeps the rows in another order', () => {
    const rows = (kcsOf: readonly (readonly number[])[]) => kcsOf.map((own) => own.join()).toSorted();
    const { kcsOf } = of('shuffled_rows').tables;
    expect(rows(kcsOf)).toEqual(rows(sound.kcsOf));
    expect(kcsOf).not.toEqual(sound.kcsOf);
  });

  it('zero_tails ends with zeros for a quarter of the learners', () => {
    const last = changes('zero_tails').at(-1) ?? 0;
    const solved = sound.learners.filter(({ answers }) => answers.at(-1) === 1).length;
    expect(last / solved).toBeGreaterThan(0.15);
    expect(last / solved).toBeLessThan(0.35);
    expect(changes('zero_tails').slice(0, 7)).toEqual([0, 0, 0, 0, 0, 0, 0]);
  });

  it('copies learners under names of their own', () => {
    const { learners } = of('copied_learners').tables;
    expect(learners).toHaveLength(400 + 300 * 10);
    expect(new Set(learners.map(({ name }) => name)).size).toBe(learners.length);
    expect(of('every_learner_twice').tables.learners).toHaveLength(800);
  });

  it('identical_items copies one column into another', () => {
    const { tables, subjects } = of('identical_items');
    const [a = 0, b = 0] = subjects.map((name) => sound.items.indexOf(name));
    expect(b).toBeGreaterThan(a);
    for (const { answers } of tables.learners) expect(answers[a]).toBe(answers[b]);
  });

  it('mostly_missing takes 95 % of the answers, every_answer_reversed all', () => {
    const missing = of('mostly_missing').tables.learners.flatMap(({ answers }) => [...answers]);
    expect(missing.filter((answer) => answer === MISSING).length / missing.length).toBeCloseTo(0.95, 2);
    expect(changes('every_answer_reversed')).toEqual(sound.items.map(() => 400));
  });

  it('guessing_learners replaces a tenth of the learners', () => {
    const { learners } = of('guessing_learners').tables;
    const replaced = learners.filter(
      ({ answers }, n) => answers.join() !== sound.learners[n]?.answers.join(),
    );
    expect(replaced.length).toBeGreaterThan(20);
    expect(replaced.length).toBeLessThan(60);
  });
});
