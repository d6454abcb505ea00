import type { Estimate, KcComponent, KnownMastery, Outcome } from '../../types.ts';
import { exp, log, sqrt } from './arithmetic.ts';
import { at, integerAt, weightedSum } from './arrays.ts';
import { MAXIMUM_COMPONENT_KCS } from './model.ts';
import type { CompiledParameters } from './model.ts';

/** Products are kept as mantissa * STEP^exponent with mantissas in [1 / STEP, 1]: exact, and no number of answers makes one vanish. */
const STEP = 1.3407807929942597e154;
const INVERSE_STEP = 7.458340731200207e-155;

/** The posterior given the outcomes, in any order. Throws a RangeError on an unknown item or a component that is too large. */
export function estimatePosterior(model: CompiledParameters, outcomes: readonly Outcome[]): Estimate {
  const { nodes, kcCount } = model;
  const weights = Float64Array.from(model.prior);
  const exponents = new Int32Array(nodes);
  const components: KcComponent[] = [];
  for (const part of connect(model, informative(model, outcomes))) {
    const normalizer = new Float64Array(nodes);
    components.push(solveComponent(model, part, normalizer));
    for (let g = 0; g < nodes; g += 1) {
      const value = at(weights, g) * at(normalizer, g);
      const small = value < INVERSE_STEP && value > 0;
      weights[g] = small ? value * STEP : value;
      if (small) exponents[g] = integerAt(exponents, g) - 1;
    }
  }
  const thetaPosterior = normalize(scaled(weights, exponents));

  const kcPosteriors = new Float64Array(kcCount);
  for (let k = 0; k < kcCount; k += 1)
    kcPosteriors[k] = probability(thetaPosterior, model.mastery, k * nodes);
  for (const { kcs, superset } of components) {
    kcs.forEach((kc, bit) => (kcPosteriors[kc] = probability(thetaPosterior, superset, (1 << bit) * nodes)));
  }
  return { kcPosteriors, thetaPosterior, ...scaleOf(model, thetaPosterior), components };
}

/** p(g | known mastery), in proportion to w_g * product of pi^m * (1 - pi)^(1 - m). */
export function knownTheta(model: CompiledParameters, mastery: readonly KnownMastery[]): Float64Array {
  const { nodes } = model;
  const logarithms = model.prior.map(log);
  for (const { kc, probability } of mastery) {
    for (let g = 0; g < nodes; g += 1) {
      const pi = at(model.mastery, kc * nodes + g);
      logarithms[g] = at(logarithms, g) + probability * log(pi) + (1 - probability) * log(1 - pi);
    }
  }
  const highest = logarithms.reduce((a, b) => Math.max(a, b), -Infinity);
  return normalize(logarithms.map((value) => exp(value - highest)));
}

/** E(V | known mastery). */
export function knownScale(model: CompiledParameters, mastery: readonly KnownMastery[]): number {
  return scaleOf(model, knownTheta(model, mastery)).scaleScore;
}

/** The item's probability for the pattern of its KCs. */
export function successProbability(model: CompiledParameters, item: number, mastered: Uint8Array): number {
  if (!(item in model.groupOf)) throw new RangeError(`successProbability: there is no item ${String(item)}`);
  const group = integerAt(model.groupOf, item);
  const start = integerAt(model.groupStart, group);
  const length = integerAt(model.groupStart, group + 1) - start;
  let pattern = 0;
  for (let position = 0; position < length; position += 1) {
    if (mastered[integerAt(model.groupKcs, start + position)] === 1) pattern |= 1 << position;
  }
  const tableStart = integerAt(model.tableStart, item);
  if (tableStart >= 0) return at(model.tables, tableStart + pattern);
  return at(pattern === (1 << length) - 1 ? model.high : model.low, item);
}

