import type { Estimate, Outcome } from '../../types.ts';
import { exp, log, sqrt } from '../ho-cdm-grid-1/arithmetic.ts';
import { at, integerAt, weightedSum, weightedSumOfProducts } from '../ho-cdm-grid-1/arrays.ts';
import { MAXIMUM_COMPONENT_KCS } from '../ho-cdm-grid-1/model.ts';
import { addRow, multiplyRow, placesOf, type Block, type BlockModel, type Marginal } from './prior.ts';

/** Below this a sum of products may have lost digits to the edge of the range of doubles. */
const SAFE = 1e-280;

/** The measured KCs of blocks that the answers link, with the distribution of their patterns. */
interface Component {
  readonly parts: readonly Part[];
  /** Model indices of the measured KCs by component bit: by block, and ascending within one. */
  readonly kcs: readonly number[];
  /** The possible patterns, in component bits. */
  readonly codes: Int32Array;
  /** P(pattern | node, answers) at index * nodes + node. */
  readonly rows: Float64Array;
  /** P(at least these KCs mastered | answers) by component bits, once theta is known. */
  readonly supersets: Float64Array;
}

/** What a component contains of one block. */
interface Part {
  readonly index: number;
  readonly block: Block;
  /** The measured KCs of the block. */
  readonly mask: number;
  readonly marginal: Marginal;
  /** Pattern n of the component has pattern floor(n / stride) % (number of them) of the block. */
  readonly stride: number;
}

/** The posterior given the outcomes, in any order. Throws a RangeError on an unknown item or a component that is too large. */
export function estimatePosterior(model: BlockModel, outcomes: readonly Outcome[]): Estimate {
  const { nodes, kcCount } = model;
  const logarithms = model.prior.map(log);
  const components = connect(model, informative(model, outcomes)).map((linked) =>
    solveComponent(model, linked, logarithms),
  );
  const theta = fromLogarithms(logarithms).shares;
  const posterior = locate(model, theta, components);

  const kcPosteriors = new Float64Array(kcCount);
  for (let kc = 0; kc < kcCount; kc += 1) {
    const block = integerAt(model.blockOf, kc);
    const component = components[integerAt(posterior.componentOf, block)];
    const bit = integerAt(posterior.bitOf, kc);
    kcPosteriors[kc] = Math.min(
      1,
      component === undefined
        ? weightedSum(theta, model.mastery, kc * nodes)
        : bit >= 0
          ? at(component.supersets, 1 << bit)
          : weightedSum(theta, rowOf(posterior, [[block, 1 << integerAt(model.placeOf, kc)]]), 0),
    );
  }
  return {
    kcPosteriors,
    thetaPosterior: theta,
    ...scaleOf(model, theta),
    components: [],
    joint: {
      allMastered: (kcs, start, subset) => allMastered(posterior, kcPosteriors, kcs, start, subset),
      numbers: components.reduce((sum, component) => sum + numbersOf(component, nodes), 0),
    },
  };
}

/** Returns how many numbers a component takes: those of its patterns, and for each KC of its blocks that no item has measured those of its conditional. */
function numbersOf({ rows, parts }: Component, nodes: number): number {
  let numbers = rows.length;
  for (const { block, mask, marginal } of parts)
    numbers += (block.kcs.length - placesOf(mask).length) * marginal.patterns.length * nodes * block.work;
  return numbers;
}

