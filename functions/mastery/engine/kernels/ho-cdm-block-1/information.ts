import type { Estimate, JointPosterior } from '../../types.ts';
import { binaryEntropy } from '../ho-cdm-grid-1/arithmetic.ts';
import { at, integerAt } from '../ho-cdm-grid-1/arrays.ts';
import type { BlockModel } from './prior.ts';

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

/** Room for the work: made once a model. */
export interface InformationScratch {
  /** For each group: P(all its KCs mastered), NaN while unknown. */
  readonly groupAll: Float64Array;
  /** For each group with tables: where its pattern distribution begins in `patterns`. */
  readonly patternStart: Int32Array;
  readonly patterns: Float64Array;
  /** 1 for each group whose pattern distribution is known. */
  readonly isKnown: Uint8Array;
}

/** Room for `informationGains`. */
export function informationScratch(model: BlockModel): InformationScratch {
  const groups = model.groupStart.length - 1;
  const patternStart = new Int32Array(groups).fill(-1);
  let patterns = 0;
  for (let j = 0; j < model.itemCount; j += 1) {
    const group = integerAt(model.groupOf, j);
    if (model.conjunctive[j] === 1 || integerAt(patternStart, group) >= 0) continue;
    patternStart[group] = patterns;
    patterns += 1 << groupSize(model, group);
  }
  return {
    groupAll: new Float64Array(groups),
    patternStart,
    patterns: new Float64Array(patterns),
    isKnown: new Uint8Array(groups),
  };
}

/**
 * I(outcome of j; theta, KCs) = h(P(correct)) - sum over patterns S of q(S) h(T[S]), in bits, for each eligible item: as in `ho-cdm-grid-1`, with q
 * from the posterior of the blocks. Only the `keep` highest gains, and whatever comes within MARGIN of them, are certain to be worked out; a gain
 * that cannot be among them may be NaN, and those of items that are not eligible are.
 */
export function informationGains(
  model: BlockModel,
  scratch: InformationScratch,
  estimate: Estimate,
  eligible: Uint8Array,
  gains: Float64Array,
  keep: number,
): void {
  const { groupAll, isKnown, patternStart, patterns } = scratch;
  const joint = estimate.joint as JointPosterior;
  groupAll.fill(NaN);
  isKnown.fill(0);
  const pruned = keep <= MAXIMUM_KEPT;
  const best = new Float64Array(pruned ? keep : 1).fill(-Infinity);
  let floor = -Infinity;
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
        const everything = (1 << groupSize(model, group)) - 1;
        all = joint.allMastered(model.groupKcs, integerAt(model.groupStart, group), everything);
        groupAll[group] = all;
      }
      success += all * (at(model.high, j) - lowest);
      conditional += all * (at(model.entropyHigh, j) - entropyLow);
    } else {
      const first = integerAt(patternStart, group);
      if (isKnown[group] === 0) fillPatterns(model, scratch, joint, group);
      const size = 1 << groupSize(model, group);
      const table = integerAt(model.tableStart, j);
      for (let s = 1; s < size; s += 1) {
        const q = at(patterns, first + s);
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
function conjunctiveCeiling(model: BlockModel, estimate: Estimate, group: number, j: number): number {
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

function groupSize(model: BlockModel, group: number): number {
  return integerAt(model.groupStart, group + 1) - integerAt(model.groupStart, group);
}

/** Writes P(exactly the KCs of s mastered) for every pattern s of the group. */
function fillPatterns(
  model: BlockModel,
  { patterns, patternStart, isKnown }: InformationScratch,
  joint: JointPosterior,
  group: number,
): void {
  const first = integerAt(patternStart, group);
  const start = integerAt(model.groupStart, group);
  const size = 1 << groupSize(model, group);
  for (let s = 0; s < size; s += 1) patterns[first + s] = joint.allMastered(model.groupKcs, start, s);
  for (let half = 1; half < size; half *= 2) {
    for (let s = 0; s < size; s += 1) {
      if ((s & half) === 0) patterns[first + s] = at(patterns, first + s) - at(patterns, first + s + half);
    }
  }
  isKnown[group] = 1;
}
