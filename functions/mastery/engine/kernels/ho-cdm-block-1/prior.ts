import type { ModelParameters, PriorBlock, SaturatedBlock, TableBlock } from '../../types.ts';
import { exp, log, logistic, sqrt } from '../ho-cdm-grid-1/arithmetic.ts';
import { at, integerAt } from '../ho-cdm-grid-1/arrays.ts';
import { compileParameters, type CompiledParameters } from '../ho-cdm-grid-1/model.ts';

/** P(KC mastered | its prerequisites, ability) stays inside [FLOOR, 1 - FLOOR], as the curves of independent KCs do. */
const FLOOR = 1e-6;

/** The grid over the part of a strand's ability that theta does not explain, in standard deviations. */
const STRAND_NODES = 31;
const STRAND_RANGE = 5;
/** Measured: far less than its nodes, since a model keeps most of what it worked out. */
const STRAND_WORK = 2;

/** The most numbers that a model keeps of what it worked out from its blocks (32 MB); beyond it forgets all of them. */
const MOST_KEPT = 4_194_304;

/** Some KCs of a block: which of their patterns are possible at all, and P(pattern | node) at index * nodes + node. */
export interface Marginal {
  /** Ascending. Bit i is set if the block's i-th KC is mastered. */
  readonly patterns: Int32Array;
  readonly rows: Float64Array;
}

/** The prior of KCs that depend on each other given theta. A mask selects KCs of the block: bit i its i-th. */
export interface Block {
  /** Model indices, ascending. */
  readonly kcs: readonly number[];
  readonly marginal: (mask: number) => Marginal;
  /** P(all KCs of the mask mastered | node) of each node. */
  readonly all: (mask: number) => Float64Array;
  /** P(all KCs of `rest` mastered | pattern of the KCs of `mask`, node), in the layout of `marginal(mask).rows`; the masks share no KC. */
  readonly conditional: (mask: number, rest: number) => Float64Array;
  /** As `marginal`, together with the event that of the KCs of `fixed` exactly those of `pattern` are mastered; the masks share no KC. */
  readonly joint: (mask: number, fixed: number, pattern: number) => Marginal;
  /** P(of the mask's KCs exactly those of the pattern mastered | node). */
  readonly probability: (mask: number, pattern: number, node: number) => number;
  /** What a number of a conditional costs, in numbers of a posterior: a strand sums it over its own grid. */
  readonly work: number;
}

/** The parameters as flat arrays, with the prior in blocks. `mastery` contains the marginal probabilities of all KCs. */
export interface BlockModel extends CompiledParameters {
  /** In the order of their first KCs. A KC that the calibration puts in no block is a block of its own. */
  readonly blocks: readonly Block[];
  readonly blockOf: Int32Array;
  /** The bit of each KC in the masks of its block. */
  readonly placeOf: Int32Array;
}

/** Lays parameters without defects out. It works out each KC's own probabilities; the joint ones of a block only once they are needed. */
export function compileBlocks(parameters: ModelParameters): BlockModel {
  const layout = compileParameters(parameters);
  const { nodes, kcCount } = layout;
  const kcIndex = new Map(parameters.kcs.map(({ guid }, kc) => [guid, kc]));
  const cache = createCache();
  const mastery = Float64Array.from(layout.mastery);
  const members = (parameters.blocks ?? []).map((block) => {
    const own = block.kcs.map((guid) => kcIndex.get(guid) ?? -1);
    return { own, kcs: own.toSorted((a, b) => a - b), block };
  });
  const bound = new Set(members.flatMap(({ own }) => own));
  const blocks: Block[] = [];
  for (let kc = 0; kc < kcCount; kc += 1) {
    if (bound.has(kc)) continue;
    const full = (): Marginal => {
      const chance = mastery.subarray(kc * nodes, (kc + 1) * nodes);
      const rows = new Float64Array(2 * nodes);
      rows.set(
        chance.map((pi) => 1 - pi),
        0,
      );
      rows.set(chance, nodes);
      return { patterns: Int32Array.of(0, 1), rows };
    };
    blocks.push(makeBlock(nodes, [kc], listed(nodes, full), cache));
  }
  for (const { own, kcs, block } of members) {
    const made = makeBlock(nodes, kcs, formOf(parameters, layout, block, own, kcs, cache), cache);
    blocks.push(made);
    kcs.forEach((kc, place) => mastery.set(made.all(1 << place), kc * nodes));
  }
  blocks.sort((a, b) => (a.kcs[0] ?? 0) - (b.kcs[0] ?? 0));
  const blockOf = new Int32Array(kcCount);
  const placeOf = new Int32Array(kcCount);
  blocks.forEach(({ kcs }, index) => {
    kcs.forEach((kc, place) => {
      blockOf[kc] = index;
      placeOf[kc] = place;
    });
  });
  return { ...layout, mastery, blocks, blockOf, placeOf };
}

