import { classify, type ClassificationRule } from './classification.ts';
import { LN2, binaryEntropy, logistic } from './kernels/ho-cdm-grid-1/arithmetic.ts';
import { at, integerAt } from './kernels/ho-cdm-grid-1/arrays.ts';
import type { CompiledModel } from './model.ts';
import type { Estimate } from './types.ts';

/** Gains this close to the last one kept are computed too: far more than rounding to 12 digits can make equal. */
const MARGIN = 1e-9;

/** A model prepared for `decisionGains` and `successProbability`, with its work space: created once, used by one call at a time. */
export interface DecisionModel {
  readonly model: CompiledModel;
  readonly nodes: number;
  /** P(KC k mastered | node g) at k * nodes + g. */
  readonly mastery: Float64Array;
  readonly items: readonly DecisionItem[];
  /** Items with the same KCs share the work of one call. */
  readonly groups: readonly KcGroup[];
  /** The items from the highest capacity down. */
  readonly byCapacity: readonly DecisionItem[];
  readonly componentOf: Int32Array;
  readonly bitOf: Int32Array;
  readonly product: Float64Array;
  /** 1 for the eligible items all of whose KCs are unsettled. */
  readonly whole: Uint8Array;
}

interface KcGroup {
  /** Ascending. */
  readonly kcs: readonly number[];
  /** Bit i: whether `kcs[i]` is unsettled. */
  unsettled: number;
  /** P(all KCs mastered), and P(all unsettled ones mastered); NaN while unknown. */
  all: number;
  allUnsettled: number;
  /** P(exactly the KCs of the pattern mastered), once `arePatternsKnown`. */
  readonly patterns: Float64Array;
  arePatternsKnown: boolean;
}

export interface DecisionItem {
  /** Index in the model. */
  readonly index: number;
  readonly group: KcGroup;
  /** P(correct | pattern of the group's KCs). */
  readonly table: Float64Array;
  /** Whether the table has one value for every pattern but "all mastered". */
  readonly isConjunctive: boolean;
  /** The most information, in bits, that the answer could give in any state, with a margin for rounding. */
  readonly capacity: number;
}

/**
 * Prepares a model for `decisionGains` and `successProbability`.
 * @param chosen the items of `items`, in this order (model indices); absent: all
 */
export function decisionModel(
  model: CompiledModel,
  chosen: readonly number[] = [...model.itemKcs.keys()],
): DecisionModel {
  const { core, kcGuids, itemKcs } = model;
  const nodes = core.knownTheta([]).length;
  const mastery = new Float64Array(kcGuids.length * nodes);
  for (let kc = 0; kc < kcGuids.length; kc += 1)
    for (let g = 0; g < nodes; g += 1) mastery[kc * nodes + g] = core.masteryAt(kc, g);
  const groups = new Map<string, KcGroup>();
  const mastered = new Uint8Array(kcGuids.length);
  const items = chosen.map((index): DecisionItem => {
    const kcs = (itemKcs[index] ?? []).toSorted((a, b) => a - b);
    const group = groups.get(kcs.join(' ')) ?? newGroup(kcs);
    groups.set(kcs.join(' '), group);
    const table = Float64Array.from(group.patterns.keys(), (pattern) => {
      kcs.forEach((kc, bit) => (mastered[kc] = (pattern >>> bit) & 1));
      return core.successProbability(index, mastered);
    });
    for (const kc of kcs) mastered[kc] = 0;
    const last = group.patterns.length - 1;
    return {
      index,
      group,
      table,
      isConjunctive: table.every((value, pattern) => value === table[0] || pattern === last),
      capacity: capacityOf(at(table, 0), at(table, last)) + MARGIN,
    };
  });
  return {
    model,
    nodes,
    mastery,
    items,
    groups: [...groups.values()],
    byCapacity: items.toSorted((a, b) => b.capacity - a.capacity),
    componentOf: new Int32Array(kcGuids.length),
    bitOf: new Int32Array(kcGuids.length),
    product: new Float64Array(nodes),
    whole: new Uint8Array(itemKcs.length),
  };
}

/**
 * Writes into `gains`, for each eligible item that measures an unsettled KC, the mutual information in bits of its outcome and the pattern
 * of *those of its own* KCs that are unsettled:
 *
 *     I(A) = h(P(correct)) - sum over patterns s of A of P(s) h(P(correct | s)),        A = the item's unsettled KCs
 *
 * exact from the item's table, and never above its gain over the whole latent state. NaN for all other items, and for those that cannot be
 * among the `keep` highest. An item all of whose KCs are unsettled has the kernel's own gain.
 * @param unsettled 1 for each KC of the model that is in scope and not yet classified
 * @returns whether any eligible item measures an unsettled KC
 */
