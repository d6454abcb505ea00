/**
 * Isotonic regression on the lattice of mastery patterns: the weighted least-squares projection onto tables that never fall when a KC is added. For
 * binomial counts that projection is also the constrained maximum of the likelihood (Robertson, Wright and Dykstra, 1988, Order restricted
 * statistical inference, theorem 1.5.2), and clipping it gives the maximum within bounds.
 *
 * The method is recursive partitioning (Spouge, Wan and Wilbur, 2003, J. Optimization Theory and Applications 117, 585-605; Luss, Rosset and Shahar,
 * 2012, Annals of Applied Statistics 6, 253-283): a block is split by the upper set whose values are furthest above the block's mean, a maximum
 * closure that a minimum cut finds (Picard, 1976, Management Science 22, 1268-1272); if there is none, the block's mean is the solution. It is exact,
 * and ends after at most one split per pattern.
 */
import { at, integerAt } from './numbers.ts';

/** A gain below these shares of the block's spread and of its sum is rounding. */
const GAIN_FLOOR = 1e-12;
const ROUNDING = 1e-14;

/**
 * Returns the table nearest to `values` (sum of weights * squared distance) that never falls when a KC is added.
 * @param values one number for each of 2^m patterns; ignored where the weight is 0
 * @param weights nonnegative, not all 0
 */
export function isotonicTable(values: Float64Array, weights: Float64Array): Float64Array {
  const size = values.length;
  if (isMonotone(values) && weights.every((weight) => weight > 0)) return Float64Array.from(values);
  const result = new Float64Array(size);
  const open: Int32Array[] = [Int32Array.from({ length: size }, (_, pattern) => pattern)];
  for (let block = open.pop(); block !== undefined; block = open.pop()) {
    let weight = 0;
    let total = 0;
    for (const pattern of block) {
      weight += at(weights, pattern);
      total += at(weights, pattern) * at(values, pattern);
    }
    const mean = total / weight;
    const upper = furthestUpperSet(block, values, weights, mean, size);
    if (upper === undefined) {
      for (const pattern of block) result[pattern] = mean;
    } else {
      open.push(
        block.filter((pattern) => upper[pattern] === 1),
        block.filter((pattern) => upper[pattern] !== 1),
      );
    }
  }
  return liftRounding(result);
}

/** Returns whether a table never falls when a KC is added. */
export function isMonotone(table: Float64Array): boolean {
  for (let pattern = 1; pattern < table.length; pattern += 1) {
    for (let bit = 1; bit <= pattern; bit *= 2) {
      if ((pattern & bit) !== 0 && at(table, pattern) < at(table, pattern - bit)) return false;
    }
  }
  return true;
}

/** Removes falls due to rounding: means of neighbouring blocks may be equal. */
function liftRounding(table: Float64Array): Float64Array {
  for (let pattern = 1; pattern < table.length; pattern += 1) {
    for (let bit = 1; bit <= pattern; bit *= 2) {
      if ((pattern & bit) !== 0) table[pattern] = Math.max(at(table, pattern), at(table, pattern - bit));
    }
  }
  return table;
}

/** Returns the upper set of a block with the largest sum of weight * (value - mean); undefined if no sum is above 0. */
function furthestUpperSet(
  block: Int32Array,
  values: Float64Array,
  weights: Float64Array,
  mean: number,
  size: number,
): Int8Array | undefined {
  const excess = new Float64Array(size);
  let spread = 0;
  let total = 0;
  for (const pattern of block) {
    excess[pattern] = at(weights, pattern) * (at(values, pattern) - mean);
    spread += Math.abs(at(excess, pattern));
    total += at(weights, pattern) * Math.abs(at(values, pattern));
  }
  if (!(spread > 0)) return undefined;
  const upper = sourceSide(block, excess, size);
  let gain = 0;
  let count = 0;
  for (const pattern of block) {
    if (upper[pattern] !== 1) continue;
    gain += at(excess, pattern);
    count += 1;
  }
  const isProper = count > 0 && count < block.length;
  return isProper && gain > GAIN_FLOOR * spread + ROUNDING * total ? upper : undefined;
}