/** Mean and standard deviation of the scale. */
export function scaleOf(
  model: BlockModel,
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

/** Returns weights that sum to 1 from their logarithms, and the logarithm of the sum before; NaN if all are -Infinity. */
export function fromLogarithms(logarithms: Float64Array): {
  readonly shares: Float64Array;
  readonly logarithm: number;
} {
  const highest = logarithms.reduce((a, b) => Math.max(a, b), -Infinity);
  const weights = logarithms.map((value) => exp(value - highest));
  let total = 0;
  for (const weight of weights) total += weight;
  return { shares: weights.map((weight) => weight / total), logarithm: highest + log(total) };
}

/** Outcomes that say something, in one order whatever the given one. */
function informative(model: BlockModel, outcomes: readonly Outcome[]): Outcome[] {
  for (const { item } of outcomes) {
    if (!(item in model.groupOf)) throw new RangeError(`estimate: there is no item ${String(item)}`);
  }
  return outcomes
    .filter(({ item }) => model.flat[item] === 0)
    .sort((a, b) => a.item - b.item || Number(a.correct) - Number(b.correct));
}

function kcsOfItem({ groupOf, groupStart, groupKcs }: BlockModel, item: number): Int32Array {
  const group = integerAt(groupOf, item);
  return groupKcs.subarray(integerAt(groupStart, group), integerAt(groupStart, group + 1));
}

/** Blocks that answers link, with their measured KCs. */
interface Linked {
  /** The measured KCs of each block, as its mask; in the order of the blocks. */
  readonly masks: Map<number, number>;
  readonly outcomes: Outcome[];
}

/** Joins the blocks of each item's KCs, in the order of the first block of each component. */
function connect(model: BlockModel, outcomes: readonly Outcome[]): readonly Linked[] {
  const { blockOf, placeOf } = model;
  const parent = new Map<number, number>();
  const masks = new Map<number, number>();
  const root = (block: number): number => {
    let top = block;
    for (let next = parent.get(top); next !== undefined && next !== top; next = parent.get(top)) top = next;
    return top;
  };
  const firstBlock = (item: number): number => integerAt(blockOf, integerAt(kcsOfItem(model, item), 0));
  for (const { item } of outcomes)
    for (const kc of kcsOfItem(model, item)) {
      const block = integerAt(blockOf, kc);
      if (!parent.has(block)) parent.set(block, block);
      masks.set(block, (masks.get(block) ?? 0) | (1 << integerAt(placeOf, kc)));
      const [a, b] = [root(block), root(firstBlock(item))];
      parent.set(Math.max(a, b), Math.min(a, b));
    }
  const components = new Map<number, Linked>();
  for (const block of [...parent.keys()].sort((a, b) => a - b)) {
    const component = components.get(root(block)) ?? { masks: new Map(), outcomes: [] };
    components.set(root(block), component);
    component.masks.set(block, masks.get(block) ?? 0);
  }
  for (const outcome of outcomes) components.get(root(firstBlock(outcome.item)))?.outcomes.push(outcome);
  return [...components.values()];
}

/** Lists the possible patterns of a component with their prior probabilities, as `Component.rows` contains those of the posterior. */
function patternPriors(
  { nodes, blocks }: BlockModel,
  masks: Linked['masks'],
): Pick<Component, 'parts' | 'codes' | 'rows'> {
  let codes = new Int32Array(1);
  let rows = new Float64Array(nodes).fill(1);
  let bits = 0;
  const parts: Part[] = [];
  for (const [index, mask] of masks) {
    const block = blocks[index] as Block;
    const marginal = block.marginal(mask);
    const count = codes.length;
    parts.push({ index, block, mask, marginal, stride: count });
    const longer = new Int32Array(count * marginal.patterns.length);
    const places = placesOf(mask);
    for (let i = 0; i < marginal.patterns.length; i += 1) {
      const pattern = integerAt(marginal.patterns, i);
      let own = 0;
      for (let bit = 0; bit < places.length; bit += 1)
        own |= ((pattern >>> (places[bit] ?? 0)) & 1) << (bits + bit);
      for (let n = 0; n < count; n += 1) longer[i * count + n] = integerAt(codes, n) | own;
    }
    bits += places.length;
    codes = longer;
    rows = productsOf(nodes, rows, marginal.rows);
  }
  return { parts, codes, rows };
}

/** Multiplies each row of the first table by each of the second, which changes more slowly. */
function productsOf(nodes: number, first: Float64Array, second: Float64Array): Float64Array<ArrayBuffer> {
  const products = new Float64Array((first.length / nodes) * second.length);
  let to = 0;
  for (let j = 0; j < second.length; j += nodes)
    for (let i = 0; i < first.length; i += nodes)
      for (let g = 0; g < nodes; g += 1, to += 1) products[to] = at(first, i + g) * at(second, j + g);
  return products;
}

/** Adds to the logarithms of the theta nodes that of P(answers of the component | node), up to one common term. */
function solveComponent(
  model: BlockModel,
  { masks, outcomes }: Linked,
  nodeLogarithms: Float64Array,
): Component {
  const { nodes } = model;
  const kcs = [...masks].flatMap(([index, mask]) =>
    placesOf(mask).map((place) => (model.blocks[index] as Block).kcs[place] ?? -1),
  );
  if (kcs.length > MAXIMUM_COMPONENT_KCS)
    throw new RangeError(`estimate: the answers tie ${kcs.length} KCs together`);
  const { parts, codes, rows } = patternPriors(model, masks);
  const logarithms = logLikelihood(model, kcs, codes, outcomes);
  const likelihood = logarithms.map(exp);
  const totals = sumsOf(nodes, rows, likelihood);
  const columns = new Map<number, Float64Array>();
  for (let g = 0; g < nodes; g += 1) {
    let logarithm = log(at(totals, g));
    if (at(totals, g) < SAFE) {
      // The likelihood hides all patterns that are possible at this node: their products leave the range of doubles.
      const column = fromLogarithms(logarithms.map((value, n) => value + log(at(rows, n * nodes + g))));
      columns.set(g, column.shares);
      logarithm = column.logarithm;
    }
    nodeLogarithms[g] = at(nodeLogarithms, g) + logarithm;
  }
  weighRows(rows, likelihood, totals);
  for (const [g, column] of columns) column.forEach((value, n) => (rows[n * nodes + g] = value));
  return { parts, kcs, codes, rows, supersets: new Float64Array(1 << kcs.length) };
}

/** Returns P(answers | node). */
function sumsOf(nodes: number, rows: Float64Array, likelihood: Float64Array): Float64Array {
  const sums = new Float64Array(nodes);
  for (let n = 0; n < likelihood.length; n += 1) {
    const factor = at(likelihood, n);
    for (let g = 0, i = n * nodes; g < nodes; g += 1, i += 1) sums[g] = at(sums, g) + at(rows, i) * factor;
  }
  return sums;
}

function weighRows(rows: Float64Array, likelihood: Float64Array, totals: Float64Array): void {
  const nodes = totals.length;
  const inverse = totals.map((total) => 1 / total);
  for (let n = 0; n < likelihood.length; n += 1) {
    const factor = at(likelihood, n);
    for (let g = 0, i = n * nodes; g < nodes; g += 1, i += 1)
      rows[i] = Math.min(1, at(rows, i) * factor * at(inverse, g));
  }
}

/** Logarithm of the likelihood of the component's answers for each of its possible patterns, of which the highest is 0. */
function logLikelihood(
  model: BlockModel,
  kcs: readonly number[],
  codes: Int32Array,
  outcomes: readonly Outcome[],
): Float64Array {
  const sums = new Float64Array(codes.length);
  for (const { item, correct } of outcomes) {
    const bits = Int32Array.from(kcsOfItem(model, item), (kc) => kcs.indexOf(kc));
    const size = 1 << bits.length;
    const start = integerAt(model.tableStart, item);
    const terms = new Float64Array(size);
    for (let pattern = 0; pattern < size; pattern += 1) {
      const success =
        start >= 0
          ? at(model.tables, start + pattern)
          : at(pattern === size - 1 ? model.high : model.low, item);
      terms[pattern] = log(correct ? success : 1 - success);
    }
    for (let n = 0; n < sums.length; n += 1) {
      const code = integerAt(codes, n);
      let pattern = 0;
      for (let i = 0; i < bits.length; i += 1) pattern |= ((code >>> integerAt(bits, i)) & 1) << i;
      sums[n] = at(sums, n) + at(terms, pattern);
    }
  }
  const highest = sums.reduce((a, b) => Math.max(a, b), -Infinity);
  return sums.map((sum) => sum - highest);
}

/** The posterior of one set of answers, with what has been worked out from it so far. */
interface Posterior {
  readonly model: BlockModel;
  readonly theta: Float64Array;
  readonly components: readonly Component[];
  /** The component of each block, or -1; and the place of the block among its parts. */
  readonly componentOf: Int32Array;
  readonly partOf: Int32Array;
  /** The component bit of each measured KC, or -1. */
  readonly bitOf: Int32Array;
  /** P(all of some KCs mastered | node, answers) by what they are: numbers for KCs of one block, texts for several of a component. */
  readonly rows: Map<number | string, Float64Array>;
  /** The component's rows, added up over the patterns of its other blocks, by block. */
  readonly folded: Map<number, Float64Array>;
}

function locate(model: BlockModel, theta: Float64Array, components: readonly Component[]): Posterior {
  const componentOf = new Int32Array(model.blocks.length).fill(-1);
  const partOf = new Int32Array(model.blocks.length);
  const bitOf = new Int32Array(model.kcCount).fill(-1);
  components.forEach(({ parts, kcs, codes, rows, supersets }, component) => {
    parts.forEach(({ index }, part) => {
      componentOf[index] = component;
      partOf[index] = part;
    });
    kcs.forEach((kc, bit) => (bitOf[kc] = bit));
    for (let n = 0; n < codes.length; n += 1)
      supersets[integerAt(codes, n)] = weightedSum(theta, rows, n * model.nodes);
    // From P(exactly this pattern) to P(at least these KCs mastered), one KC at a time.
    for (let half = 1; half < supersets.length; half *= 2)
      for (let bits = 0; bits < supersets.length; bits += 1)
        if ((bits & half) === 0) supersets[bits] = at(supersets, bits) + at(supersets, bits + half);
  });
  return { model, theta, components, componentOf, partOf, bitOf, rows: new Map(), folded: new Map() };
}

/** P(pattern of the block's measured KCs | node, answers), in the layout of the part's marginal. */
function foldedRows(
  { folded, model: { nodes } }: Posterior,
  { parts, rows }: Component,
  { index, marginal, stride }: Part,
): Float64Array {
  if (parts.length === 1) return rows;
  const known = folded.get(index);
  if (known !== undefined) return known;
  const count = marginal.patterns.length;
  const sums = new Float64Array(count * nodes);
  for (let i = 0, n = 0; i < rows.length; i += nodes, n += 1)
    addRow(sums, (Math.trunc(n / stride) % count) * nodes, rows, i, nodes);
  folded.set(index, sums);
  return sums;
}

/** P(all of these KCs mastered | node, answers), for KCs of one component. @param entries blocks, each with the mask of its KCs */
function rowOf(
  posterior: Posterior,
  entries: readonly (readonly [block: number, mask: number])[],
): Float64Array {
  const [[index, only]] = entries as readonly [readonly [number, number]];
  const isOne = entries.length === 1;
  const key = isOne ? index * 4096 + only : entries.join(';');
  const known = posterior.rows.get(key);
  if (known !== undefined) return known;
  const { model, components, componentOf, partOf } = posterior;
  const { nodes } = model;
  const component = components[integerAt(componentOf, index)] as Component;
  const needs = entries.map(([block, mask]) => {
    const part = component.parts[integerAt(partOf, block)] as Part;
    const rest = mask & ~part.mask;
    return { part, mask, given: rest === 0 ? undefined : part.block.conditional(part.mask, rest) };
  });
  // Within one block the patterns of the others make no difference.
  const rows = isOne ? foldedRows(posterior, component, (needs[0] as { part: Part }).part) : component.rows;
  const row = new Float64Array(nodes);
  for (let start = 0, n = 0; start < rows.length; start += nodes, n += 1) {
    const product = rows.slice(start, start + nodes);
    const isPart = needs.every(({ part: { marginal, mask: measured, stride }, mask, given }) => {
      const own = isOne ? n : Math.trunc(n / stride) % marginal.patterns.length;
      if ((mask & measured & ~integerAt(marginal.patterns, own)) !== 0) return false;
      if (given !== undefined) multiplyRow(product, given, own * nodes);
      return true;
    });
    if (isPart) addRow(row, 0, product, 0, nodes);
  }
  posterior.rows.set(key, row);
  return row;
}

/** Room for `allMastered`: the blocks of its KCs with their masks, and the rows to be multiplied. */
const entryBlocks = new Int32Array(MAXIMUM_COMPONENT_KCS);
const entryMasks = new Int32Array(MAXIMUM_COMPONENT_KCS);
const partRows: Float64Array[] = Array.from({ length: MAXIMUM_COMPONENT_KCS }, () => new Float64Array(0));
const partOffsets = new Int32Array(MAXIMUM_COMPONENT_KCS);

/**
 * P(all KCs `kcs[start + i]` mastered), over the bits i of the subset, at most 12: given theta the components are independent, and so are the blocks
 * outside them.
 */
function allMastered(
  posterior: Posterior,
  kcPosteriors: Float64Array,
  kcs: ArrayLike<number>,
  start: number,
  subset: number,
): number {
  if (subset === 0) return 1;
  if ((subset & (subset - 1)) === 0) return at(kcPosteriors, kcs[start + 31 - Math.clz32(subset)] as number);
  const { model, theta, components, componentOf, bitOf } = posterior;
  let entries = 0;
  /** The one component whose measured KCs all of them are; -1 if there is no such component. */
  let only = -2;
  let bits = 0;
  for (let left = subset; left !== 0; left &= left - 1) {
    const kc = kcs[start + 31 - Math.clz32(left & -left)] as number;
    const block = integerAt(model.blockOf, kc);
    const bit = integerAt(bitOf, kc);
    const component = bit < 0 ? -1 : integerAt(componentOf, block);
    only = only === -2 || only === component ? component : -1;
    bits |= bit < 0 ? 0 : 1 << bit;
    let entry = 0;
    while (entry < entries && integerAt(entryBlocks, entry) !== block) entry += 1;
    if (entry === entries) {
      entryBlocks[entry] = block;
      entryMasks[entry] = 0;
      entries += 1;
    }
    entryMasks[entry] = integerAt(entryMasks, entry) | (1 << integerAt(model.placeOf, kc));
  }
  if (only >= 0) return Math.min(1, at((components[only] as Component).supersets, bits));
  let parts = 0;
  for (let entry = 0; entry < entries; entry += 1) {
    const block = integerAt(entryBlocks, entry);
    const mask = integerAt(entryMasks, entry);
    if (block < 0) continue;
    const component = integerAt(componentOf, block);
    partOffsets[parts] = 0;
    if (component >= 0) partRows[parts] = rowOfComponent(posterior, component, entry, entries);
    else if ((mask & (mask - 1)) === 0) {
      partRows[parts] = model.mastery;
      partOffsets[parts] =
        ((model.blocks[block] as Block).kcs[31 - Math.clz32(mask)] as number) * model.nodes;
    } else partRows[parts] = (model.blocks[block] as Block).all(mask);
    parts += 1;
  }
  const first = partRows[0] as Float64Array;
  const firstOffset = integerAt(partOffsets, 0);
  if (parts === 1) return Math.min(1, weightedSum(theta, first, firstOffset));
  let rest = theta;
  if (parts > 2) {
    rest = theta.slice();
    for (let part = 2; part < parts; part += 1)
      multiplyRow(rest, partRows[part] as Float64Array, integerAt(partOffsets, part));
  }
  const second = partRows[1] as Float64Array;
  return Math.min(1, weightedSumOfProducts(rest, first, firstOffset, second, integerAt(partOffsets, 1)));
}

/** The row of an entry, and of the later entries of its component, which are marked as taken. */
function rowOfComponent(
  posterior: Posterior,
  component: number,
  entry: number,
  entries: number,
): Float64Array {
  const block = integerAt(entryBlocks, entry);
  const mask = integerAt(entryMasks, entry);
  const together: (readonly [number, number])[] = [[block, mask]];
  for (let other = entry + 1; other < entries; other += 1) {
    const linked = integerAt(entryBlocks, other);
    if (linked < 0 || integerAt(posterior.componentOf, linked) !== component) continue;
    together.push([linked, integerAt(entryMasks, other)]);
    entryBlocks[other] = -1;
  }
  return rowOf(posterior, together);
}