export function decisionGains(
  decision: DecisionModel,
  estimate: Estimate,
  unsettled: Uint8Array,
  eligible: Uint8Array,
  gains: Float64Array,
  keep: number,
): boolean {
  const { whole, items, groups, model } = decision;
  for (const group of groups) begin(group, unsettled);
  let isAny = false;
  items.forEach(({ index, group }) => {
    whole[index] = 0;
    if (eligible[index] !== 1 || group.unsettled === 0) return;
    isAny = true;
    if (group.unsettled === group.patterns.length - 1) whole[index] = 1;
  });
  model.core.informationGains(estimate, whole, gains, keep);
  const kept = Number.isFinite(keep) ? highest(gains, keep) : undefined;
  locate(decision, estimate);
  for (const item of decision.byCapacity) {
    const { index, group, capacity, isConjunctive } = item;
    if (kept !== undefined && capacity < at(kept, 0)) break;
    if (eligible[index] !== 1 || whole[index] === 1 || group.unsettled === 0) continue;
    const gain = isConjunctive
      ? conjunctiveGain(decision, estimate, item)
      : tableGain(decision, estimate, item);
    gains[index] = gain;
    if (kept !== undefined) insert(kept, gain);
  }
  return isAny;
}

/** Returns P(correct) of one of the prepared items, given the posterior: the mean of its table over the patterns of its KCs. */
export function successProbability(decision: DecisionModel, estimate: Estimate, item: DecisionItem): number {
  const { group, table } = item;
  locate(decision, estimate);
  group.arePatternsKnown = false;
  fillPatterns(decision, estimate, group);
  let success = 0;
  for (let pattern = 0; pattern < table.length; pattern += 1)
    success += at(group.patterns, pattern) * at(table, pattern);
  return success;
}

/**
 * Returns for each of the prepared items how many of its own unsettled KCs its answer is expected to settle: the sum over both outcomes of
 *
 *     P(outcome) x number of its unsettled KCs that are not `not_yet` by their posterior after it,
 *
 * exact from the item's table and the patterns of its KCs, all of which the answer measures.
 * @param unsettled 1 for each KC of the model that is in scope and not yet classified
 */
export function expectedSettled(
  decision: DecisionModel,
  estimate: Estimate,
  unsettled: Uint8Array,
  rule: ClassificationRule,
  items: readonly DecisionItem[],
): readonly number[] {
  locate(decision, estimate);
  for (const { group } of items) group.arePatternsKnown = false;
  return items.map(({ group, table }) => {
    const { kcs, patterns } = group;
    if (!group.arePatternsKnown) fillPatterns(decision, estimate, group);
    const [correct, wrong] = [new Float64Array(table.length), new Float64Array(table.length)];
    for (let pattern = 0; pattern < table.length; pattern += 1) {
      correct[pattern] = at(patterns, pattern) * at(table, pattern);
      wrong[pattern] = at(patterns, pattern) * (1 - at(table, pattern));
    }
    let expected = 0;
    for (const weights of [correct, wrong]) {
      const chance = sumWith(weights, 0);
      if (chance === 0) continue;
      for (let bit = 0; bit < kcs.length; bit += 1)
        if (
          unsettled[kcs[bit] as number] === 1 &&
          classify(rule, sumWith(weights, 1 << bit) / chance, true) !== 'not_yet'
        )
          expected += chance;
    }
    return expected;
  });
}

/** Returns the sum over the patterns that contain these bits. */
function sumWith(weights: Float64Array, bits: number): number {
  let sum = 0;
  for (let pattern = 0; pattern < weights.length; pattern += 1)
    if ((pattern & bits) === bits) sum += at(weights, pattern);
  return sum;
}

function newGroup(kcs: readonly number[]): KcGroup {
  const patterns = new Float64Array(1 << kcs.length);
  return { kcs, unsettled: 0, all: NaN, allUnsettled: NaN, patterns, arePatternsKnown: false };
}

function begin(group: KcGroup, unsettled: Uint8Array): void {
  group.unsettled = 0;
  group.kcs.forEach((kc, bit) => {
    if (unsettled[kc] === 1) group.unsettled |= 1 << bit;
  });
  group.all = NaN;
  group.allUnsettled = NaN;
  group.arePatternsKnown = false;
}

/** Returns the gain where the outcome depends only on whether all of A are mastered: if not, success is unlikely; if so, P(Q | A) raises it. */
function conjunctiveGain(
  decision: DecisionModel,
  estimate: Estimate,
  { group, table }: DecisionItem,
): number {
  const last = table.length - 1;
  const low = at(table, 0);
  const rise = at(table, last) - low;
  const entropyLow = binaryEntropy(low);
  if (Number.isNaN(group.all)) {
    group.all = jointMastery(decision, estimate, group.kcs, last);
    group.allUnsettled = jointMastery(decision, estimate, group.kcs, group.unsettled);
  }
  const { all, allUnsettled } = group;
  const given = low + rise * (allUnsettled > 0 ? Math.min(1, all / allUnsettled) : 0);
  const conditional = entropyLow + allUnsettled * (binaryEntropy(given) - entropyLow);
  return bits(binaryEntropy(low + rise * all) - conditional);
}