/** A directed graph with capacities; arc n and arc n ^ 1 are each other's reverse. */
interface Network {
  readonly head: Int32Array;
  readonly next: number[];
  readonly to: number[];
  readonly room: number[];
}

/**
 * Returns the maximum closure under adding a KC. The network: source -> patterns with positive excess, patterns with negative excess -> sink, and
 * from each pattern to those with one more KC, without limit. The closure is what the source still reaches at the largest flow (by Dinic's
 * algorithm).
 */
function sourceSide(block: Int32Array, excess: Float64Array, size: number): Int8Array {
  const source = size;
  const sink = size + 1;
  const network: Network = { head: new Int32Array(size + 2).fill(-1), next: [], to: [], room: [] };
  const inBlock = new Int8Array(size);
  let scale = 0;
  for (const pattern of block) {
    inBlock[pattern] = 1;
    scale += Math.abs(at(excess, pattern));
  }
  for (const pattern of block) {
    const value = at(excess, pattern);
    if (value > 0) connect(network, source, pattern, value);
    if (value < 0) connect(network, pattern, sink, -value);
    for (let bit = 1; bit < size; bit *= 2) {
      const larger = pattern | bit;
      if (larger !== pattern && inBlock[larger] === 1) connect(network, pattern, larger, Infinity);
    }
  }
  const least = scale * 1e-15;
  for (;;) {
    const level = levels(network, source, least);
    if (integerAt(level, sink) < 0) return Int8Array.from(level, (depth) => (depth >= 0 ? 1 : 0));
    const cursor = Int32Array.from(network.head);
    while (push(network, level, cursor, source, sink, Infinity, least) > 0);
  }
}

function connect({ head, next, to, room }: Network, from: number, target: number, capacity: number): void {
  next.push(integerAt(head, from));
  to.push(target);
  room.push(capacity);
  head[from] = to.length - 1;
  next.push(integerAt(head, target));
  to.push(from);
  room.push(0);
  head[target] = to.length - 1;
}

/** Returns the distance from the source over arcs with room; -1 where it does not reach. */
function levels({ head, next, to, room }: Network, source: number, least: number): Int32Array {
  const level = new Int32Array(head.length).fill(-1);
  level[source] = 0;
  const queue = [source];
  for (const node of queue) {
    for (let arc = integerAt(head, node); arc >= 0; arc = next[arc] ?? -1) {
      const target = to[arc] ?? 0;
      if ((room[arc] ?? 0) > least && integerAt(level, target) < 0) {
        level[target] = integerAt(level, node) + 1;
        queue.push(target);
      }
    }
  }
  return level;
}

/** Sends flow along one path of ascending levels; returns how much. */
function push(
  network: Network,
  level: Int32Array,
  cursor: Int32Array,
  node: number,
  sink: number,
  limit: number,
  least: number,
): number {
  if (node === sink) return limit;
  for (let arc = integerAt(cursor, node); arc >= 0; arc = network.next[arc] ?? -1) {
    cursor[node] = arc;
    const target = network.to[arc] ?? 0;
    const room = network.room[arc] ?? 0;
    if (room <= least || integerAt(level, target) !== integerAt(level, node) + 1) continue;
    const sent = push(network, level, cursor, target, sink, Math.min(limit, room), least);
    if (sent > 0) {
      network.room[arc] = room - sent;
      network.room[arc ^ 1] = (network.room[arc ^ 1] ?? 0) + sent;
      return sent;
    }
  }
  cursor[node] = -1;
  return 0;
}

/** Returns the largest fall of a table when one KC is added, between patterns of at least a weight; 0 if there is none. */
export function largestFall(table: Float64Array, weights: Float64Array, least: number): number {
  let largest = 0;
  for (let pattern = 1; pattern < table.length; pattern += 1) {
    for (let bit = 1; bit <= pattern; bit *= 2) {
      if ((pattern & bit) === 0 || at(weights, pattern) < least || at(weights, pattern - bit) < least)
        continue;
      largest = Math.max(largest, at(table, pattern - bit) - at(table, pattern));
    }
  }
  return largest;
}
