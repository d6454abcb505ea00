import type { Estimate, KcComponent } from '../../types.ts';
import { binaryEntropy } from './arithmetic.ts';
import { at, integerAt, weightedSum, weightedSumOfProducts } from './arrays.ts';
import { MAXIMUM_COMPONENT_KCS } from './model.ts';
import type { CompiledParameters } from './model.ts';

/** Entropies above which none lies in a cell of [0, 1]: most items are ruled out by a look-up, without a logarithm. */
const CELLS = 1024;
const entropyCeiling = Float64Array.from({ length: CELLS }, (_, cell) => {
  const lower = cell / CELLS;
  const upper = (cell + 1) / CELLS;
  return Math.max(binaryEntropy(lower), binaryEntropy(upper)) + 1e-12;
});

/** Beyond this many the bookkeeping costs more than it spares. */
const MAXIMUM_KEPT = 64;

/** Gains this close to the last one kept are worked out too: far more than rounding to 12 digits can make equal. */
const MARGIN = 1e-9;

/** Where each KC stands in the posterior, and room for the work: made once a model. */
export interface InformationScratch {
  /** Component of each KC, or -1. */
  readonly componentOf: Int32Array;
  readonly bitOf: Int32Array;
  /** For each group: P(all its KCs mastered), NaN while unknown. */
  readonly groupAll: Float64Array;
  /** For each group: where its pattern distribution begins in `patterns`, or -1 while unknown. */
  readonly groupPatterns: Int32Array;
  readonly patterns: Float64Array;
  readonly product: Float64Array;
  /** Parts of one KC set: the table and the row in it of each, filled by `collect`. */
  readonly partTables: Float64Array[];
  readonly partOffsets: Int32Array;
  readonly partComponents: Int32Array;
}

/** Room for `informationGains`. */
export function informationScratch(model: CompiledParameters): InformationScratch {
  const groups = model.groupStart.length - 1;
  const needed = new Uint8Array(groups);
  for (let j = 0; j < model.itemCount; j += 1) {
    if (model.conjunctive[j] === 0) needed[integerAt(model.groupOf, j)] = 1;
  }
  let patterns = 0;
  needed.forEach((flag, group) => {
    if (flag === 1) patterns += 1 << groupSize(model, group);
  });
  return {
    componentOf: new Int32Array(model.kcCount),
    bitOf: new Int32Array(model.kcCount),
    groupAll: new Float64Array(groups),
    groupPatterns: new Int32Array(groups),
    patterns: new Float64Array(patterns),
    product: new Float64Array(model.nodes),
    partTables: Array.from({ length: MAXIMUM_COMPONENT_KCS }, () => model.mastery),
    partOffsets: new Int32Array(MAXIMUM_COMPONENT_KCS),
    partComponents: new Int32Array(MAXIMUM_COMPONENT_KCS),
  };
}

/**
 * I(outcome of j; theta, KCs) = h(P(correct)) - sum over patterns S of q(S) h(T[S]), in bits, for each eligible item. The outcome depends
 * on the latent state only through the item's own KCs, so q, the joint distribution of those, is all that is needed. Both sums are
 * taken as differences from the first pattern's value: an item whose table is flat gets exactly 0. Only the `keep` highest gains, and
 * whatever comes within MARGIN of them, are certain to be worked out; a gain that cannot be among them may be NaN, and those of items
 * that are not eligible are. Few are kept by taking the items from the highest capacity down, up to where none can win any more.
 */
export function informationGains(
  model: CompiledParameters,
  scratch: InformationScratch,
  estimate: Estimate,
  eligible: Uint8Array,
  gains: Float64Array,
  keep: number,
): void {
  const { componentOf, bitOf, groupAll, groupPatterns } = scratch;
  componentOf.fill(-1);
  estimate.components.forEach(({ kcs }, index) => {
    kcs.forEach((kc, bit) => {
      componentOf[kc] = index;
      bitOf[kc] = bit;
    });
  });
  groupAll.fill(NaN);
  groupPatterns.fill(-1);
  const pruned = keep <= MAXIMUM_KEPT;
  const best = new Float64Array(pruned ? keep : 1).fill(-Infinity);
  let floor = -Infinity;
  let patternsUsed = 0;
  gains.fill(NaN);
  for (let place = 0; place < model.itemCount; place += 1) {
    const j = pruned ? integerAt(model.byCapacity, place) : place;
    if (at(model.capacity, j) < floor) break;
    if (eligible[j] !== 1) continue;
    const group = integerAt(model.groupOf, j);
    const lowest = at(model.low, j);
    const entropyLow = at(model.entropyLow, j);
    let success = lowest;
    let conditional = entropyLow;
    if (model.conjunctive[j] === 1) {
      let all = at(groupAll, group);
      if (Number.isNaN(all)) {
        if (pruned && conjunctiveCeiling(model, estimate, group, j) < floor) continue;
        all = allMastered(model, scratch, estimate, group, (1 << groupSize(model, group)) - 1);
        groupAll[group] = all;
      }
      success += all * (at(model.high, j) - lowest);
      conditional += all * (at(model.entropyHigh, j) - entropyLow);
    } else {
      let first = integerAt(groupPatterns, group);
      const size = 1 << groupSize(model, group);
      if (first < 0) {
        first = patternsUsed;
        patternsUsed += size;
        groupPatterns[group] = first;
        fillPatterns(model, scratch, estimate, group, first);
      }
      const table = integerAt(model.tableStart, j);
      for (let s = 1; s < size; s += 1) {
        const q = at(scratch.patterns, first + s);
        success += q * (at(model.tables, table + s) - lowest);
        conditional += q * (at(model.entropyTables, table + s) - entropyLow);
      }
    }
    if (ceilingAt(success) - conditional < floor) continue;
    // Information is never negative and never above one bit; a difference of rounding errors may be.
    const gain = Math.min(1, Math.max(0, binaryEntropy(success) - conditional));
    gains[j] = gain;
    if (pruned && gain > at(best, 0)) {
      insert(best, gain);
      floor = at(best, 0) - MARGIN;
    }
  }
}

