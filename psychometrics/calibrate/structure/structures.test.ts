import { describe, expect, it } from 'vitest';
import { simulateResponses } from '#test/support/simulate-study.ts';
import { logLikelihoodOf } from '../expectation.ts';
import { collapse, createDesign, latentPrior, randomParameters, type Design } from '../model.ts';
import { at, log, sum, uniformFrom } from '../numbers.ts';
import { curveStep, curveAt, hierarchyOfCurves, independent, twoAbilities } from './curves.ts';
import { fitStructure, fitToCounts, fitTwoParameter } from './fit-structure.ts';
import { createBank, patternStep, tablesByLevel } from './pattern-steps.ts';
import { closure, closedPatterns, type Prerequisites } from './prerequisites.ts';
import { allPairs, saturated, type Structure } from './structures.ts';

/** Each single KC three times, and some pairs. */
const q = [...[0, 1, 2, 3], ...[0, 1, 2, 3], ...[0, 1, 2, 3]]
  .map((k) => [k])
  .concat([
    [0, 1],
    [1, 2],
    [2, 3],
  ]);
const design = createDesign('gdina', 4, q, { bound: 0.001, penalty: 'none' });
const uniform = uniformFrom(5);
const all = Int32Array.from({ length: 16 }, (_, pattern) => pattern);
const chain = hierarchyOf([
  [0, 1],
  [1, 2],
]);

function hierarchyOf(edges: readonly (readonly [number, number])[]): Prerequisites {
  const closed = closure(4, edges);
  if (!closed.ok) throw new Error('cyclic');
  return closed.value;
}

const structures: Readonly<Record<string, Structure>> = {
  independent: independent(design),
  hierarchy: hierarchyOfCurves(design, chain),
  'two abilities': twoAbilities([0, 0, 1, 1]),
  'all pairs': allPairs(4),
  saturated: saturated(all),
};

/** A vector near the start, and learners with each pattern. */
function randomVector({ start, project }: Structure): Float64Array {
  return project(start.map((value) => value + uniform() - 0.5));
}
const randomCounts = (size: number): Float64Array =>
  Float64Array.from({ length: size }, () => 100 * uniform());

function multinomial(structure: Structure, counts: Float64Array, vector: Float64Array): number {
  return structure.prior(vector).reduce((total, cell, a) => total + at(counts, a) * log(cell), 0);
}

describe.each(Object.entries(structures))('%s', (_, structure) => {
  it('is a distribution on its support, for each vector', () => {
    const cells = structure.prior(randomVector(structure));
    expect(cells).toHaveLength(structure.support.length);
    expect(Math.min(...cells)).toBeGreaterThan(0);
    expect(sum(cells)).toBeCloseTo(1, 12);
  });

  it('never loses likelihood in an M-step', () => {
    const counts = randomCounts(structure.support.length);
    let vector = randomVector(structure);
    let reached = multinomial(structure, counts, vector);
    for (let step = 0; step < 20; step += 1) {
      vector = structure.maximize(counts, vector);
      const value = multinomial(structure, counts, vector);
      expect(value).toBeGreaterThanOrEqual(reached - 1e-8);
      reached = value;
    }
  });

  it('stays where it is if the counts are those that it expects', () => {
    const vector = randomVector(structure);
    const cells = structure.prior(vector);
    const moved = structure.maximize(
      cells.map((cell) => 1000 * cell),
      vector,
    );
    structure.prior(moved).forEach((cell, a) => expect(cell).toBeCloseTo(at(cells, a), 6));
  });

  it('is fitted to answers without a fall of the likelihood', () => {
    const { responses, bank, tables } = sample(400);
    const { history } = fitStructure(bank, structure, responses, { vector: structure.start, tables });
    history.forEach((value, n) => expect(value).toBeGreaterThanOrEqual((history[n - 1] ?? -Infinity) - 1e-7));
  });

  it('is fitted to its end, or states that it is not', () => {
    const { responses, bank, tables } = sample(400);
    const start = { vector: structure.start, tables };
    expect(fitStructure(bank, structure, responses, start).converged).toBe(true);
    expect(fitStructure(bank, structure, responses, start, 2).converged).toBe(false);
  });
});

