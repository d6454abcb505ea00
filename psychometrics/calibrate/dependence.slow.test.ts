import { describe, expect, it } from 'vitest';
import { simulateResponses } from '#test/support/simulate-study.ts';
import {
  dependentPrior,
  extrasOf,
  noDependence,
  priorScores,
  saturatedOf,
  type Dependence,
} from './dependence.ts';
import { fit } from './em.ts';
import { logLikelihoodOf } from './expectation.ts';
import { createDesign, latentPrior, parameterCount, randomParameters, startingParameters } from './model.ts';
import type { Design, Parameters } from './model.ts';
import { at, log, sum, uniformFrom } from './numbers.ts';
import { penaltyOf } from './penalty.ts';
import { freeParameters, standardErrors } from './standard-errors.ts';

const q = [...[0, 1, 2, 3, 4, 5], ...[0, 1, 2, 3, 4, 5], ...[0, 1, 2, 3, 4, 5]]
  .map((k) => [k])
  .concat([
    [0, 1],
    [1, 2],
    [3, 4],
    [3, 5],
  ]);

/** Every form on six KCs: a chain of the first three, or two strands, or a saturated set of the last three with prerequisites before it. */
const dependences: Readonly<Record<string, Dependence>> = {
  chain: { ...noDependence(6), required: [0, 1, 3, 0, 0, 0] },
  'two strands': {
    ...noDependence(6),
    strands: [
      [0, 1, 2],
      [3, 4, 5],
    ],
  },
  'a saturated set': { ...noDependence(6), saturated: [[3, 4, 5]] },
  'a chain, a strand': { ...noDependence(6), required: [0, 1, 3, 0, 0, 0], strands: [[3, 4, 5]] },
  'a chain, a saturated set': { ...noDependence(6), required: [0, 1, 1, 0, 0, 0], saturated: [[5, 3, 4]] },
};

function designOf(dependence: Dependence, penalty: Design['penalty'] = 'weak'): Design {
  return createDesign('gdina', 6, q, { bound: 0.001, penalty, dependence });
}

/** Moves one parameter of the prior. */
function shifted(parameters: Parameters, n: number, by: number): Parameters {
  const copy = {
    ...parameters,
    slopes: parameters.slopes.slice(),
    locations: parameters.locations.slice(),
    extras: (parameters.extras ?? new Float64Array()).slice(),
  };
  const own = n < 6 ? copy.slopes : n < 12 ? copy.locations : copy.extras;
  const place = n < 12 ? n % 6 : n - 12;
  own[place] = at(own, place) + by;
  return copy;
}

describe.each(Object.entries(dependences))('%s', (_, dependence) => {
  const design = designOf(dependence);
  const parameters = randomParameters(design, uniformFrom(3));

  it('is a distribution of nodes and patterns, in which ability keeps its own', () => {
    const { joint, patterns } = latentPrior(design, parameters);
    expect(sum(patterns)).toBeCloseTo(1, 12);
    design.weights.forEach((weight, g) => {
      const total = sum(Array.from(patterns, (_p, a) => at(joint, a * design.points.length + g)));
      expect(total).toBeCloseTo(weight, 12);
    });
    const impossible = [...patterns.keys()].filter((a) =>
      dependence.required.some((bits, k) => (a >>> k) & 1 && (a & bits) !== bits),
    );
    for (const a of impossible) expect(patterns[a]).toBe(0);
    expect(patterns.filter((p) => p > 0)).toHaveLength(patterns.length - impossible.length);
  });

  it('has the scores that numerical differentiation gives', () => {
    const prior = latentPrior(design, parameters);
    const scores = priorScores(design, parameters, prior);
    expect(scores).toHaveLength(12 + extrasOf(dependence).length);
    const step = 1e-6;
    scores.forEach((score, n) => {
      const [up, down] = [step, -step].map((by) => latentPrior(design, shifted(parameters, n, by)).patterns);
      score.forEach((value, a) => {
        const numerical =
          at(prior.patterns, a) === 0 ? 0 : (log(at(up!, a)) - log(at(down!, a))) / (2 * step);
        expect(value).toBeCloseTo(numerical, 5);
      });
    });
  });

  it('is fitted without a fall of the objective, to a point where no parameter of the prior raises it', () => {
    const responses = simulateResponses(design, parameters, 300, uniformFrom(8), 0.1);
    const end = fit(design, responses, startingParameters(design), {
      maximumIterations: 400,
      tolerance: 1e-2,
    });
    expect(end.converged).toBe(true);
    for (const { change } of end.history) expect(change).toBeGreaterThan(-1e-8);
    const objective = (moved: Parameters): number =>
      logLikelihoodOf(design, moved, responses) + penaltyOf(design, moved);
    const free = freeParameters(design, end.parameters);
    for (const one of free) {
      if (one.kind === 'table') continue;
      const n = one.kind === 'extra' ? 12 + one.index : one.kind === 'slope' ? one.kc : 6 + one.kc;
      const [up, down] = [1e-4, -1e-4].map((by) => objective(shifted(end.parameters, n, by)));
      expect(Math.abs(up! - down!) / 2e-4).toBeLessThan(0.5);
    }
    const errors = standardErrors(design, end.parameters, responses);
    expect(errors.free).toBe(free.length);
  });
});

describe('dependence', () => {
  it('without any is the prior of independent KCs', () => {
    const design = designOf(noDependence(6));
    const parameters = randomParameters(design, uniformFrom(5));
    const { joint } = latentPrior(design, parameters);
    dependentPrior(design, parameters).joint.forEach((p, n) => expect(p).toBeCloseTo(at(joint, n), 15));
  });

  it('counts the parameters that a form has, and no pattern that cannot occur', () => {
    const independent = parameterCount(designOf(noDependence(6)));
    // Three items need a KC of the chain and the one before it: a learner cannot have the later one only.
    expect(parameterCount(designOf(dependences['chain']!))).toBe(independent - 2);
    expect(parameterCount(designOf(dependences['two strands']!))).toBe(independent + 1);
    expect(parameterCount(designOf(dependences['a saturated set']!))).toBe(independent - 6 + 8);
  });

  it('saturated with the weights of independent KCs of one slope is these KCs', () => {
    const dependence = dependences['a saturated set']!;
    const design = designOf(dependence);
    const plain = designOf(noDependence(6));
    const locations = Float64Array.of(0, 1, -1, 0.5, -0.5, 1);
    const slopes = new Float64Array(6).fill(1.7);
    const weights = Array.from({ length: 8 }, (_, s) =>
      sum([3, 4, 5].map((k, bit) => ((s >>> bit) & 1 ? -1.7 * at(locations, k) : 0))),
    );
    const extras = Float64Array.of(log(1.7), ...weights.slice(1));
    expect(saturatedOf(dependence, extras, 0).slope).toBeCloseTo(1.7, 12);
    const { joint } = latentPrior(plain, { slopes, locations });
    latentPrior(design, { slopes, locations, extras }).joint.forEach((p, n) =>
      expect(p).toBeCloseTo(at(joint, n), 6),
    );
  });
});
