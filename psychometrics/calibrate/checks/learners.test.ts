import { describe, expect, it } from 'vitest';
import { pairedQ, simulateAnswers } from '#test/support/simulate-study.ts';
import { collapse, createDesign } from '../model.ts';
import type { Parameters } from '../model.ts';
import { uniformFrom } from '../numbers.ts';
import { checkLearners, guessersOf } from './learners.ts';

const kcsOf = [...pairedQ(3), ...pairedQ(3)];
const design = createDesign('dina', 3, kcsOf, { bound: 0.001, penalty: 'weak' });
const parameters: Parameters = {
  tables: design.items.map(({ size }) => new Float64Array(size).fill(0.15, 0, size - 1).fill(0.9, size - 1)),
  slopes: Float64Array.of(1.5, 2, 1.7),
  locations: Float64Array.of(-0.5, 0, 0.5),
};
const LEARNERS = 2000;

function study(share: number, success: number, missing = 0) {
  const uniform = uniformFrom(11);
  const answers = simulateAnswers(design, parameters, LEARNERS, uniform, missing);
  const careless = Math.round(share * LEARNERS) * kcsOf.length;
  for (let n = 0; n < careless; n += 1) if (answers[n] !== -1) answers[n] = Number(uniform() < success);
  return collapse(answers, kcsOf.length);
}

describe('guessersOf', () => {
  it.each([
    [0.1, 0.5, 0],
    [0.2, 0.4, 0.3],
  ])('recovers their share and their probability: %d, %d, missing %d', (share, success, missing) => {
    const found = guessersOf(design, parameters, study(share, success, missing));
    expect(found.share).toBeCloseTo(share, 1);
    expect(Math.abs(found.share - share)).toBeLessThan(0.03);
    expect(Math.abs(found.success - success)).toBeLessThan(0.03);
    expect(found.gain).toBeGreaterThan(100);
  });
});

describe('checkLearners', () => {
  it('names a share that guesses, and nothing in a sound study', () => {
    expect(checkLearners(design, parameters, study(0, 0.5))).toEqual([]);
    const [found] = checkLearners(design, parameters, study(0.1, 0.5));
    expect(found?.code).toBe('rapid_guessers');
    expect(found?.sentence).toMatch(/^About (9|10|11) % of the learners/);
  });

  it.each([0.15, 0.95])(
    'leaves to other checks who is right with probability %d: nothing or all is known',
    (success) => {
      expect(checkLearners(design, parameters, study(0.1, success))).toEqual([]);
    },
  );
});