function tableGain(decision: DecisionModel, estimate: Estimate, { group, table }: DecisionItem): number {
  if (!group.arePatternsKnown) fillPatterns(decision, estimate, group);
  const { patterns, unsettled } = group;
  let success = 0;
  let conditional = 0;
  for (let pattern = 0; pattern < patterns.length; pattern += 1)
    success += at(patterns, pattern) * at(table, pattern);
  const settled = (patterns.length - 1) & ~unsettled;
  // Goes through every subset of the unsettled KCs, each with every subset of the others.
  for (let part = unsettled; ; part = (part - 1) & unsettled) {
    let weight = 0;
    let correct = 0;
    for (let rest = settled; ; rest = (rest - 1) & settled) {
      weight += at(patterns, part | rest);
      correct += at(patterns, part | rest) * at(table, part | rest);
      if (rest === 0) break;
    }
    if (weight > 0) conditional += weight * binaryEntropy(Math.min(1, correct / weight));
    if (part === 0) break;
  }
  return bits(binaryEntropy(success) - conditional);
}

/** Clamps information to its range, 0 to 1 bit: rounding errors may lead outside. */
function bits(information: number): number {
  return Math.min(1, Math.max(0, information));
}

/** Computes P(exactly the KCs of the pattern mastered) for every pattern, by inclusion and exclusion. */
function fillPatterns(decision: DecisionModel, estimate: Estimate, group: KcGroup): void {
  const { patterns, kcs } = group;
  const size = patterns.length;
  for (let subset = 0; subset < size; subset += 1)
    patterns[subset] = jointMastery(decision, estimate, kcs, subset);
  for (let half = 1; half < size; half *= 2)
    for (let pattern = 0; pattern < size; pattern += 1)
      if ((pattern & half) === 0) patterns[pattern] = at(patterns, pattern) - at(patterns, pattern + half);
  // A difference of rounding errors may fall below zero.
  for (let pattern = 0; pattern < size; pattern += 1) patterns[pattern] = Math.max(0, at(patterns, pattern));
  group.arePatternsKnown = true;
}

/** Returns P(all KCs of the subset mastered). Without blocks, the components are independent given theta, and so are the KCs outside them. */
function jointMastery(
  { nodes, mastery, componentOf, bitOf, product }: DecisionModel,
  { thetaPosterior, kcPosteriors, components, joint }: Estimate,
  kcs: readonly number[],
  subset: number,
): number {
  if (joint !== undefined) return joint.allMastered(kcs, 0, subset);
  if (subset === 0) return 1;
  if ((subset & (subset - 1)) === 0) return at(kcPosteriors, kcs[31 - Math.clz32(subset)] as number);
  product.set(thetaPosterior);
  for (let left = subset; left !== 0;) {
    const bit = 31 - Math.clz32(left);
    const kc = kcs[bit] as number;
    const component = integerAt(componentOf, kc);
    left &= ~(1 << bit);
    if (component < 0) {
      multiply(product, mastery, kc * nodes);
      continue;
    }
    let mask = 1 << integerAt(bitOf, kc);
    for (let others = left; others !== 0;) {
      const other = 31 - Math.clz32(others);
      others &= ~(1 << other);
      if (integerAt(componentOf, kcs[other] as number) !== component) continue;
      mask |= 1 << integerAt(bitOf, kcs[other] as number);
      left &= ~(1 << other);
    }
    multiply(product, (components[component] as Estimate['components'][number]).superset, mask * nodes);
  }
  let total = 0;
  for (let g = 0; g < nodes; g += 1) total += at(product, g);
  return Math.min(1, total);
}

function multiply(product: Float64Array, rows: Float64Array, offset: number): void {
  for (let g = 0; g < product.length; g += 1) product[g] = at(product, g) * at(rows, offset + g);
}

/** Notes the position of each KC in the components of the posterior. */
function locate({ componentOf, bitOf }: DecisionModel, { components }: Estimate): void {
  componentOf.fill(-1);
  components.forEach(({ kcs }, index) => {
    kcs.forEach((kc, bit) => {
      componentOf[kc] = index;
      bitOf[kc] = bit;
    });
  });
}

/** Returns the highest gains, ascending; -Infinity where there are fewer. */
function highest(gains: Float64Array, keep: number): Float64Array {
  const kept = new Float64Array(keep).fill(-Infinity);
  for (const gain of gains) insert(kept, gain);
  return kept;
}

/** Replaces the smallest value of an ascending list by a higher value; ignores NaN. */
function insert(ascending: Float64Array, value: number): void {
  if (!(value > at(ascending, 0))) return;
  let i = 1;
  for (; i < ascending.length && at(ascending, i) < value; i += 1) ascending[i - 1] = at(ascending, i);
  ascending[i - 1] = value;
}

/**
 * Returns the capacity in bits of a channel that answers correctly with one of two probabilities (Cover and Thomas, 2006, chapter 7). A table with
 * further values between the two has no higher capacity, since entropy is concave.
 */
function capacityOf(low: number, high: number): number {
  if (low === high) return 0;
  const entropyLow = binaryEntropy(low);
  const slope = (binaryEntropy(high) - entropyLow) / (high - low);
  const success = Math.min(high, Math.max(low, logistic(-slope * LN2)));
  return binaryEntropy(success) - entropyLow - (success - low) * slope;
}
