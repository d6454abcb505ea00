import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileModel } from '#functions/mastery/engine/index.ts';
import { policies, policyNames } from './conditions.ts';
import { answerOf, drawLearner, PRIOR_POPULATION } from './learners.ts';
import { bias, mean, rootMeanSquareError } from './statistics.ts';
import { abilityOfScale, makeWorld, masteryAt, misjudged, parametersOf, successOf } from './world.ts';
import type { WorldItem } from './world.ts';

const sizes = fc
  .record({ kcs: fc.integer({ min: 1, max: 23 }), more: fc.integer({ min: 0, max: 60 }) })
  .map(({ kcs, more }) => ({ kcs, items: kcs + more }));

describe('a made-up world', () => {
  it('is a sound calibration that measures each KC, of good items, whatever its size', () => {
    fc.assert(
      fc.property(sizes, fc.string(), (size, name) => {
        const world = makeWorld(name, size);
        expect(compileModel(parametersOf(world)).ok).toBe(true);
        expect(new Set(world.items.flatMap(({ kcs }) => kcs)).size).toBe(size.kcs);
        for (const { kcs, guess, slip } of world.items) {
          expect(new Set(kcs).size).toBe(kcs.length);
          // One strand of five.
          expect(new Set(kcs.map((kc) => Math.floor(kc / 5))).size).toBe(1);
          expect(Math.min(guess, slip)).toBeGreaterThanOrEqual(0.05);
          expect(Math.max(guess, slip)).toBeLessThanOrEqual(0.15);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('depends on its name, and its items do not depend on how many come after them', () => {
    const world = makeWorld('one', { items: 40, kcs: 8 });
    expect(makeWorld('one', { items: 40, kcs: 8 })).toEqual(world);
    expect(makeWorld('two', { items: 40, kcs: 8 })).not.toEqual(world);
    const larger = makeWorld('one', { items: 80, kcs: 8 });
    expect([larger.kcs, larger.items.slice(0, 40)]).toEqual([world.kcs, world.items]);
  });

  it('tells the engine the chances by which its learners answer', () => {
    const world = makeWorld('tables', { items: 60, kcs: 6 });
    const { items, kcs, scale } = parametersOf(world);
    world.items.forEach((item, j) => {
      items[j]!.probabilities.forEach((probability, pattern) => {
        const mastered = item.kcs.filter((_, bit) => Math.floor(pattern / 2 ** bit) % 2 === 1).length;
        expect(probability).toBe(successOf(item, mastered));
      });
    });
    expect(new Set(world.items.map(({ table }) => table))).toEqual(new Set(['conjunctive', 'additive']));
    expect(kcs.map(({ slope, location }) => ({ slope, location }))).toEqual(world.kcs);
    expect([scale[0], scale[30], scale[60]].map((value) => abilityOfScale(value!))).toEqual([-6, 0, 6]);
  });

  it('has success by table as the definition says', () => {
    const item = (table: WorldItem['table']): WorldItem => ({
      id: 'i',
      kcs: [0, 1],
      table,
      guess: 0.1,
      slip: 0.3,
    });
    const chances = (table: WorldItem['table']) => [0, 1, 2].map((has) => successOf(item(table), has));
    expect(chances('conjunctive')).toEqual([0.1, 0.1, 0.7]);
    expect(chances('additive')[1]).toBeCloseTo(0.4, 15);
    expect([chances('additive')[0], chances('additive')[2]]).toEqual([0.1, 0.7]);
  });

  it('is misjudged by no more than the share, in every parameter', () => {
    const world = makeWorld('off', { items: 200, kcs: 10 });
    const other = misjudged(world, 0.2);
    expect(compileModel(parametersOf(other)).ok).toBe(true);
    const ratios = world.items.flatMap(({ guess, slip }, j) => [
      other.items[j]!.guess / guess,
      other.items[j]!.slip / slip,
    ]);
    const slopes = world.kcs.map(({ slope }, k) => other.kcs[k]!.slope / slope);
    const shifts = world.kcs.map(({ location }, k) => other.kcs[k]!.location - location);
    for (const ratio of [...ratios, ...slopes, ...shifts.map((shift) => 1 + shift)]) {
      expect(Math.abs(ratio - 1)).toBeLessThanOrEqual(0.2 + 1e-12);
    }
    expect(Math.max(...shifts.map(Math.abs))).toBeGreaterThan(0.1);
    expect(Math.max(...slopes)).toBeGreaterThan(1.1);
    expect(Math.max(...ratios)).toBeGreaterThan(1.15);
    expect(Math.min(...ratios)).toBeLessThan(0.85);
  });
});

describe('a simulated learner', () => {
  const world = makeWorld('learners', { items: 60, kcs: 6 });
  const learners = Array.from({ length: 4000 }, (_, n) =>
    drawLearner(world, `learner ${n}`, PRIOR_POPULATION),
  );

  it('has an ability of the standard normal, and another where the population is another', () => {
    const abilities = learners.map(({ ability }) => ({ known: 0, recovered: ability }));
    expect(bias(abilities)).toBeCloseTo(0, 1);
    expect(rootMeanSquareError(abilities)).toBeCloseTo(1, 1);
    const within = learners.filter(({ ability }) => Math.abs(ability) < 1.96).length;
    expect(within / learners.length).toBeCloseTo(0.95, 1);
    const shifted = learners.map(({ name }) => drawLearner(world, name, { mean: 3, sd: 0.5 }).ability);
    expect(shifted).toEqual(learners.map(({ ability }) => 3 + 0.5 * ability));
  });

  it('has each KC as often as its ability says', () => {
    for (let kc = 0; kc < 6; kc += 1) {
      const expected = mean(learners.map(({ ability }) => masteryAt(world, kc, ability)));
      const seen = learners.filter(({ mastered }) => mastered[kc] === true).length / learners.length;
      expect(seen).toBeCloseTo(expected, 1);
    }
  });

  it('answers as the table says, always alike, and makes up for a KC only where it is compensatory', () => {
    const item = { id: 'x', kcs: [0, 1], table: 'conjunctive', guess: 0.1, slip: 0.1 } as const;
    const half = learners.map(({ name, ability }) => ({
      name,
      ability,
      mastered: [true, false, false, false, false, false],
    }));
    const correct = (model: 'by-table' | 'compensatory') =>
      half.filter((learner) => answerOf(learner, item, model)).length / half.length;
    expect(correct('by-table')).toBeCloseTo(0.1, 1);
    // Half of the way in log-odds between 0.1 and 0.9.
    expect(correct('compensatory')).toBeCloseTo(0.5, 1);
    for (const learner of half.slice(0, 50))
      expect(answerOf(learner, item, 'by-table')).toBe(answerOf(learner, item, 'by-table'));
  });
});

describe('policies', () => {
  const world = makeWorld('policies', { items: 45, kcs: 6 });

  it('ask for what they say', () => {
    const limits = Object.fromEntries(policyNames.map((name) => [name, policies[name].limits(world, 9)]));
    expect(limits['plain']).toEqual({ minima: [], maxima: [], enemySets: [] });
    expect(limits['floors']!.minima).toEqual(
      [0, 1, 2, 3, 4, 5].map((kc) => ({ guid: `kc-${kc}`, items: 1 })),
    );
    expect(limits['maxima']!.maxima[0]).toEqual({ guid: 'kc-0', items: 3 });
    expect(limits['randomesque']!.exposure).toEqual({ method: 'randomesque', size: 5 });
    expect(limits['enemies']!.enemySets[0]).toEqual(['item-0', 'item-6', 'item-12', 'item-18']);
    expect(limits['enemies']!.enemySets.every((set) => set.length >= 2 && set.length <= 4)).toBe(true);
    expect(limits['all']).toEqual({
      minima: limits['floors']!.minima,
      maxima: limits['maxima']!.maxima,
      enemySets: limits['enemies']!.enemySets,
      exposure: { method: 'randomesque', size: 5 },
    });
  });
});