/** Answers, items and start of a study with independent KCs. */
function sample(learners: number) {
  const parameters = randomParameters(design, uniformFrom(3));
  const responses = simulateResponses(design, parameters, learners, uniformFrom(4), 0.1);
  const bank = createBank(design, () => true);
  return { parameters, responses, bank, tables: tablesByLevel(bank, parameters) };
}

describe('independent', () => {
  it('is the prior of the calibration, and its E-step gives the same likelihood', () => {
    const { parameters, responses, bank, tables } = sample(200);
    const structure = independent(design);
    const vector = Float64Array.from([...parameters.slopes.map(log), ...parameters.locations]);
    const cells = structure.prior(vector);
    latentPrior(design, parameters).patterns.forEach((p, a) => expect(at(cells, a)).toBeCloseTo(p, 10));
    const { logLikelihood, patterns } = patternStep(bank, all, responses)(cells, tables);
    expect(logLikelihood).toBeCloseTo(logLikelihoodOf(design, parameters, responses), 6);
    expect(sum(patterns)).toBeCloseTo(200, 8);
  });
});

describe('a hierarchy', () => {
  it('allows only patterns that contain their prerequisites', () => {
    expect([...closedPatterns(chain)]).toEqual([0, 1, 3, 7, 8, 9, 11, 15]);
    expect([...hierarchyOfCurves(design, chain).support]).toEqual([0, 1, 3, 7, 8, 9, 11, 15]);
  });

  it('multiplies a curve for each KC whose prerequisites are mastered', () => {
    const structure = hierarchyOfCurves(design, chain);
    const vector = randomVector(structure);
    const p = [0, 1, 2, 3].map((k) => curveAt(design.points, [at(vector, k), at(vector, 4 + k)]));
    // KCs 0 and 3 without 1: KC 2 is out of reach, so that its curve plays no part.
    const expected = design.weights.reduce(
      (total, w, g) => total + w * at(p[0]!, g) * (1 - at(p[1]!, g)) * at(p[3]!, g),
      0,
    );
    expect(at(structure.prior(vector), structure.support.indexOf(9))).toBeCloseTo(expected, 12);
  });
});

describe('the saturated distribution', () => {
  it('is the relative frequencies where the patterns are known', () => {
    const counts = randomCounts(16);
    const cells = saturated(all).prior(fitToCounts(saturated(all), counts));
    cells.forEach((cell, a) => expect(cell).toBeCloseTo(at(counts, a) / sum(counts), 10));
  });

  it('contains all others: none fits counts better', () => {
    const counts = randomCounts(16);
    const best = multinomial(saturated(all), counts, fitToCounts(saturated(all), counts));
    for (const structure of [independent(design), twoAbilities([0, 1, 1, 0]), allPairs(4)])
      expect(multinomial(structure, counts, fitToCounts(structure, counts))).toBeLessThan(best);
  });
});

describe('all pairs', () => {
  it('has the margins of all pairs of KCs', () => {
    const counts = randomCounts(16);
    const structure = allPairs(4);
    let vector = structure.start;
    for (let step = 0; step < 50; step += 1) vector = structure.maximize(counts, vector);
    const cells = structure.prior(vector);
    const both = (values: Float64Array, bits: number): number =>
      values.reduce((total, value, a) => total + ((a & bits) === bits ? value : 0), 0);
    for (const bits of [1, 2, 4, 8, 3, 5, 9, 6, 10, 12])
      expect(both(cells, bits)).toBeCloseTo(both(counts, bits) / sum(counts), 8);
  });
});

