/**
 * The E-step, exact. The likelihood of a learner's answers depends on theta only through the pattern of mastery. So a learner contributes only the
 * posterior over all 2^K patterns, P(pattern | answers), and the joint with theta follows from the sum over learners:
 * n(pattern, node) = c(pattern) P(node | pattern).
 */
import { answersOf, latentPrior } from './model.ts';
import type { Design, LatentPrior, Parameters, Responses } from './model.ts';
import { addTo, at, exp, integerAt, log } from './numbers.ts';

/** The input of the M-step: expected counts given the answers. */
export interface ExpectedCounts {
  readonly logLikelihood: number;
  /** For each item and own pattern: learners who answered it, and who answered it correctly. */
  readonly answered: readonly Float64Array[];
  readonly correct: readonly Float64Array[];
  /** Learners at each node, and those at it who have mastered KC k (k * nodes + g). */
  readonly atNode: Float64Array;
  readonly mastered: Float64Array;
}

/** One distinct row of answers. `posterior` is P(pattern | answers), overwritten by the next row. */
export type RowVisitor = (row: number, posterior: Float64Array, logLikelihood: number) => void;

/** Calls `visit` for each distinct row of answers, in order. Rows cost items x 2^K each. */
export function eachRow(
  design: Design,
  parameters: Parameters,
  prior: LatentPrior,
  responses: Responses,
  visit: RowVisitor,
): void {
  const { patterns } = design;
  const logCorrect = design.items.map(({ own }, j) => spread(parameters.tables[j], own, (p) => log(p)));
  const logWrong = design.items.map(({ own }, j) => spread(parameters.tables[j], own, (p) => log(1 - p)));
  const posterior = new Float64Array(patterns);
  for (let row = 0; row < responses.counts.length; row += 1) {
    const answers = answersOf(responses, row);
    posterior.fill(0);
    for (let j = 0; j < answers.length; j += 1) {
      const answer = integerAt(answers, j);
      if (answer < 0) continue;
      const terms = (answer === 1 ? logCorrect : logWrong)[j];
      if (terms === undefined) continue;
      for (let a = 0; a < patterns; a += 1) addTo(posterior, a, at(terms, a));
    }
    let highest = -Infinity;
    for (let a = 0; a < patterns; a += 1) highest = Math.max(highest, at(posterior, a));
    let total = 0;
    for (let a = 0; a < patterns; a += 1) {
      const value = exp(at(posterior, a) - highest) * at(prior.patterns, a);
      posterior[a] = value;
      total += value;
    }
    for (let a = 0; a < patterns; a += 1) posterior[a] = at(posterior, a) / total;
    visit(row, posterior, highest + log(total));
  }
}

/** Returns a function of an item's table for each pattern of all KCs. */
export function spread(
  table: Float64Array | undefined,
  own: Uint16Array,
  of: (probability: number) => number,
): Float64Array {
  const values = (table ?? new Float64Array()).map(of);
  return Float64Array.from(own, (pattern) => at(values, pattern));
}

/** Returns the log-likelihood of all answers, natural logarithm. */
export function logLikelihoodOf(design: Design, parameters: Parameters, responses: Responses): number {
  let total = 0;
  eachRow(
    design,
    parameters,
    latentPrior(design, parameters),
    responses,
    (row, _posterior, logLikelihood) => {
      total += at(responses.counts, row) * logLikelihood;
    },
  );
  return total;
}

/** Makes the E-step: returns expected counts at these parameters, with the log-likelihood of the answers. */
export function expectedCounts(design: Design, parameters: Parameters, responses: Responses): ExpectedCounts {
  const { patterns, items } = design;
  const prior = latentPrior(design, parameters);
  const everybody = new Float64Array(patterns);
  const correctly = items.map(() => new Float64Array(patterns));
  const missing = items.map(() => new Float64Array(0));
  let logLikelihood = 0;
  eachRow(design, parameters, prior, responses, (row, posterior, rowLogLikelihood) => {
    const count = at(responses.counts, row);
    logLikelihood += count * rowLogLikelihood;
    for (let a = 0; a < patterns; a += 1) posterior[a] = at(posterior, a) * count;
    add(everybody, posterior);
    const answers = answersOf(responses, row);
    for (let j = 0; j < answers.length; j += 1) {
      const answer = integerAt(answers, j);
      if (answer === 0) continue;
      if (answer < 0 && missing[j]?.length === 0) missing[j] = new Float64Array(patterns);
      const sums = (answer === 1 ? correctly : missing)[j];
      if (sums !== undefined) add(sums, posterior);
    }
  });
  return {
    logLikelihood,
    answered: items.map(({ own, size }, j) => {
      const none = missing[j] ?? new Float64Array(0);
      return gather(
        none.length === 0 ? everybody : everybody.map((count, a) => Math.max(0, count - at(none, a))),
        own,
        size,
      );
    }),
    correct: items.map(({ own, size }, j) => gather(correctly[j] ?? everybody, own, size)),
    ...abilityCounts(design, prior, everybody),
  };
}

function add(sums: Float64Array, values: Float64Array): void {
  for (let a = 0; a < sums.length; a += 1) addTo(sums, a, at(values, a));
}

/** Sums values over patterns of all KCs, by an item's own pattern. */
function gather(values: Float64Array, own: Uint16Array, size: number): Float64Array {
  const sums = new Float64Array(size);
  for (let a = 0; a < values.length; a += 1) addTo(sums, integerAt(own, a), at(values, a));
  return sums;
}

/** Returns n(node) and n(node, KC k mastered), from the expected number of learners with each pattern. */
function abilityCounts(
  design: Design,
  prior: LatentPrior,
  everybody: Float64Array,
): Pick<ExpectedCounts, 'atNode' | 'mastered'> {
  const nodes = design.points.length;
  const atNode = new Float64Array(nodes);
  const mastered = new Float64Array(design.kcCount * nodes);
  for (let a = 0; a < design.patterns; a += 1) {
    const ratio = at(everybody, a) / at(prior.patterns, a);
    for (let g = 0; g < nodes; g += 1) {
      const count = ratio * at(prior.joint, a * nodes + g);
      addTo(atNode, g, count);
      for (let k = 0; k < design.kcCount; k += 1) {
        if ((a >>> k) & 1) addTo(mastered, k * nodes + g, count);
      }
    }
  }
  return { atNode, mastered };
}