/** What a form of prior must be able to compute; `makeBlock` keeps results. `all` is present where there is a shorter way than `joint`. */
type Form = Pick<Block, 'joint' | 'probability'> & Partial<Pick<Block, 'all' | 'work'>>;

function makeBlock(nodes: number, kcs: readonly number[], form: Form, { memo }: Cache): Block {
  const { joint, probability, all = (mask) => onlyRow(nodes, joint(0, mask, mask)), work = 1 } = form;
  const marginal = memo(
    (mask) => joint(mask, 0, 0),
    ({ rows }) => rows.length,
  );
  const lengthOf = (rows: Float64Array): number => rows.length;
  const conditionals = memo((key) => {
    const rest = key & 4095;
    const given = marginal(key >>> 12);
    const both = joint(key >>> 12, rest, rest);
    const ratios = new Float64Array(given.rows.length);
    both.patterns.forEach((pattern, index) => {
      const start = given.patterns.indexOf(pattern) * nodes;
      for (let g = 0; g < nodes; g += 1) {
        const weight = at(given.rows, start + g);
        if (weight > 0) ratios[start + g] = Math.min(1, at(both.rows, index * nodes + g) / weight);
      }
    });
    return ratios;
  }, lengthOf);
  return {
    kcs,
    marginal,
    all: memo((mask) => all(mask).map((value) => Math.min(1, value)), lengthOf),
    conditional: (mask, rest) => conditionals((mask << 12) | rest),
    joint,
    probability,
    work,
  };
}

/** Returns the row of an event that has one pattern, or none: then it is impossible. */
function onlyRow(nodes: number, { rows }: Marginal): Float64Array {
  return rows.length === 0 ? new Float64Array(nodes) : rows;
}

/** @param own the KCs in the block's own order @param kcs the same, ascending */
function formOf(
  parameters: ModelParameters,
  { nodes, mastery }: CompiledParameters,
  block: PriorBlock,
  own: readonly number[],
  kcs: readonly number[],
  cache: Cache,
): Form {
  /** The place among the ascending KCs of each KC in the block's own order. */
  const places = own.map((kc) => kcs.indexOf(kc));
  const points = thetaPoints(parameters.theta);
  const { memo } = cache;
  const keeping = (full: () => Marginal): Form => {
    const kept = memo(full, ({ rows }) => rows.length);
    return listed(nodes, () => kept(0));
  };
  switch (block.form) {
    case 'hierarchy': {
      const curves = own.map((kc) => mastery.subarray(kc * nodes, (kc + 1) * nodes));
      const needed = block.prerequisites.map((guids) =>
        guids.reduce((mask, guid) => mask | (1 << block.kcs.indexOf(guid)), 0),
      );
      return {
        ...keeping(() => inOrder(nodes, places, closedPatterns(nodes, curves, needed))),
        all: (mask) => allOfHierarchy(nodes, places, curves, needed, mask),
      };
    }
    case 'saturated':
      return keeping(() => inOrder(nodes, places, saturatedPatterns(points, block)));
    case 'table':
      return keeping(() => inOrder(nodes, places, tablePatterns(nodes, block)));
    case 'strand': {
      const abilities = strandAbilities(parameters.theta, points, block.correlation);
      const curves = memo(
        (place) => {
          const { slope, location } = parameters.kcs[kcs[place] ?? -1] as ModelParameters['kcs'][number];
          return abilities.map((ability) => clamped(logistic(slope * (ability - location))));
        },
        (rows) => rows.length,
      );
      return { ...strandForm(nodes, curves), work: STRAND_WORK };
    }
  }
}