describe('two abilities', () => {
  it('are independent parts without correlation', () => {
    const structure = twoAbilities([0, 0, 1, 1]);
    const cells = structure.prior(randomVector(structure).with(8, 0));
    const part = (bits: number, value: number): number =>
      cells.reduce((total, cell, a) => total + ((a & bits) === value ? cell : 0), 0);
    for (const a of all) expect(at(cells, a)).toBeCloseTo(part(3, a & 3) * part(12, a & 12), 8);
  });
});

describe('curveStep', () => {
  it('finds the curve of known proportions', () => {
    const points = design.points;
    const open = points.map((point) => 1000 * Math.exp(-0.5 * point * point));
    const curve = curveAt(points, [Math.log(1.5), 0.4]);
    const mastered = open.map((n, g) => n * at(curve, g));
    let found: readonly [number, number] = [0, 0];
    for (let step = 0; step < 10; step += 1) found = curveStep(points, { open, mastered }, found);
    expect(Math.exp(found[0])).toBeCloseTo(1.5, 5);
    expect(found[1]).toBeCloseTo(0.4, 5);
  });
});

describe('the bank', () => {
  it('gives an item that is not rich two levels', () => {
    const poor = createBank(design, () => false);
    expect(poor.items.map(({ levels }) => levels)).toEqual(q.map(() => 2));
    expect([...poor.items[12]!.levelOf]).toEqual(Array.from(all, (a) => Number((a & 3) === 3)));
  });

  it('does not underflow with hundreds of items', () => {
    const many = Array.from({ length: 4000 }, (_, j) => [j % 4]);
    const long: Design = createDesign('dina', 4, many, { bound: 0.001, penalty: 'none' });
    const parameters = randomParameters(long, uniformFrom(8));
    const responses = simulateResponses(long, parameters, 20, uniformFrom(9));
    const bank = createBank(long, () => true);
    const { patterns } = latentPrior(long, parameters);
    const { logLikelihood } = patternStep(bank, all, responses)(patterns, tablesByLevel(bank, parameters));
    expect(logLikelihood).toBeCloseTo(logLikelihoodOf(long, parameters, responses), 5);
  });
});

describe('the model without components', () => {
  it('recovers the likelihood of answers that one ability explains', () => {
    const draw = uniformFrom(11);
    const answers = new Int8Array(600 * 8);
    for (let n = 0; n < 600; n += 1) {
      const ability = Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw());
      for (let j = 0; j < 8; j += 1)
        answers[n * 8 + j] = Number(draw() < 1 / (1 + Math.exp(-1.5 * (ability - (j - 3.5) / 3))));
    }
    const responses = collapse(answers, 8);
    const proportions = Array.from(
      { length: 8 },
      (_, j) => answers.filter((answer, n) => n % 8 === j && answer === 1).length / 600,
    );
    const { logLikelihood, parameters, history } = fitTwoParameter(responses, proportions);
    expect(parameters).toBe(16);
    // The truth, by brute force on a fine grid.
    const points = Float64Array.from({ length: 201 }, (_, g) => (g - 100) / 16);
    const weights = points.map((point) => Math.exp(-0.5 * point * point));
    let truth = 0;
    for (let n = 0; n < 600; n += 1) {
      truth += Math.log(
        points.reduce((total, point, g) => {
          let p = at(weights, g) / sum(weights);
          for (let j = 0; j < 8; j += 1) {
            const right = 1 / (1 + Math.exp(-1.5 * (point - (j - 3.5) / 3)));
            p *= answers[n * 8 + j] === 1 ? right : 1 - right;
          }
          return total + p;
        }, 0),
      );
    }
    // Twice the gain over the truth is a chi-square with 16 degrees of freedom.
    expect(2 * (logLikelihood - truth)).toBeGreaterThan(5);
    expect(2 * (logLikelihood - truth)).toBeLessThan(35);
    history.forEach((value, n) => expect(value).toBeGreaterThanOrEqual((history[n - 1] ?? -Infinity) - 1e-7));
  });
});
