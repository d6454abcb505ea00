import {
  extrasOf,
  hasNoCurve,
  isPossible,
  startingExtras,
  type Dependence,
  type PriorParameters,
} from '../dependence.ts';
import { fitCurves, movedCurves } from '../maximization.ts';
import { latentPrior, type Design } from '../model.ts';
import { at, exp, integerAt, log } from '../numbers.ts';
import type { Structure } from './structures.ts';

/** Scoring steps of one M-step: more are made in the next ones. */
const STEPS = 2;
/** The start of each curve, as of those of independent KCs. */
const SLOPE = 1.7;

/**
 * Creates the prior that a calibration with blocks has, as a structure without priors of its parameters. A vector: log slopes, locations, extras. If it
 * has more parameters than its patterns have probabilities, these count.
 */
export function dependentStructure(study: Design, dependence: Dependence): Structure {
  const design: Design = { ...study, dependence, penalty: 'none' };
  const { kcCount, patterns } = design;
  const support = Int32Array.from({ length: patterns }, (_, pattern) => pattern).filter((pattern) =>
    isPossible(dependence, pattern),
  );
  const extras = extrasOf(dependence);
  const split = (vector: Float64Array): PriorParameters => ({
    slopes: vector.slice(0, kcCount).map(exp),
    locations: vector.slice(kcCount, 2 * kcCount),
    extras: vector.slice(2 * kcCount),
  });
  const join = ({ slopes, locations, extras: rest = new Float64Array() }: PriorParameters): Float64Array =>
    Float64Array.from([...slopes.map(log), ...locations, ...rest]);
  const curves = Array.from({ length: kcCount }, (_, k) => k).filter((k) => !hasNoCurve(dependence, k));
  return {
    parameters: Math.min(2 * curves.length + extras.length, support.length - 1),
    support,
    start: Float64Array.from([
      ...Array.from({ length: kcCount }, () => log(SLOPE)),
      ...new Float64Array(kcCount),
      ...startingExtras(dependence),
    ]),
    prior: (vector) => {
      const prior = latentPrior(design, split(vector));
      return Float64Array.from(support, (pattern) => at(prior.patterns, pattern));
    },
    maximize: (counts, from) => {
      const everybody = new Float64Array(patterns);
      for (let a = 0; a < support.length; a += 1) everybody[integerAt(support, a)] = at(counts, a);
      return join(fitCurves(design, everybody, split(from), STEPS));
    },
    project: (vector) => join(movedCurves(design, split(vector), new Float64Array(vector.length))),
  };
}