function clamped(probability: number): number {
  return Math.min(1 - FLOOR, Math.max(FLOOR, probability));
}

function thetaPoints({ nodes, min, max }: ModelParameters['theta']): Float64Array {
  return Float64Array.from({ length: nodes }, (_, g) => min + (g * (max - min)) / (nodes - 1));
}

/** A prior given as the list of its possible patterns. */
function listed(nodes: number, full: () => Marginal): Form {
  return {
    joint: (mask, fixed, wanted) => {
      const whole = full();
      const chosen = [...whole.patterns.keys()].filter(
        (n) => (integerAt(whole.patterns, n) & fixed) === wanted,
      );
      const ownOf = (n: number): number => integerAt(whole.patterns, n) & mask;
      const patterns = Int32Array.from(new Set(chosen.map(ownOf))).sort();
      const index = new Map(Array.from(patterns, (pattern, i) => [pattern, i]));
      const rows = new Float64Array(patterns.length * nodes);
      for (const n of chosen) addRow(rows, (index.get(ownOf(n)) ?? -1) * nodes, whole.rows, n * nodes, nodes);
      return { patterns, rows };
    },
    probability: (mask, wanted, node) => {
      const { patterns, rows } = full();
      let sum = 0;
      patterns.forEach((pattern, i) => {
        if ((pattern & mask) === wanted) sum += at(rows, i * nodes + node);
      });
      return sum;
    },
  };
}

/** Adds a row of one table to a row of another. */
export function addRow(
  sums: Float64Array,
  offset: number,
  rows: Float64Array,
  first: number,
  nodes: number,
): void {
  for (let g = 0; g < nodes; g += 1) sums[offset + g] = at(sums, offset + g) + at(rows, first + g);
}

/** Moves bit i of each pattern to `places[i]`, and puts the patterns in ascending order. */
function inOrder(nodes: number, places: readonly number[], { patterns, rows }: Marginal): Marginal {
  const moved = Array.from(patterns, (pattern, index) => {
    const bits = places.reduce((sum, place, bit) => sum | (((pattern >>> bit) & 1) << place), 0);
    return { bits, index };
  }).sort((a, b) => a.bits - b.bits);
  const sorted = new Float64Array(rows.length);
  moved.forEach(({ index }, to) => {
    sorted.set(rows.subarray(index * nodes, (index + 1) * nodes), to * nodes);
  });
  return { patterns: Int32Array.from(moved, ({ bits }) => bits), rows: sorted };
}

/** Lists the patterns that contain all prerequisites of their KCs; a chain of n KCs has n + 1. @param needed a mask for each KC */
function closedPatterns(nodes: number, curves: readonly Float64Array[], needed: readonly number[]): Marginal {
  let patterns = [{ pattern: 0, row: new Float64Array(nodes).fill(1) }];
  curves.forEach((curve, bit) => {
    const mask = needed[bit] ?? 0;
    patterns = patterns.flatMap(({ pattern, row }) =>
      (pattern & mask) === mask
        ? [
            { pattern, row: row.map((value, g) => value * (1 - at(curve, g))) },
            { pattern: pattern | (1 << bit), row: row.map((value, g) => value * at(curve, g)) },
          ]
        : [{ pattern, row }],
    );
  });
  return gathered(nodes, patterns);
}

