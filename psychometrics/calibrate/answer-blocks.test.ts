import { describe, expect, it } from 'vitest';
import { pairedQ, simulateAnswers, simulateResponses } from '#test/support/simulate-study.ts';
import { answerBlocks } from './answer-blocks.ts';
import { expectedCounts, logLikelihoodOf } from './expectation.ts';
import { collapse, createDesign, latentPrior, randomParameters, successOf } from './model.ts';
import { uniformFrom } from './numbers.ts';

const design = createDesign('gdina', 4, [...pairedQ(4), ...pairedQ(4)], { bound: 0.001, penalty: 'weak' });
const items = design.items.length;

describe('the blocks of the answers', () => {
  it.each([0, 0.15])(
    'give the counts of a sum over every learner; share of missing answers: %s',
    (missing) => {
      const uniform = uniformFrom(7);
      const parameters = randomParameters(design, uniform);
      const learners = 150;
      const answers = simulateAnswers(design, parameters, learners, uniform, missing);
      const responses = collapse(answers, items);
      const { patterns } = latentPrior(design, parameters);
      const answered = design.items.map(({ size }) => new Float64Array(size));
      const correct = design.items.map(({ size }) => new Float64Array(size));
      let logLikelihood = 0;
      for (let learner = 0; learner < learners; learner += 1) {
        const own = answers.subarray(learner * items, (learner + 1) * items);
        const joint = patterns.map((p, a) =>
          own.reduce((product, answer, j) => {
            const success = successOf(design, parameters, j, a);
            return answer < 0 ? product : product * (answer === 1 ? success : 1 - success);
          }, p),
        );
        const total = joint.reduce((a, b) => a + b, 0);
        logLikelihood += Math.log(total);
        own.forEach((answer, j) => {
          joint.forEach((value, a) => {
            const s = design.items[j]!.own[a]!;
            if (answer >= 0) answered[j]![s]! += value / total;
            if (answer === 1) correct[j]![s]! += value / total;
          });
        });
      }
      const counts = expectedCounts(design, parameters, responses);
      expect(counts.logLikelihood).toBeCloseTo(logLikelihood, 8);
      answered.forEach((table, j) => {
        table.forEach((count, s) => {
          expect(counts.answered[j]![s]).toBeCloseTo(count, 9);
          expect(counts.correct[j]![s]).toBeCloseTo(correct[j]![s]!, 9);
        });
      });
    },
  );

  it('cost no more per distinct row the more there are, and less than every item of every row', () => {
    const uniform = uniformFrom(11);
    const parameters = randomParameters(design, uniform);
    const perRow = [500, 2000, 8000].map((learners) => {
      const responses = simulateResponses(design, parameters, learners, uniform);
      return answerBlocks(responses, design.patterns).cells / responses.counts.length;
    });
    expect(perRow[1]).toBeLessThan(perRow[0]!);
    expect(perRow[2]).toBeLessThan(perRow[1]!);
    expect(perRow[0]).toBeLessThan(items / 2);
  });

  it('leave a row to logarithms whose likelihood is below every number', () => {
    const count = 400;
    const one = createDesign(
      'dina',
      1,
      Array.from({ length: count }, () => [0]),
      {
        bound: 0.001,
        penalty: 'none',
      },
    );
    const parameters = {
      tables: one.items.map(() => Float64Array.of(0.001, 0.999)),
      slopes: Float64Array.of(2),
      locations: Float64Array.of(0),
    };
    // Each pattern is wrong in half of the items: 0.001^200 for both.
    const answers = Int8Array.from({ length: count }, (_, j) => j % 2);
    const responses = collapse(answers, count);
    const expected = 200 * (Math.log(0.001) + Math.log(0.999));
    expect(logLikelihoodOf(one, parameters, responses)).toBeCloseTo(expected, 8);
    expect(expectedCounts(one, parameters, responses).everybody[1]).toBeCloseTo(0.5, 8);
  });
});
