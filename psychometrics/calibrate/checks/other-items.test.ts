import { describe, expect, it } from 'vitest';
import { pairedQ, simulateResponses } from '#test/support/simulate-study.ts';
import { answersOf, createDesign, latentPrior, successOf } from '../model.ts';
import type { Parameters } from '../model.ts';
import { uniformFrom } from '../numbers.ts';
import { constantLikelihood, linearFits, posteriorsOf, twoValuesOf, viewOf } from './other-items.ts';

const design = createDesign('gdina', 3, pairedQ(3), { bound: 0.001, penalty: 'weak' });
const parameters: Parameters = {
  tables: design.items.map(({ size }, j) =>
    Float64Array.from({ length: size }, (_, s) => 0.1 + 0.01 * j + (0.7 * s) / (size - 1)),
  ),
  slopes: Float64Array.of(1.5, 2, 1.7),
  locations: Float64Array.of(-0.5, 0, 0.5),
};
const responses = simulateResponses(design, parameters, 400, uniformFrom(5), 0.2);
const posteriors = posteriorsOf(design, parameters, responses, latentPrior);
const ITEM = 7;
const view = viewOf(design, parameters, posteriors, ITEM);
const answeredRows = [...responses.counts.keys()].filter((row) => answersOf(responses, row)[ITEM] !== -1);

/** P(pattern, answers to all items but one), by the definition. */
function jointWithout(row: number): number[] {
  const answers = answersOf(responses, row);
  return [...latentPrior(design, parameters).patterns].map((weight, a) =>
    answers.reduce((product, answer, j) => {
      if (j === ITEM || answer < 0) return product;
      const p = successOf(design, parameters, j, a);
      return product * (answer === 1 ? p : 1 - p);
    }, weight),
  );
}

describe('viewOf', () => {
  it('is the posterior of the other items, summed over the patterns that contain a set', () => {
    answeredRows.forEach((row, n) => {
      const joint = jointWithout(row);
      const total = joint.reduce((a, b) => a + b, 0);
      for (let set = 0; set < 8; set += 1) {
        const masters = joint.reduce((sum, p, a) => ((a & set) === set ? sum + p : sum), 0) / total;
        expect(view.masters[n * 8 + set]).toBeCloseTo(masters, 10);
      }
    });
  });

  it('leaves out who did not answer, and has the likelihood of the answers given the others', () => {
    expect(view.rows).toBe(answeredRows.length);
    const expected = answeredRows.reduce((sum, row) => {
      const joint = jointWithout(row);
      const total = joint.reduce((a, b) => a + b, 0);
      const p = joint.reduce((s, w, a) => s + (w / total) * successOf(design, parameters, ITEM, a), 0);
      const answer = answersOf(responses, row)[ITEM];
      return sum + responses.counts[row]! * Math.log(answer === 1 ? p : 1 - p);
    }, 0);
    expect(view.logLikelihood).toBeCloseTo(expected, 8);
  });
});

describe('twoValuesOf', () => {
  const likelihood = (set: number, guess: number, success: number): number =>
    [...view.counts].reduce((sum, count, row) => {
      const p = guess + (success - guess) * view.masters[row * 8 + set]!;
      return sum + count * Math.log(view.correct[row] === 1 ? p : 1 - p);
    }, 0);

  it.each([1, 2, 3, 5, 7])('is at least as likely as every point of a grid: set %i', (set) => {
    const { guess, success, logLikelihood } = twoValuesOf(view, set, 0.001);
    expect(logLikelihood).toBeCloseTo(likelihood(set, guess, success), 8);
    for (let g = 0.01; g < 1; g += 0.07) {
      for (let s = 0.01; s < 1; s += 0.07) expect(likelihood(set, g, s)).toBeLessThanOrEqual(logLikelihood);
    }
  });

  it('stays within the bounds, and is a maximum there too', () => {
    const never = { ...view, correct: view.correct.map(() => 0) };
    const { guess, success } = twoValuesOf(never, 3, 0.01);
    expect([guess, success]).toEqual([0.01, 0.01]);
  });

  it('gains over a constant, which is the likelihood of one probability', () => {
    const rate = [...view.counts].reduce((sum, n, row) => sum + n * view.correct[row]!, 0) / view.learners;
    expect(constantLikelihood(view)).toBeCloseTo(likelihood(3, rate, rate), 8);
    expect(twoValuesOf(view, 3, 0.001).logLikelihood).toBeGreaterThan(constantLikelihood(view) + 10);
  });
});

describe('linearFits', () => {
  it('explains most by the set that the item needs', () => {
    const { explained, error } = linearFits(view);
    const own = design.items[ITEM]!.kcs.reduce((set, k) => set | (1 << k), 0);
    expect(explained.indexOf(Math.max(...explained))).toBe(own);
    expect(explained[0]).toBe(0);
    expect(error[own]).toBeGreaterThan(0.02);
    expect(error[own]).toBeLessThan(0.15);
  });
});

describe('posteriorsOf', () => {
  it('takes evenly spaced rows where all would take too long', () => {
    const steps = responses.counts.length * responses.items * 8 * 3;
    const { responses: some } = posteriorsOf(design, parameters, responses, latentPrior, steps / 3.5);
    expect(some.counts.length).toBe(Math.ceil(responses.counts.length / 4));
    expect([...answersOf(some, 5)]).toEqual([...answersOf(responses, 20)]);
    expect(some.learners).toBe([...some.counts].reduce((a, b) => a + b, 0));
  });
});
