import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileModel } from '#functions/mastery/engine/index.ts';
import { knownParameters, misjudged, withWrongRows } from './knowledge.ts';
import { answerOf, CORRELATION, drawLearner, PRIOR_POPULATION, RAPID, type Structure } from './learners.ts';
import { bias, correlation, mean, rootMeanSquareError } from './statistics.ts';
import { abilityOfScale, makeWorld, masteryAt, parametersOf, successOf, type WorldItem } from './world.ts';

const sizes = fc
  .record({ kcs: fc.integer({ min: 1, max: 23 }), more: fc.integer({ min: 0, max: 60 }) })
  .map(({ kcs, more }) => ({ kcs, items: kcs + more }));

describe('a simulated world', () => {
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

  it('has success by table as defined', () => {
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

describe('the engine’s parameters of a world', () => {
  const world = makeWorld('known', { items: 100, kcs: 10 });

  it('has one entry turned over in each wrong row, within the strand, and all else as it is', () => {
    const large = makeWorld('rows', { items: 2000, kcs: 10 });
    const wrong = withWrongRows(large, 0.1);
    expect(compileModel(parametersOf(wrong)).ok).toBe(true);
    const changed = wrong.items.filter((item, j) => item !== large.items[j]);
    expect(changed.length / 2000).toBeCloseTo(0.1, 1);
    wrong.items.forEach((item, j) => {
      const { kcs, ...rest } = large.items[j]!;
      expect(item).toMatchObject(rest);
      const turned = [...item.kcs, ...kcs].filter((kc) => !(item.kcs.includes(kc) && kcs.includes(kc)));
      expect(turned).toHaveLength(item === large.items[j] ? 0 : 1);
      expect(new Set(item.kcs.map((kc) => Math.floor(kc / 5))).size).toBe(1);
    });
    const lengths = changed.map(
      ({ kcs, id }) => kcs.length - large.items.find((one) => one.id === id)!.kcs.length,
    );
    expect(new Set(lengths)).toEqual(new Set([-1, 1]));
  });

  it('is nearer to the truth the more learners it was calibrated on, with the items and rows of the world', () => {
    const truth = knownParameters(world, { kind: 'true' });
    const errorsOf = (learners: number) => {
      const known = knownParameters(world, { kind: 'calibrated', learners });
      expect(compileModel(known).ok).toBe(true);
      known.items.forEach(({ artifactVersionId, kcs }, j) => {
        const item = truth.items[j]!;
        expect([artifactVersionId, new Set(kcs)]).toEqual([item.artifactVersionId, new Set(item.kcs)]);
      });
      const guesses = known.items.map(({ probabilities: [guess = NaN] }, j) => ({
        known: truth.items[j]!.probabilities[0]!,
        recovered: guess,
      }));
      const locations = known.kcs.map(({ location }, k) => ({
        known: truth.kcs[k]!.location!,
        recovered: location!,
      }));
      return { guess: rootMeanSquareError(guesses), location: rootMeanSquareError(locations) };
    };
    const [few, many] = [errorsOf(200), errorsOf(2000)];
    // Both are those of a sample: of ten times the learners about a third.
    expect(few.guess / many.guess).toBeGreaterThan(2);
    expect(few.guess / many.guess).toBeLessThan(5);
    expect(few.location).toBeGreaterThan(1.5 * many.location);
    expect(few.guess).toBeLessThan(0.1);
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

  it.each<[string, number, Structure]>([
    ['independent', 1, 'independent'],
    ['in chains of five', 5, { chainsOf: 5 }],
    ['in one chain', 10, { chainsOf: 10 }],
  ])(
    'with KCs %s has none without all the easier ones of its chain, and each as often as its curve lets it',
    (_name, length, structure) => {
      const long = makeWorld('chains', { items: 20, kcs: 10 });
      const drawn = learners.map(({ name }) => drawLearner(long, name, PRIOR_POPULATION, structure));
      for (let start = 0; start < 10; start += length) {
        const order = [...long.kcs.keys()]
          .slice(start, start + length)
          .sort((a, b) => long.kcs[a]!.location - long.kcs[b]!.location);
        for (const { mastered } of drawn) {
          const pattern = order.map((kc) => mastered[kc]!);
          expect(pattern).toEqual(pattern.toSorted((a, b) => Number(b) - Number(a)));
        }
        order.forEach((kc, n) => {
          const expected = mean(
            drawn.map(({ ability }) =>
              Math.min(...order.slice(0, n + 1).map((before) => masteryAt(long, before, ability))),
            ),
          );
          expect(drawn.filter(({ mastered }) => mastered[kc]).length / drawn.length).toBeCloseTo(expected, 1);
        });
      }
    },
  );

  it('of two abilities is known by their sum, and has halves that hang together less', () => {
    const even = { ...world, kcs: world.kcs.map(() => ({ slope: 50, location: 0 })) };
    const drawn = learners.map(({ name }) => drawLearner(even, name, PRIOR_POPULATION, 'two abilities'));
    expect(drawn.map(({ ability }) => ability)).toEqual(learners.map(({ ability }) => ability));
    const between = (a: number, b: number) =>
      correlation(
        drawn.map(({ mastered }) => ({ known: Number(mastered[a]), recovered: Number(mastered[b]) })),
      );
    expect(between(0, 2)).toBeGreaterThan(0.9);
    // Two normal variables cut at their means.
    expect(between(0, 5)).toBeCloseTo((2 / Math.PI) * Math.asin(CORRELATION), 1);
  });

  it('guesses half of the items if it is one of the rapid guessers, and else none', () => {
    const items = Array.from({ length: 200 }, (_, n) => ({
      id: `guessed ${n}`,
      kcs: [0],
      table: 'conjunctive' as const,
      guess: 0,
      slip: 0,
    }));
    const able = { ability: 0, mastered: [true] };
    const wrong = learners.slice(0, 500).map(({ name }) => {
      const right = items.filter((item) => answerOf({ ...able, name }, item, 'rapid guessing')).length;
      return 1 - right / items.length;
    });
    const guessers = wrong.filter((share) => share > 0);
    expect(guessers.length / wrong.length).toBeCloseTo(RAPID.learners, 1);
    expect(mean(guessers)).toBeCloseTo(RAPID.items * (1 - RAPID.success), 1);
  });

  it('answers by the table, always alike, and compensates for a KC only where the model is compensatory', () => {
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
