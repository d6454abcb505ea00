/**
 * The E-step, exact. The likelihood of a learner's answers depends on theta only through the pattern of mastery. So a learner contributes only the
 * posterior over all 2^K patterns, P(pattern | answers), and theta is no missing value: the M-step integrates it out.
 */
import { addDown, answerBlocks, multiplyUp } from './answer-blocks.ts';
import { answersOf, latentPrior } from './model.ts';
import type { LatentPrior } from './dependence.ts';
import type { Design, Parameters, Responses } from './model.ts';
import { addTo, at, exp, integerAt, log } from './numbers.ts';

/** The input of the M-step: expected counts given the answers. */
export interface ExpectedCounts {
  readonly logLikelihood: number;
  /** For each item and own pattern: learners who answered it, and who answered it correctly. */
  readonly answered: readonly Float64Array[];
  readonly correct: readonly Float64Array[];
  /** Learners with each pattern of all KCs. */
  readonly everybody: Float64Array;
}

/** One distinct row of answers. `posterior` is P(pattern | answers), overwritten by the next row. */
export type RowVisitor = (row: number, posterior: Float64Array, logLikelihood: number) => void;

/** Below this, a row's likelihood is computed from logarithms: the product over items may have underflowed. */
const SMALLEST = 1e-250;

/** One distinct row of answers: P(pattern, answers) up to a factor, overwritten by the next row, and its sum over patterns. */
type JointVisitor = (row: number, joint: Float64Array, total: number, logLikelihood: number) => void;

/**
 * Calls `visit` for each distinct row of answers, in order. Likelihoods are products; if one underflows where the total is above `SMALLEST`, its
 * posterior is below 1e-57.
 */
function eachJoint(
  design: Design,
  parameters: Parameters,
  prior: LatentPrior,
  responses: Responses,
  visit: JointVisitor,
): void {
  const shared = answerBlocks(responses, design.patterns);
  multiplyUp(
    shared,
    design.items.map(({ own }, j) => spread(parameters.tables[j], own, (p) => p)),
  );
  const top = shared.top.map(({ block, of }) => ({
    values: shared.blocks[block]?.values ?? prior.patterns,
    of,
  }));
  const [first, ...others] = top;
  if (first === undefined) return;
  if (others.length === 0)
    others.push({ values: prior.patterns, of: new Int32Array(responses.counts.length) });
  else scaleAll(first.values, prior.patterns);
  const { patterns } = design;
  const joint = new Float64Array(patterns);
  for (let row = 0; row < responses.counts.length; row += 1) {
    let source = first.values;
    let start = integerAt(first.of, row) * patterns;
    let total = 0;
    for (const { values, of } of others) {
      total = multiply(joint, source, start, values, integerAt(of, row) * patterns);
      source = joint;
      start = 0;
    }
    if (total > SMALLEST) visit(row, joint, total, log(total));
    else visit(row, joint, 1, fillByLogarithms(joint, design, parameters, prior, answersOf(responses, row)));
  }
}

/** Multiplies each sub-row by the prior. */
function scaleAll(values: Float64Array, prior: Float64Array): void {
  for (let start = 0; start < values.length; start += prior.length)
    for (let a = 0; a < prior.length; a += 1) values[start + a] = at(values, start + a) * at(prior, a);
}

/** Writes products of values from two indices on; returns their sum. Two partial sums do not wait for each other. */
function multiply(
  products: Float64Array,
  left: Float64Array,
  l: number,
  right: Float64Array,
  r: number,
): number {
  let even = 0;
  let odd = 0;
  for (let a = 0; a < products.length; a += 2) {
    const one = at(left, l + a) * at(right, r + a);
    const two = at(left, l + a + 1) * at(right, r + a + 1);
    products[a] = one;
    products[a + 1] = two;
    even += one;
    odd += two;
  }
  return even + odd;
}

/** Calls `visit` for each distinct row of answers, in order. */
export function eachRow(
  design: Design,
  parameters: Parameters,
  prior: LatentPrior,
  responses: Responses,
  visit: RowVisitor,
): void {
  const posterior = new Float64Array(design.patterns);
  eachJoint(design, parameters, prior, responses, (row, joint, total, logLikelihood) => {
    for (let a = 0; a < posterior.length; a += 1) posterior[a] = at(joint, a) / total;
    visit(row, posterior, logLikelihood);
  });
}