/** An entropy that h(success) does not exceed. */
function ceilingAt(success: number): number {
  return at(entropyCeiling, success < 1 ? Math.trunc(success * CELLS) : CELLS - 1);
}

/**
 * What the gain of a conjunctive item cannot exceed, from its KCs' posteriors alone: P(all mastered) lies within the bounds of Fréchet, and
 * the gain rises up to the item's peak and falls beyond.
 */
function conjunctiveCeiling(model: CompiledParameters, estimate: Estimate, group: number, j: number): number {
  let least = 1;
  let missing = 0;
  for (let i = integerAt(model.groupStart, group); i < integerAt(model.groupStart, group + 1); i += 1) {
    const mastered = at(estimate.kcPosteriors, integerAt(model.groupKcs, i));
    least = Math.min(least, mastered);
    missing += 1 - mastered;
  }
  const all = Math.min(least, Math.max(1 - missing, at(model.peak, j)));
  const lowest = at(model.low, j);
  const entropyLow = at(model.entropyLow, j);
  const conditional = entropyLow + all * (at(model.entropyHigh, j) - entropyLow);
  return ceilingAt(lowest + all * (at(model.high, j) - lowest)) - conditional;
}

/** Replaces the smallest of an ascending list. */
function insert(ascending: Float64Array, value: number): void {
  let i = 1;
  for (; i < ascending.length && at(ascending, i) < value; i += 1) ascending[i - 1] = at(ascending, i);
  ascending[i - 1] = value;
}

function groupSize(model: CompiledParameters, group: number): number {
  return integerAt(model.groupStart, group + 1) - integerAt(model.groupStart, group);
}

/** Writes P(exactly the KCs of s mastered) for every pattern s of the group. */
function fillPatterns(
  model: CompiledParameters,
  scratch: InformationScratch,
  estimate: Estimate,
  group: number,
  first: number,
): void {
  const { patterns } = scratch;
  const size = 1 << groupSize(model, group);
  patterns[first] = 1;
  for (let s = 1; s < size; s += 1) patterns[first + s] = allMastered(model, scratch, estimate, group, s);
  for (let half = 1; half < size; half *= 2) {
    for (let s = 0; s < size; s += 1) {
      if ((s & half) === 0) patterns[first + s] = at(patterns, first + s) - at(patterns, first + s + half);
    }
  }
}

/** P(all KCs of the group's subset mastered): given theta the components are independent, and so are the KCs outside them. */
function allMastered(
  model: CompiledParameters,
  scratch: InformationScratch,
  estimate: Estimate,
  group: number,
  subset: number,
): number {
  const { nodes } = model;
  const weights = estimate.thetaPosterior;
  if ((subset & (subset - 1)) === 0) {
    const kc = integerAt(model.groupKcs, integerAt(model.groupStart, group) + 31 - Math.clz32(subset));
    return at(estimate.kcPosteriors, kc);
  }
  const parts = collect(model, scratch, estimate.components, group, subset);
  const { partTables, partOffsets, product } = scratch;
  const firstTable = partTables[0] as Float64Array;
  const firstOffset = integerAt(partOffsets, 0);
  if (parts === 1) return weightedSum(weights, firstTable, firstOffset);
  for (let part = 2; part < parts; part += 1) {
    const table = partTables[part] as Float64Array;
    const offset = integerAt(partOffsets, part);
    const rest = part === 2 ? weights : product;
    for (let g = 0; g < nodes; g += 1) product[g] = at(rest, g) * at(table, offset + g);
  }
  return weightedSumOfProducts(
    parts === 2 ? weights : product,
    firstTable,
    firstOffset,
    partTables[1] as Float64Array,
    integerAt(partOffsets, 1),
  );
}

/** Splits a KC set into its independent parts given theta, and answers their number. */
function collect(
  model: CompiledParameters,
  scratch: InformationScratch,
  components: readonly KcComponent[],
  group: number,
  subset: number,
): number {
  const { componentOf, bitOf, partTables, partOffsets, partComponents } = scratch;
  const start = integerAt(model.groupStart, group);
  let parts = 0;
  for (let left = subset; left !== 0; left &= left - 1) {
    const kc = integerAt(model.groupKcs, start + 31 - Math.clz32(left & -left));
    const index = integerAt(componentOf, kc);
    if (index < 0) {
      partComponents[parts] = -1;
      partTables[parts] = model.mastery;
      partOffsets[parts] = kc * model.nodes;
      parts += 1;
      continue;
    }
    let part = 0;
    while (part < parts && integerAt(partComponents, part) !== index) part += 1;
    if (part === parts) {
      partComponents[part] = index;
      partTables[part] = (components[index] as KcComponent).superset;
      partOffsets[part] = 0;
      parts += 1;
    }
    partOffsets[part] = integerAt(partOffsets, part) + (1 << integerAt(bitOf, kc)) * model.nodes;
  }
  return parts;
}