/** Outcomes that say something, in one order whatever the given one. */
function informative(model: CompiledParameters, outcomes: readonly Outcome[]): Outcome[] {
  for (const { item } of outcomes) {
    if (!(item in model.groupOf)) throw new RangeError(`estimate: there is no item ${String(item)}`);
  }
  return outcomes
    .filter(({ item }) => model.flat[item] === 0)
    .sort((a, b) => a.item - b.item || Number(a.correct) - Number(b.correct));
}

interface Part {
  readonly kcs: Int32Array;
  readonly outcomes: readonly Outcome[];
}

/** Connected components of the outcomes' KC graph, each with ascending KCs, in the order of their smallest KC. */
function connect(model: CompiledParameters, outcomes: readonly Outcome[]): Part[] {
  const parent = new Map<number, number>();
  const root = (kc: number): number => {
    let top = kc;
    for (let next = parent.get(top); next !== undefined && next !== top; next = parent.get(top)) top = next;
    return top;
  };
  const firstKc = (item: number): number =>
    integerAt(model.groupKcs, integerAt(model.groupStart, integerAt(model.groupOf, item)));
  for (const { item } of outcomes) {
    const group = integerAt(model.groupOf, item);
    for (let i = integerAt(model.groupStart, group); i < integerAt(model.groupStart, group + 1); i += 1) {
      const kc = integerAt(model.groupKcs, i);
      if (!parent.has(kc)) parent.set(kc, kc);
      const [a, b] = [root(kc), root(firstKc(item))];
      parent.set(Math.max(a, b), Math.min(a, b));
    }
  }
  const parts = new Map<number, { kcs: number[]; outcomes: Outcome[] }>();
  for (const kc of [...parent.keys()].sort((a, b) => a - b)) {
    const part = parts.get(root(kc));
    if (part === undefined) parts.set(root(kc), { kcs: [kc], outcomes: [] });
    else part.kcs.push(kc);
  }
  for (const outcome of outcomes) parts.get(root(firstKc(outcome.item)))?.outcomes.push(outcome);
  return [...parts.values()].map((part) => {
    if (part.kcs.length > MAXIMUM_COMPONENT_KCS) {
      throw new RangeError(`estimate: the answers tie ${part.kcs.length} KCs together`);
    }
    return { kcs: Int32Array.from(part.kcs), outcomes: part.outcomes };
  });
}

/** Fills `normalizer` with P(answers of the component | node), up to one common factor. */
function solveComponent(model: CompiledParameters, part: Part, normalizer: Float64Array): KcComponent {
  const { nodes, mastery } = model;
  const size = 1 << part.kcs.length;
  const likelihood = patternLikelihood(model, part, size);
  const table = new Float64Array(size * nodes);
  table.fill(1, 0, nodes);
  part.kcs.forEach((kc, bit) => {
    const half = (1 << bit) * nodes;
    for (let low = 0; low < half; low += nodes) {
      for (let g = 0; g < nodes; g += 1) {
        const value = at(table, low + g);
        const pi = at(mastery, kc * nodes + g);
        table[low + half + g] = value * pi;
        table[low + g] = value * (1 - pi);
      }
    }
  });
  for (let pattern = 0; pattern < size; pattern += 1) {
    const factor = at(likelihood, pattern);
    for (let g = 0, i = pattern * nodes; g < nodes; g += 1, i += 1) {
      const value = at(table, i) * factor;
      table[i] = value;
      normalizer[g] = at(normalizer, g) + value;
    }
  }
  // From P(exactly this pattern) to P(at least these KCs mastered), one KC at a time.
  for (let half = nodes; half < table.length; half *= 2) {
    for (let block = 0; block < table.length; block += 2 * half) {
      for (let i = block; i < block + half; i += 1) table[i] = at(table, i) + at(table, i + half);
    }
  }
  for (let g = 0; g < nodes; g += 1) {
    const inverse = 1 / at(normalizer, g);
    for (let i = g; i < table.length; i += nodes) table[i] = Math.min(1, at(table, i) * inverse);
  }
  return { kcs: part.kcs, superset: table };
}

