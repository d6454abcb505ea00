import { describe, expect, it } from 'vitest';
import { pairedQ, simulateAnswers, simulateResponses } from '#test/support/simulate-study.ts';
import { describeAbilities } from './abilities.ts';
import { fit } from './em.ts';
import { fitItems, fitPairs, srmsr, unbiasedSrmsr, worstPair } from './item-fit.ts';
import { limitedInformationFit } from './limited-information.ts';
import { collapse, createDesign, latentPrior, startingParameters, successOf } from './model.ts';
import type { Design, Parameters, Responses } from './model.ts';
import { uniformFrom } from './numbers.ts';
import { standardErrors } from './standard-errors.ts';

const design = createDesign('dina', 3, pairedQ(3), { bound: 0.001, penalty: 'weak' });
const truth: Parameters = {
  tables: design.items.map(({ size }) => new Float64Array(size).fill(0.15, 0, size - 1).fill(0.85, size - 1)),
  slopes: Float64Array.of(1.5, 2, 1.7),
  locations: Float64Array.of(-0.5, 0, 0.5),
};
const LEARNERS = 2000;

function fitted(of: Design, responses: Responses): Parameters {
  return fit(of, responses, startingParameters(of), { maximumIterations: 2000, tolerance: 1e-3 }).parameters;
}

/** All answers as the model expects them, one row each, weighted by P(row) * learners. */
function expectedResponses(of: Design, parameters: Parameters, learners: number): Responses {
  const items = of.items.length;
  const { patterns } = latentPrior(of, parameters);
  const answers = new Int8Array(2 ** items * items);
  const counts = new Float64Array(2 ** items);
  for (let row = 0; row < 2 ** items; row += 1) {
    patterns.forEach((weight, a) => {
      let p = weight;
      for (let j = 0; j < items; j += 1) {
        const success = successOf(of, parameters, j, a);
        p *= (row >>> j) & 1 ? success : 1 - success;
      }
      counts[row]! += p * learners;
    });
    for (let j = 0; j < items; j += 1) answers[row * items + j] = (row >>> j) & 1;
  }
  return { learners, items, answers, counts };
}

/** M2 with the standard errors of the parameters. */
const m2Of = (of: Design, parameters: Parameters, responses: Responses) =>
  limitedInformationFit(of, parameters, responses, standardErrors(of, parameters, responses));

describe('fit of the model that made the answers', () => {
  it('is perfect on exactly the expected answers: every residual is zero', () => {
    const exact = expectedResponses(design, truth, LEARNERS);
    for (const { proportion, expectedProportion, sx2 } of fitItems(design, truth, exact)) {
      expect(proportion).toBeCloseTo(expectedProportion, 10);
      expect(sx2?.statistic).toBeCloseTo(0, 8);
      expect(sx2?.p).toBeCloseTo(1, 8);
    }
    const pairs = fitPairs(design, truth, exact);
    expect(pairs).toHaveLength(36);
    for (const { zCorrelation, zLogOdds } of pairs) {
      expect(zCorrelation).toBeCloseTo(0, 8);
      expect(zLogOdds).toBeCloseTo(0, 8);
    }
    expect(srmsr(pairs)).toBeCloseTo(0, 8);
    const m2 = m2Of(design, truth, exact);
    expect(m2).toMatchObject({ df: 9 + 36 - 18 - 6, rmsea: 0 });
    expect(typeof m2 === 'string' ? NaN : m2.statistic).toBeCloseTo(0, 6);
  });

  it('has an SRMSR without sampling error that chance does not make large, and the plain one in a large study that misfits', () => {
    const uniform = uniformFrom(8);
    const small = Array.from({ length: 12 }, () => {
      const responses = simulateResponses(design, truth, 60, uniform);
      return fitPairs(design, fitted(design, responses), responses);
    });
    const poor = (of: typeof srmsr): number => small.filter((pairs) => (of(pairs) ?? 1) > 0.08).length;
    expect(poor(srmsr)).toBeGreaterThan(6);
    expect(poor(unbiasedSrmsr)).toBe(0);
    const flat = { ...truth, tables: truth.tables.map((table) => table.map(() => 0.5)) };
    const pairs = fitPairs(design, flat, simulateResponses(design, truth, 20_000, uniform));
    expect(unbiasedSrmsr(pairs)).toBeGreaterThan(0.08);
    expect(unbiasedSrmsr(pairs)).toBeCloseTo(srmsr(pairs) ?? 0, 3);
  });

  it('is within chance on simulated answers: M2 and S-X2 near their degrees of freedom', () => {
    const uniform = uniformFrom(5);
    let m2Total = 0;
    let sx2Total = 0;
    let sx2Df = 0;
    const studies = 12;
    for (let study = 0; study < studies; study += 1) {
      const responses = simulateResponses(design, truth, 600, uniform);
      const parameters = fitted(design, responses);
      const m2 = m2Of(design, parameters, responses);
      if (typeof m2 === 'string') throw new Error(m2);
      m2Total += m2.statistic / m2.df;
      for (const { sx2 } of fitItems(design, parameters, responses)) {
        sx2Total += sx2?.statistic ?? 0;
        sx2Df += sx2?.df ?? 0;
      }
    }
    // Means of 12 x 21 and of hundreds of chi-square degrees of freedom: standard errors below 0.1.
    expect(Math.abs(m2Total / studies - 1)).toBeLessThan(0.35);
    expect(Math.abs(sx2Total / sx2Df - 1)).toBeLessThan(0.3);
  });
});

