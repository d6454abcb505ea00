import type { ModelParameters } from '../../types.ts';
import { LN2, binaryEntropy, exp, logistic } from './arithmetic.ts';

/** The most KCs of one item and of one component: 2^12 patterns on every theta node. */
export const MAXIMUM_COMPONENT_KCS = 12;

/** P(KC mastered | theta) stays inside [FLOOR, 1 - FLOOR], so that no answer is impossible. */
const FLOOR = 1e-6;

/** Room for the rounding of capacities and gains, far more than both need. */
const CAPACITY_MARGIN = 1e-9;

/**
 * Parameters as flat arrays. Items with the same KC set form a group, with the KCs in ascending order, whose pattern distribution is
 * worked out once for all of them; the tables are permuted to that order.
 */
export interface CompiledParameters {
  readonly nodes: number;
  readonly kcCount: number;
  readonly itemCount: number;
  /** Normalized prior weight of each theta node. */
  readonly prior: Float64Array;
  readonly scale: Float64Array;
  /** P(KC k mastered | node g) at k * nodes + g. */
  readonly mastery: Float64Array;
  readonly groupOf: Int32Array;
  /** The KCs of group n are groupKcs[groupStart[n]] up to groupKcs[groupStart[n + 1] - 1]. */
  readonly groupStart: Int32Array;
  readonly groupKcs: Int32Array;
  /** 1 where the table has one value for every pattern but "all mastered" (single-KC items and DINA): low, else high. */
  readonly conjunctive: Uint8Array;
  /** 1 where the answer says nothing at all. */
  readonly flat: Uint8Array;
  readonly low: Float64Array;
  readonly high: Float64Array;
  readonly entropyLow: Float64Array;
  readonly entropyHigh: Float64Array;
  /** Where the item's table begins in `tables`, or -1 for a conjunctive item. */
  readonly tableStart: Int32Array;
  readonly tables: Float64Array;
  readonly entropyTables: Float64Array;
  /** The most, in bits, that the item could tell whatever the latent state: no gain is above it. */
  readonly capacity: Float64Array;
  /** Probability of the highest success at which a table of two values tells so much; below and above it tells ever less. */
  readonly peak: Float64Array;
  /** The items from the highest capacity down. */
  readonly byCapacity: Int32Array;
}

/** Lays parameters without defects out for the inner loops. */
export function compileParameters(parameters: ModelParameters): CompiledParameters {
  const { theta, kcs, items } = parameters;
  const nodes = theta.nodes;
  const points = new Float64Array(nodes);
  for (let g = 0; g < nodes; g += 1) points[g] = theta.min + ((theta.max - theta.min) * g) / (nodes - 1);

  const mastery = new Float64Array(kcs.length * nodes);
  kcs.forEach((kc, k) => {
    points.forEach((point, g) => {
      const probability = logistic(kc.slope * (point - kc.location));
      mastery[k * nodes + g] = Math.min(1 - FLOOR, Math.max(FLOOR, probability));
    });
  });

  const kcIndex = new Map(kcs.map((kc, k) => [kc.guid, k]));
  const groups = new Map<string, number>();
  const groupStart: number[] = [0];
  const groupKcs: number[] = [];
  const count = items.length;
  const groupOf = new Int32Array(count);
  const conjunctive = new Uint8Array(count);
  const flat = new Uint8Array(count);
  const low = new Float64Array(count);
  const high = new Float64Array(count);
  const entropyLow = new Float64Array(count);
  const entropyHigh = new Float64Array(count);
  const tableStart = new Int32Array(count).fill(-1);
  const tables: number[] = [];
  const capacity = new Float64Array(count);
  const peak = new Float64Array(count);
  items.forEach((item, j) => {
    const own = item.kcs.map((guid, bit) => ({ kc: kcIndex.get(guid) ?? -1, bit }));
    own.sort((a, b) => a.kc - b.kc);
    const key = own.map(({ kc }) => kc).join(' ');
    let group = groups.get(key);
    if (group === undefined) {
      group = groups.size;
      groups.set(key, group);
      groupKcs.push(...own.map(({ kc }) => kc));
      groupStart.push(groupKcs.length);
    }
    groupOf[j] = group;
    const table = item.probabilities;
    const lowest = table[0] ?? 0;
    const highest = table[table.length - 1] ?? 0;
    low[j] = lowest;
    high[j] = highest;
    entropyLow[j] = binaryEntropy(lowest);
    entropyHigh[j] = binaryEntropy(highest);
    const channel = channelCapacity(lowest, highest);
    capacity[j] = channel.capacity + CAPACITY_MARGIN;
    peak[j] = channel.peak;
    flat[j] = table.every((value) => value === lowest) ? 1 : 0;
    conjunctive[j] = table.every((value, pattern) => value === lowest || pattern === table.length - 1)
      ? 1
      : 0;
    if (conjunctive[j] === 1) return;
    tableStart[j] = tables.length;
    for (let pattern = 0; pattern < table.length; pattern += 1) {
      let original = 0;
      own.forEach(({ bit }, position) => {
        if ((pattern >>> position) & 1) original |= 1 << bit;
      });
      tables.push(table[original] ?? 0);
    }
  });

  return {
    nodes,
    kcCount: kcs.length,
    itemCount: count,
    prior: priorWeights(theta, points),
    scale: Float64Array.from(parameters.scale),
    mastery,
    groupOf,
    groupStart: Int32Array.from(groupStart),
    groupKcs: Int32Array.from(groupKcs),
    conjunctive,
    flat,
    low,
    high,
    entropyLow,
    entropyHigh,
    tableStart,
    tables: Float64Array.from(tables),
    entropyTables: Float64Array.from(tables, binaryEntropy),
    capacity,
    peak,
    byCapacity: Int32Array.from(capacity.keys()).sort(
      (a, b) => (capacity[b] ?? 0) - (capacity[a] ?? 0) || a - b,
    ),
  };
}

/**
 * Capacity of a binary channel that answers correctly with one of two probabilities, in bits: the mutual information at its stationary
 * point. A table with further values between the two has none higher, since entropy is concave.
 */
function channelCapacity(low: number, high: number): { readonly capacity: number; readonly peak: number } {
  if (low === high) return { capacity: 0, peak: 0 };
  const entropyLow = binaryEntropy(low);
  const slope = (binaryEntropy(high) - entropyLow) / (high - low);
  // The derivative of h(s) in bits is logit(s) / log 2.
  const success = Math.min(high, Math.max(low, logistic(-slope * LN2)));
  return {
    capacity: binaryEntropy(success) - entropyLow - (success - low) * slope,
    peak: (success - low) / (high - low),
  };
}

/** Trapezoid weights of a normal density; exponents are taken from the highest node, so that a far mean does not empty the grid. */
function priorWeights(theta: ModelParameters['theta'], points: Float64Array): Float64Array {
  const exponents = points.map((point) => {
    const z = (point - theta.mean) / theta.sd;
    return -0.5 * z * z;
  });
  const highest = exponents.reduce((a, b) => Math.max(a, b), -Infinity);
  const last = points.length - 1;
  const weights = exponents.map((exponent, g) => exp(exponent - highest) * (g === 0 || g === last ? 0.5 : 1));
  let total = 0;
  for (const weight of weights) total += weight;
  return weights.map((weight) => weight / total);
}
