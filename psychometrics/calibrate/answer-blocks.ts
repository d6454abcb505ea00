/**
 * The parts that rows of answers share. Items form blocks, blocks form larger ones, and each block lists its distinct sub-rows: a product over items is
 * computed once per distinct sub-row instead of once per row, and a sum over rows is passed down the same way. Both cost `cells` x 2^K.
 */
import { answersOf, type Responses } from './model.ts';
import { at, integerAt } from './numbers.ts';

/** Some adjacent items with their distinct sub-rows of answers. */
export interface Block {
  readonly size: number;
  /** The item of a block of one; its sub-rows are answers: `answer[subRow]` is 1, 0 or -1. */
  readonly item: number | undefined;
  readonly answer: Int8Array;
  /** The two halves of any other block: indices of earlier blocks, and the sub-row of each half by own sub-row. */
  readonly halves: readonly [Half, Half] | undefined;
  /** Likelihoods of the sub-rows by pattern, `size` x 2^K, which each E-step overwrites. */
  readonly values: Float64Array;
}

/** A block within a larger one: its index, and its sub-row for each sub-row (or row) of the larger one. */
export interface Half {
  readonly block: number;
  readonly of: Int32Array;
}

/** All blocks, halves before wholes, and those that together make up a row. */
export interface AnswerBlocks {
  readonly blocks: readonly Block[];
  readonly top: readonly Half[];
  /** Sub-rows of all blocks, and rows for each block of `top`: the E-step costs this many times 2^K. */
  readonly cells: number;
}

/** The most cells of a block's work space: 8 MiB. */
const LARGEST_BLOCK = 2 ** 20;

const known = new WeakMap<Responses, Map<number, AnswerBlocks>>();

/** Returns the blocks of these answers, computed once for each number of patterns. */
export function answerBlocks(responses: Responses, patterns: number): AnswerBlocks {
  const byPatterns = known.get(responses) ?? new Map<number, AnswerBlocks>();
  known.set(responses, byPatterns);
  const blocks = byPatterns.get(patterns) ?? blocksOf(responses, patterns);
  byPatterns.set(patterns, blocks);
  return blocks;
}

/** Merges neighbours, level by level, while a merged block has at most half as many sub-rows as there are rows. */
function blocksOf(responses: Responses, patterns: number): AnswerBlocks {
  const rows = responses.counts.length;
  const blocks: Block[] = [];
  let cells = 0;
  const add = (block: Omit<Block, 'values'>, of: Int32Array): Half => {
    cells += block.size;
    return { block: blocks.push({ ...block, values: new Float64Array(block.size * patterns) }) - 1, of };
  };
  let level = Array.from({ length: responses.items }, (_, item): Half => {
    const { of, first } = distinct(
      Float64Array.from({ length: rows }, (__, row) => integerAt(answersOf(responses, row), item)),
    );
    return add({ size: first.length, item, answer: Int8Array.from(first), halves: undefined }, of);
  });
  for (let merged = true; merged;) {
    merged = false;
    const next: Half[] = [];
    for (let n = 0; n < level.length; n += 2) {
      const [left, right] = [level[n], level[n + 1]];
      if (left === undefined || right === undefined) {
        next.push(...[left ?? right].filter((half) => half !== undefined));
        continue;
      }
      const width = blocks[right.block]?.size ?? 1;
      const { of, first } = distinct(
        Float64Array.from(left.of, (own, row) => own * width + integerAt(right.of, row)),
      );
      if (2 * first.length > rows || first.length * patterns > LARGEST_BLOCK) {
        next.push(left, right);
        continue;
      }
      merged = true;
      const halves = [
        { block: left.block, of: Int32Array.from(first, (key) => Math.floor(key / width)) },
        { block: right.block, of: Int32Array.from(first, (key) => key % width) },
      ] as const;
      next.push(add({ size: first.length, item: undefined, answer: new Int8Array(), halves }, of));
    }
    level = next;
  }
  return { blocks, top: level, cells: cells + rows * level.length };
}

/** Numbers the distinct keys in the order of their first. */
function distinct(keys: Float64Array): { readonly of: Int32Array; readonly first: readonly number[] } {
  const numbers = new Map<number, number>();
  const of = Int32Array.from(keys, (key) => {
    const number = numbers.get(key) ?? numbers.size;
    numbers.set(key, number);
    return number;
  });
  return { of, first: [...numbers.keys()] };
}

/** Fills the work spaces with products: the likelihood of each sub-row by pattern. `success` contains P(correct) by pattern for each item. */
export function multiplyUp({ blocks }: AnswerBlocks, success: readonly Float64Array[]): void {
  for (const { item, answer, halves, values, size } of blocks) {
    const patterns = values.length / size;
    if (halves === undefined) {
      const own = success[item ?? 0] ?? new Float64Array();
      for (let n = 0; n < size; n += 1) {
        const given = integerAt(answer, n);
        for (let a = 0; a < patterns; a += 1)
          values[n * patterns + a] = given < 0 ? 1 : given === 1 ? at(own, a) : 1 - at(own, a);
      }
      continue;
    }
    const [left, right] = [blocks[halves[0].block]?.values, blocks[halves[1].block]?.values];
    if (left === undefined || right === undefined) continue;
    for (let n = 0; n < size; n += 1) {
      const l = integerAt(halves[0].of, n) * patterns;
      const r = integerAt(halves[1].of, n) * patterns;
      const own = n * patterns;
      for (let a = 0; a < patterns; a += 1) values[own + a] = at(left, l + a) * at(right, r + a);
    }
  }
}

/** Passes sums of the top blocks, sub-row x pattern, down to the blocks of one item. All other sums have to be 0. */
export function addDown({ blocks }: AnswerBlocks, sums: readonly Float64Array[], patterns: number): void {
  for (let whole = blocks.length - 1; whole >= 0; whole -= 1) {
    const own = sums[whole] ?? new Float64Array();
    for (const { block, of } of blocks[whole]?.halves ?? []) {
      const part = sums[block] ?? new Float64Array();
      for (let n = 0; n < of.length; n += 1) {
        const from = n * patterns;
        const to = integerAt(of, n) * patterns;
        for (let a = 0; a < patterns; a += 1) part[to + a] = at(part, to + a) + at(own, from + a);
      }
    }
  }
}