function gathered(
  nodes: number,
  list: readonly { readonly pattern: number; readonly row: ArrayLike<number> }[],
): Marginal {
  const rows = new Float64Array(list.length * nodes);
  list.forEach(({ row }, index) => {
    rows.set(row, index * nodes);
  });
  return { patterns: Int32Array.from(list, ({ pattern }) => pattern), rows };
}

/** Returns the product of the steps that lead to these KCs: all their prerequisites, and what those need. */
function allOfHierarchy(
  nodes: number,
  places: readonly number[],
  curves: readonly Float64Array[],
  needed: readonly number[],
  mask: number,
): Float64Array {
  let wanted = 0;
  places.forEach((place, bit) => (wanted |= ((mask >>> place) & 1) << bit));
  for (let bit = curves.length - 1; bit >= 0; bit -= 1) if ((wanted >>> bit) & 1) wanted |= needed[bit] ?? 0;
  const row = new Float64Array(nodes).fill(1);
  curves.forEach((curve, bit) => {
    if ((wanted >>> bit) & 1) multiplyRow(row, curve, 0);
  });
  return row;
}

/** Multiplies a row by another that begins at `offset`. */
export function multiplyRow(row: Float64Array, rows: Float64Array, offset: number): void {
  for (let g = 0; g < row.length; g += 1) row[g] = at(row, g) * at(rows, offset + g);
}

function saturatedPatterns(points: Float64Array, { weights, slope }: SaturatedBlock): Marginal {
  const possible = [...weights.keys()].filter((pattern) => (weights[pattern] ?? 0) > 0);
  const exponents = possible.map((pattern) => {
    const rate = slope * bitCount(pattern);
    const weight = log(weights[pattern] ?? NaN);
    return points.map((point) => weight + rate * point);
  });
  const highest = points.map((_, g) =>
    exponents.reduce((most, exponent) => Math.max(most, at(exponent, g)), -Infinity),
  );
  const rows = exponents.map((exponent) => exponent.map((value, g) => exp(value - at(highest, g))));
  return normalizedRows(points.length, possible, rows);
}

/** Divides the rows by their sum at each node. */
function normalizedRows(nodes: number, patterns: readonly number[], rows: readonly Float64Array[]): Marginal {
  const totals = new Float64Array(nodes);
  for (const row of rows) addRow(totals, 0, row, 0, nodes);
  return gathered(
    nodes,
    patterns.map((pattern, i) => ({
      pattern,
      row: (rows[i] as Float64Array).map((value, g) => value / at(totals, g)),
    })),
  );
}

function tablePatterns(nodes: number, { probabilities, kcs }: TableBlock): Marginal {
  const possible = Array.from({ length: 1 << kcs.length }, (_, pattern) => pattern).filter((pattern) =>
    probabilities.some((row) => (row[pattern] ?? 0) > 0),
  );
  const rows = possible.map((pattern) => Float64Array.from(probabilities, (row) => row[pattern] ?? NaN));
  return normalizedRows(nodes, possible, rows);
}

function bitCount(pattern: number): number {
  let count = 0;
  for (let left = pattern; left !== 0; left &= left - 1) count += 1;
  return count;
}

/** Returns the strand's ability for each pair of nodes: that of the strand's grid z and that of theta g, at z * nodes + g. */
function strandAbilities(
  { mean, sd }: ModelParameters['theta'],
  points: Float64Array,
  correlation: number,
): Float64Array {
  const own = sd * sqrt(1 - correlation * correlation);
  const abilities = new Float64Array(STRAND_NODES * points.length);
  for (let z = 0; z < STRAND_NODES; z += 1)
    points.forEach(
      (point, g) =>
        (abilities[z * points.length + g] = mean + correlation * (point - mean) + own * strandPoint(z)),
    );
  return abilities;
}