/** Writes the posterior of one row without underflow; returns the row's log-likelihood. */
function fillByLogarithms(
  posterior: Float64Array,
  design: Design,
  parameters: Parameters,
  prior: LatentPrior,
  answers: Int8Array,
): number {
  posterior.set(prior.patterns.map(log));
  design.items.forEach(({ own }, j) => {
    const answer = integerAt(answers, j);
    if (answer < 0) return;
    const terms = spread(parameters.tables[j], own, (p) => log(answer === 1 ? p : 1 - p));
    for (let a = 0; a < posterior.length; a += 1) addTo(posterior, a, at(terms, a));
  });
  const highest = posterior.reduce((a, b) => Math.max(a, b), -Infinity);
  let total = 0;
  for (let a = 0; a < posterior.length; a += 1) {
    posterior[a] = exp(at(posterior, a) - highest);
    total += at(posterior, a);
  }
  for (let a = 0; a < posterior.length; a += 1) posterior[a] = at(posterior, a) / total;
  return highest + log(total);
}

/** Returns a function of an item's table for each pattern of all KCs. */
export function spread(
  table: Float64Array | undefined,
  own: Uint16Array,
  of: (probability: number) => number,
): Float64Array {
  const values = (table ?? new Float64Array()).map(of);
  const all = new Float64Array(own.length);
  for (let a = 0; a < own.length; a += 1) all[a] = at(values, integerAt(own, a));
  return all;
}

/** Returns the log-likelihood of all answers, natural logarithm. */
export function logLikelihoodOf(design: Design, parameters: Parameters, responses: Responses): number {
  let total = 0;
  const prior = latentPrior(design, parameters);
  eachJoint(design, parameters, prior, responses, (row, _joint, _total, logLikelihood) => {
    total += at(responses.counts, row) * logLikelihood;
  });
  return total;
}

/** Makes the E-step: returns expected counts at these parameters, with the log-likelihood of the answers. */
export function expectedCounts(design: Design, parameters: Parameters, responses: Responses): ExpectedCounts {
  const { patterns } = design;
  const prior = latentPrior(design, parameters);
  const shared = answerBlocks(responses, patterns);
  const sums = shared.blocks.map(({ values }) => new Float64Array(values.length));
  const top = shared.top.map(({ block, of }) => ({ sums: sums[block] ?? new Float64Array(), of }));
  let logLikelihood = 0;
  eachJoint(design, parameters, prior, responses, (row, joint, total, rowLogLikelihood) => {
    const count = at(responses.counts, row);
    logLikelihood += count * rowLogLikelihood;
    for (const part of top) add(part.sums, integerAt(part.of, row) * patterns, joint, count / total);
  });
  const everybody = new Float64Array(patterns);
  const all = top[0]?.sums ?? everybody;
  for (let start = 0; start < all.length; start += patterns)
    for (let a = 0; a < patterns; a += 1) addTo(everybody, a, at(all, start + a));
  addDown(shared, sums, patterns);
  const answered: Float64Array[] = [];
  const correct: Float64Array[] = [];
  shared.blocks.forEach(({ item, answer }, n) => {
    const own = design.items[item ?? -1];
    if (own === undefined || item === undefined) return;
    const of = (wanted: (given: number) => boolean): Float64Array => {
      const total = new Float64Array(own.size);
      answer.forEach((given, subRow) => {
        if (wanted(given)) gather(total, sums[n] ?? everybody, subRow * patterns, own.own);
      });
      return total;
    };
    answered[item] = of((given) => given >= 0);
    correct[item] = of((given) => given === 1);
  });
  return { logLikelihood, answered, correct, everybody };
}

/** Adds multiples of some values to sums from an index on. */
function add(sums: Float64Array, start: number, values: Float64Array, factor: number): void {
  for (let a = 0; a < values.length; a += 1) sums[start + a] = at(sums, start + a) + factor * at(values, a);
}

/** Adds values over patterns of all KCs to sums by an item's own pattern. */
function gather(sums: Float64Array, values: Float64Array, start: number, own: Uint16Array): void {
  for (let a = 0; a < own.length; a += 1) addTo(sums, integerAt(own, a), at(values, start + a));
}
