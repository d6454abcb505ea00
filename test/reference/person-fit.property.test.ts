import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compileModel } from '#functions/mastery/engine/index.ts';
import { surpriseOf } from '#functions/mastery/engine/person-fit.ts';
import { referencePosterior } from '#psychometrics/reference/higher-order-cdm.ts';
import { modelCase } from './model-arbitrary.ts';

it('the surprise of answers is that of brute force over every theta node and KC pattern', () => {
  fc.assert(
    fc.property(modelCase, (value) => {
      const { parameters, reference, outcomes } = value;
      const model = compileModel(parameters);
      if (!model.ok) throw new Error(JSON.stringify(model.error));
      let [excess, variance, third] = [0, 0, 0];
      outcomes.forEach(({ item, correct }, place) => {
        const before = outcomes.slice(0, place);
        const likelihood = (isCorrect: boolean): number =>
          referencePosterior(reference, [...before, { item, correct: isCorrect }]).logLikelihood -
          referencePosterior(reference, before).logLikelihood;
        const [right, wrong] = [likelihood(true), likelihood(false)];
        const moment = (power: number): number =>
          Math.exp(right) * (-right - entropy) ** power + Math.exp(wrong) * (-wrong - entropy) ** power;
        const entropy = -Math.exp(right) * right - Math.exp(wrong) * wrong;
        excess += (correct ? -right : -wrong) - entropy;
        variance += moment(2);
        third += moment(3);
      });
      const found = surpriseOf(model.value, outcomes);
      expect(found.excess).toBeCloseTo(excess, 9);
      expect(found.variance).toBeCloseTo(variance, 9);
      expect(found.third).toBeCloseTo(third, 8);
    }),
    { numRuns: 100 },
  );
});