describe('misfit', () => {
  it('shows in the pair of items that share what the model does not know', () => {
    const answers = simulateAnswers(design, truth, LEARNERS, uniformFrom(8));
    // Items 1 and 5: half of the learners copy the answer.
    for (let learner = 0; learner < LEARNERS; learner += 2)
      answers[learner * 9 + 5] = answers[learner * 9 + 1]!;
    const responses = collapse(answers, 9);
    const parameters = fitted(design, responses);
    const pairs = fitPairs(design, parameters, responses);
    for (const of of ['zCorrelation', 'zLogOdds'] as const) {
      const worst = worstPair(pairs, (pair) => pair[of]);
      expect(worst).toMatchObject({ pair: { first: 1, second: 5 } });
      expect(worst?.z).toBeGreaterThan(4);
      expect(worst?.p).toBeLessThan(0.01);
    }
    const m2 = m2Of(design, parameters, responses);
    expect(m2).toMatchObject({ p: expect.closeTo(0, 3) as number });
  });

  it('shows in the item whose row of the Q-matrix is wrong', () => {
    const responses = simulateResponses(design, truth, LEARNERS, uniformFrom(8));
    const wrong = pairedQ(3).map((kcs, j) => (j === 6 ? [2] : kcs));
    const other = createDesign('dina', 3, wrong, design);
    const fits = fitItems(other, fitted(other, responses), responses);
    expect(fits[6]?.sx2?.p).toBeLessThan(0.001);
  });
});

describe('what cannot be told', () => {
  it('missing answers: no M2, no S-X2 where few answered everything, pairs by those who answered both', () => {
    const responses = simulateResponses(design, truth, 400, uniformFrom(2), 0.4);
    const parameters = fitted(design, responses);
    expect(m2Of(design, parameters, responses)).toBe('No M2: it requires complete answers.');
    for (const { sx2, answered } of fitItems(design, parameters, responses)) {
      expect(sx2).toBeUndefined();
      expect(answered).toBeLessThan(300);
    }
    for (const { learners } of fitPairs(design, parameters, responses)) expect(learners).toBeLessThan(220);
  });

  it('an item without variance is in no pair', () => {
    const answers = simulateAnswers(design, truth, 300, uniformFrom(6));
    for (let learner = 0; learner < 300; learner += 1) answers[learner * 9 + 4] = 1;
    const responses = collapse(answers, 9);
    const parameters = fitted(design, responses);
    const pairs = fitPairs(design, parameters, responses);
    expect(pairs.some(({ first, second }) => first === 4 || second === 4)).toBe(false);
    expect(parameters.tables[4]!.at(-1)).toBe(0.999);
  });

  it('more parameters than margins: M2 says that it has no degrees of freedom', () => {
    const small = createDesign('gdina', 2, [[0], [1], [0, 1]], { bound: 0.001, penalty: 'none' });
    const start = startingParameters(small);
    const responses = simulateResponses(small, start, 500, uniformFrom(3));
    const m2 = m2Of(small, start, responses);
    expect(m2).toMatch(/no degrees of freedom/);
  });
});

it('accuracy is what a cut at 0.5 really reaches on learners whose mastery is known', () => {
  // The exact answers of the model: expected accuracy equals the share classified right.
  const exact = expectedResponses(design, truth, LEARNERS);
  const { kcs, theta } = describeAbilities(design, truth, exact);
  const { patterns } = latentPrior(design, truth);
  kcs.forEach(({ accuracy, prevalence, priorPrevalence }, k) => {
    expect(prevalence).toBeCloseTo(priorPrevalence, 9);
    let right = 0;
    for (let row = 0; row < exact.counts.length; row += 1) {
      const joint = [0, 0];
      patterns.forEach((weight, a) => {
        let p = weight;
        for (let j = 0; j < 9; j += 1) {
          const success = successOf(design, truth, j, a);
          p *= exact.answers[row * 9 + j] === 1 ? success : 1 - success;
        }
        joint[(a >>> k) & 1]! += p;
      });
      right += Math.max(...joint);
    }
    expect(accuracy).toBeCloseTo(right, 9);
  });
  // Of the model's own answers, the posterior means and variances add to the prior's variance.
  expect(theta.sdEap ** 2 + theta.meanPsd ** 2).toBeCloseTo(1, 4);
  expect(theta.reliability).toBeCloseTo(theta.sdEap ** 2, 4);
});

describe('the reliability of ability with every KC known', () => {
  const ceiling = (of: Design, parameters: Parameters): number =>
    describeAbilities(of, parameters, collapse(new Int8Array(of.items.length).fill(1), of.items.length)).theta
      .reliabilityCeiling;
  const curves = (kcs: number, slope: number, spread: number): [Design, Parameters] => {
    const of = createDesign('dina', kcs, pairedQ(kcs), { bound: 0.001, penalty: 'weak' });
    const locations = Float64Array.from({ length: kcs }, (_, k) =>
      kcs === 1 ? 0 : spread * ((2 * k) / (kcs - 1) - 1),
    );
    return [of, { ...startingParameters(of), slopes: new Float64Array(kcs).fill(slope), locations }];
  };

  it('is 2/pi where one steep curve halves the population, and nothing where curves are flat', () => {
    expect(ceiling(...curves(1, 25, 0))).toBeCloseTo(2 / Math.PI, 2);
    expect(ceiling(...curves(3, 0.05, 0))).toBeLessThan(0.005);
  });

  it('grows with the KCs, and three of usual slopes are too few for an individual', () => {
    const few = ceiling(...curves(3, 2, 1));
    const more = ceiling(...curves(8, 2, 1));
    expect(few).toBeGreaterThan(0.5);
    expect(few).toBeLessThan(0.65);
    expect(more).toBeGreaterThan(few);
    expect(more).toBeLessThan(0.8);
  });
});
