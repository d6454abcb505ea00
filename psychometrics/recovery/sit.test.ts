import { describe, expect, it } from 'vitest';
import { estimate } from '#functions/mastery/engine/index.ts';
import { conditionsOf, type Condition } from './conditions.ts';
import { knownParameters } from './knowledge.ts';
import { answerOf, drawLearner } from './learners.ts';
import { compiled, sitAll } from './sit.ts';
import { abilityOfScale, kcGuid, makeWorld } from './world.ts';

const LEARNERS = 5;
const conditions = conditionsOf({ items: 60, kcs: 8, length: 9, policy: 'plain' });

describe('a sitting', () => {
  it.each(conditions.map((condition): [string, Condition] => [condition.name, condition]))(
    'is what the engine makes of the learner’s answers: %s',
    (_name, condition) => {
      const world = makeWorld('one', condition.size, condition.quality);
      const known = knownParameters(world, condition.knowledge);
      const model = compiled(known);
      const sittings = [...sitAll(condition, 'one', LEARNERS)];
      expect(sittings).toHaveLength(LEARNERS);
      sittings.forEach((sitting, n) => {
        const learner = drawLearner(world, `one ${n}`, condition.population, condition.structure);
        expect(sitting.ability).toBe(learner.ability);
        expect(new Set(sitting.items).size).toBe(sitting.items.length);
        if (condition.confidence === 1) expect(sitting.items).toHaveLength(condition.length);
        const outcomes = sitting.items.map((item) => ({
          item,
          correct: answerOf(learner, world.items[item]!, condition.answers),
        }));
        const posterior = estimate(model, outcomes);
        expect(sitting.recovered).toBe(abilityOfScale(posterior.scaleScore));
        expect(sitting.error).toBeCloseTo(posterior.standardError / 100, 12);
        sitting.kcs.forEach((kc, k) => {
          expect(kc.mastered).toBe(learner.mastered[k]);
          expect(kc.posterior).toBe(posterior.kcPosteriors[k]);
          expect(kc.items).toBe(
            sitting.items.filter((item) => known.items[item]!.kcs.includes(kcGuid(k))).length,
          );
          const sure = Math.max(kc.posterior, 1 - kc.posterior) >= 0.9;
          expect(kc.classified).toBe(kc.items > 0 && sure);
        });
      });
    },
  );

  it('is given to other learners in another world', () => {
    const [reference] = conditions;
    const abilities = (name: string) => [...sitAll(reference!, name, LEARNERS)].map(({ ability }) => ability);
    expect(abilities('two')).not.toEqual(abilities('one'));
  });
});

describe('the rows of a study', () => {
  it('vary one thing of the first', () => {
    const [reference, ...others] = conditions;
    for (const row of others) {
      const changed = Object.entries(row).filter(
        ([key, value]) =>
          !['group', 'name', 'curve'].includes(key) &&
          JSON.stringify(value) !== JSON.stringify(Object.entries(reference!).find(([k]) => k === key)![1]),
      );
      // A test that stops by itself has a longer limit as well; those of a pair differ in their target, and from other pairs in one thing.
      const limits: Readonly<Record<string, readonly [least: number, most: number]>> = {
        stop: [2, 3],
        unsettled: [3, 4],
        unmeasured: [3, 4],
        ahead: [3, 3],
        'unsettled mistakes': [4, 4],
        blocks: [1, 3],
      };
      const [least, most] = limits[row.group] ?? [1, 1];
      expect(changed.length, row.name).toBeGreaterThanOrEqual(least);
      expect(changed.length, row.name).toBeLessThanOrEqual(most);
    }
    expect(new Set(conditions.map(({ name }) => name)).size).toBe(conditions.length);
  });

  it('never ask for more items than there are', () => {
    for (const { size, length } of conditionsOf({ items: 12, kcs: 4, length: 10, policy: 'all' }))
      expect(length).toBeLessThanOrEqual(size.items);
  });
});