function strandPoint(z: number): number {
  return STRAND_RANGE * ((2 * z) / (STRAND_NODES - 1) - 1);
}

/** Trapezoid weights of a standard normal density, normalized. */
const strandWeights = ((): Float64Array => {
  const weights = Float64Array.from({ length: STRAND_NODES }, (_, z) => {
    const edge = z === 0 || z === STRAND_NODES - 1 ? 0.5 : 1;
    return edge * exp(-0.5 * strandPoint(z) * strandPoint(z));
  });
  let total = 0;
  for (const weight of weights) total += weight;
  return weights.map((weight) => weight / total);
})();

/** @param curves for each KC of the block: P(mastered) at z * nodes + g */
function strandForm(nodes: number, curves: (place: number) => Float64Array): Form {
  return {
    joint: (mask, fixed, wanted) => {
      const places = placesOf(mask);
      const size = 1 << places.length;
      const rows = new Float64Array(size * nodes);
      const table = new Float64Array(size * nodes);
      for (let z = 0; z < STRAND_NODES; z += 1) {
        const first = z * nodes;
        table.fill(at(strandWeights, z), 0, nodes);
        for (const place of placesOf(fixed)) {
          const curve = curves(place);
          const isMastered = ((wanted >>> place) & 1) === 1;
          for (let g = 0; g < nodes; g += 1) {
            const pi = at(curve, first + g);
            table[g] = at(table, g) * (isMastered ? pi : 1 - pi);
          }
        }
        places.forEach((place, bit) => {
          const half = (1 << bit) * nodes;
          const curve = curves(place);
          for (let low = 0; low < half; low += nodes)
            for (let g = 0; g < nodes; g += 1) {
              const value = at(table, low + g);
              const pi = at(curve, first + g);
              table[low + half + g] = value * pi;
              table[low + g] = value * (1 - pi);
            }
        });
        addRow(rows, 0, table, 0, size * nodes);
      }
      const patterns = new Int32Array(size);
      for (let pattern = 1; pattern < size; pattern += 1) {
        const lowest = 31 - Math.clz32(pattern & -pattern);
        patterns[pattern] = integerAt(patterns, pattern & (pattern - 1)) | (1 << (places[lowest] ?? 0));
      }
      return { patterns, rows };
    },
    probability: (mask, pattern, node) => {
      const places = placesOf(mask);
      let sum = 0;
      for (let z = 0; z < STRAND_NODES; z += 1) {
        let product = at(strandWeights, z);
        for (const place of places) {
          const pi = at(curves(place), z * nodes + node);
          product *= (pattern >>> place) & 1 ? pi : 1 - pi;
        }
        sum += product;
      }
      return sum;
    },
  };
}

/** Returns the bits of a mask, ascending. */
export function placesOf(mask: number): readonly number[] {
  const places: number[] = [];
  for (let left = mask; left !== 0; left &= left - 1) places.push(31 - Math.clz32(left & -left));
  return places;
}

/** Keeps results up to `MOST_KEPT` numbers. What it forgets is worked out again, to the same bits. */
interface Cache {
  /** @param sizeOf returns how many numbers a result contains */
  readonly memo: <T extends object>(
    make: (key: number) => T,
    sizeOf: (result: T) => number,
  ) => (key: number) => T;
}

function createCache(): Cache {
  const maps: Map<number, object>[] = [];
  let numbers = 0;
  const clear = (): void => {
    for (const map of maps) map.clear();
    numbers = 0;
  };
  return {
    memo: (make, sizeOf) => {
      const results = new Map<number, ReturnType<typeof make>>();
      maps.push(results);
      return (key) => {
        const known = results.get(key);
        if (known !== undefined) return known;
        const result = make(key);
        if (numbers + sizeOf(result) > MOST_KEPT) clear();
        numbers += sizeOf(result);
        results.set(key, result);
        return result;
      };
    },
  };
}