/** Likelihood of the component's answers for every pattern of its KCs, scaled so that the largest is close to 1. */
function patternLikelihood(model: CompiledParameters, part: Part, size: number): Float64Array {
  const values = new Float64Array(size).fill(1);
  const exponents = new Int32Array(size);
  const patternOf = new Int32Array(size);
  const contribution = new Int32Array(part.kcs.length);
  for (const { item, correct } of part.outcomes) {
    const group = integerAt(model.groupOf, item);
    const start = integerAt(model.groupStart, group);
    const length = integerAt(model.groupStart, group + 1) - start;
    contribution.fill(0);
    for (let position = 0; position < length; position += 1) {
      contribution[part.kcs.indexOf(integerAt(model.groupKcs, start + position))] = 1 << position;
    }
    const all = (1 << length) - 1;
    const tableStart = integerAt(model.tableStart, item);
    const low = at(model.low, item);
    const high = at(model.high, item);
    for (let s = 0; s < size; s += 1) {
      if (s > 0)
        patternOf[s] = integerAt(patternOf, s & (s - 1)) | integerAt(contribution, 31 - Math.clz32(s & -s));
      const pattern = integerAt(patternOf, s);
      const success =
        tableStart < 0 ? (pattern === all ? high : low) : at(model.tables, tableStart + pattern);
      const factor = correct ? success : 1 - success;
      let value = at(values, s);
      // A factor this small is scaled before the product could leave the range of doubles.
      if (factor < INVERSE_STEP) {
        value *= STEP;
        exponents[s] = integerAt(exponents, s) - 1;
      }
      value *= factor;
      if (value < INVERSE_STEP) {
        value *= STEP;
        exponents[s] = integerAt(exponents, s) - 1;
      }
      values[s] = value;
    }
  }
  const likelihood = scaled(values, exponents);
  let highest = likelihood.reduce((a, b) => Math.max(a, b), 0);
  while (highest < 2.3283064365386963e-10) {
    highest *= 4294967296;
    for (let s = 0; s < size; s += 1) likelihood[s] = at(likelihood, s) * 4294967296;
  }
  return likelihood;
}

/** Mantissas and exponents as plain numbers relative to the largest exponent; what is 10^-308 times smaller becomes 0. */
function scaled(mantissas: Float64Array, exponents: Int32Array): Float64Array {
  let highest = -2147483648;
  mantissas.forEach((mantissa, i) => {
    if (mantissa > 0) highest = Math.max(highest, integerAt(exponents, i));
  });
  return mantissas.map((mantissa, i) => {
    const lag = highest - integerAt(exponents, i);
    if (lag === 0) return mantissa;
    if (lag === 1) return mantissa * INVERSE_STEP;
    return lag === 2 ? mantissa * INVERSE_STEP * INVERSE_STEP : 0;
  });
}

function normalize(weights: Float64Array): Float64Array {
  let total = 0;
  for (const weight of weights) total += weight;
  return weights.map((weight) => weight / total);
}

function scaleOf(
  model: CompiledParameters,
  thetaPosterior: Float64Array,
): { scaleScore: number; standardError: number } {
  let scaleScore = 0;
  for (let g = 0; g < model.nodes; g += 1) scaleScore += at(thetaPosterior, g) * at(model.scale, g);
  let variance = 0;
  for (let g = 0; g < model.nodes; g += 1) {
    const distance = at(model.scale, g) - scaleScore;
    variance += at(thetaPosterior, g) * distance * distance;
  }
  return { scaleScore, standardError: sqrt(variance) };
}

/** Rounding may carry a sum of probabilities past 1 by an ulp, never further. */
function probability(weights: Float64Array, rows: Float64Array, offset: number): number {
  return Math.min(1, weightedSum(weights, rows, offset));
}
