/** Fits structures, and a model without KCs, to answers by maximum likelihood without penalty. */
import type { Responses } from '../model.ts';
import { at, clamp, log, logistic, logit, sum } from '../numbers.ts';
import { climb, type Summit } from './climb.ts';
import { boundedCurves, curveAt, curveStep } from './curves.ts';
import { itemParameters, maximizeTables, patternStep, type Bank } from './pattern-steps.ts';
import { normalized, type Structure } from './structures.ts';

/** A maximum of a likelihood. */
export interface Fit {
  readonly logLikelihood: number;
  /** Free probabilities of items and parameters of the structure. */
  readonly parameters: number;
  /** Smaller is better (Schwarz, 1978, Annals of Statistics 6, 461-464). */
  readonly bic: number;
  readonly history: readonly number[];
  /** Whether the fit reached its end within the most E-steps. */
  readonly converged: boolean;
}

/** A fitted structure. */
export interface StructureFit extends Fit {
  readonly vector: Float64Array;
  readonly tables: readonly Float64Array[];
  /** Expected learners with each pattern of the support, given the answers. */
  readonly expected: Float64Array;
}

/** The most E-steps. */
const MOST_STEPS = 400;

function fitOf(
  { counts: { logLikelihood }, history, converged }: Summit<{ readonly logLikelihood: number }>,
  parameters: number,
  responses: Responses,
): Fit {
  return {
    logLikelihood,
    parameters,
    bic: -2 * logLikelihood + parameters * log(responses.learners),
    history,
    converged,
  };
}

/** Fits a structure and the tables of the items, from a start. */
export function fitStructure(
  bank: Bank,
  structure: Structure,
  responses: Responses,
  start: Pick<StructureFit, 'vector' | 'tables'>,
  mostSteps = MOST_STEPS,
): StructureFit {
  const own = structure.start.length;
  const join = (vector: Float64Array, tables: readonly Float64Array[]): Float64Array =>
    Float64Array.from([...vector, ...tables.flatMap((table) => [...table.map(logit)])]);
  const split = (joined: Float64Array): Pick<StructureFit, 'vector' | 'tables'> => {
    let next = own;
    const tables = bank.items.map(({ levels }) =>
      joined.slice(next, (next += levels)).map((value) => clamp(logistic(value), bank.bound, 1 - bank.bound)),
    );
    return { vector: joined.slice(0, own), tables };
  };
  const expect = patternStep(bank, structure.support, responses);
  const summit = climb(
    {
      expect: (joined) => {
        const state = split(joined);
        return expect(structure.prior(state.vector), state.tables);
      },
      maximize: (found, joined) => {
        const state = split(joined);
        return join(
          structure.maximize(found.patterns, state.vector),
          maximizeTables(bank, found, state.tables),
        );
      },
      project: (joined) => {
        const state = split(joined);
        const ones = state.tables.map((table) => table.map(() => 1));
        // As the M-step makes tables monotone, with equal weights.
        const monotone = maximizeTables(bank, { answered: ones, correct: state.tables }, state.tables);
        return join(structure.project(state.vector), monotone);
      },
    },
    join(start.vector, start.tables),
    mostSteps,
  );
  return {
    ...split(summit.vector),
    ...fitOf(summit, itemParameters(bank) + structure.parameters, responses),
    expected: summit.counts.patterns,
  };
}

/** Steps of a fit to known counts, and the gain per learner below which it ends. */
const COUNT_STEPS = 60;
const COUNT_GAIN = 2e-5;

/** Fits a structure to numbers of learners with each of all patterns; those outside the support are left out. */
export function fitToCounts(
  { support, start, prior, maximize }: Structure,
  everybody: Float64Array,
): Float64Array {
  const counts = Float64Array.from(support, (pattern) => at(everybody, pattern));
  const learners = sum(counts);
  let vector = start;
  let reached = -Infinity;
  for (let step = 0; step < COUNT_STEPS; step += 1) {
    vector = maximize(counts, vector);
    const cells = prior(vector);
    let value = 0;
    for (let a = 0; a < cells.length; a += 1)
      if (at(counts, a) > 0) value += at(counts, a) * log(at(cells, a));
    if (value - reached < COUNT_GAIN * learners) break;
    reached = value;
  }
  return vector;
}

/** Nodes of ability of the model without KCs, and the start of its slopes. */
const NODES = 21;
const LIMIT = 4;
const SLOPE = 1.2;

/** Fits the two-parameter logistic model (Birnbaum, 1968): one normal ability, no KCs, a slope and a location per item. */
export function fitTwoParameter(responses: Responses, proportions: readonly number[]): Fit {
  const points = Float64Array.from({ length: NODES }, (_, g) => (2 * LIMIT * g) / (NODES - 1) - LIMIT);
  const weights = normalized(points.map((point) => -0.5 * point * point));
  const support = Int32Array.from(points, (_, g) => g);
  const items = proportions.map(() => ({
    levels: NODES,
    levelOf: Uint16Array.from(support),
    isSaturated: true,
    group: 0,
  }));
  const expect = patternStep({ items, bound: 0 }, support, responses);
  const count = proportions.length;
  const summit = climb(
    {
      expect: (vector) =>
        expect(
          weights,
          items.map((_, j) => curveAt(points, [at(vector, j), at(vector, count + j)])),
        ),
      maximize: ({ answered, correct }, vector) => {
        const result = vector.slice();
        for (let j = 0; j < count; j += 1) {
          const counted = { open: answered[j] as Float64Array, mastered: correct[j] as Float64Array };
          const curve = curveStep(points, counted, [at(vector, j), at(vector, count + j)]);
          result[j] = curve[0];
          result[count + j] = curve[1];
        }
        return result;
      },
      project: (vector) => boundedCurves(vector, count),
    },
    Float64Array.from([
      ...proportions.map(() => log(SLOPE)),
      ...proportions.map((p) => clamp(-logit(clamp(p, 0.01, 0.99)) / SLOPE, -4, 4)),
    ]),
    MOST_STEPS,
  );
  return fitOf(summit, 2 * count, responses);
}
