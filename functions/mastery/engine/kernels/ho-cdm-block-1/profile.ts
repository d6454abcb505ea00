import type { KnownMastery } from '../../types.ts';
import { exp, log } from '../ho-cdm-grid-1/arithmetic.ts';
import { at, integerAt } from '../ho-cdm-grid-1/arrays.ts';
import { normalize, scaleOf } from './posterior.ts';
import type { Block, BlockModel } from './prior.ts';

/** The known KCs of one block, and how likely each of their patterns is that the prior admits: the product of the known probabilities, normalized. */
interface Known {
  readonly block: Block;
  readonly mask: number;
  readonly patterns: Int32Array;
  readonly shares: Float64Array;
}

/** Returns what is known block by block, in the order of the blocks; a block whose prior admits no pattern that the knowledge leaves has shares of NaN. */
function knownBlocks(model: BlockModel, mastery: readonly KnownMastery[]): readonly Known[] {
  const { blocks, blockOf, placeOf } = model;
  const byBlock = Map.groupBy(mastery, ({ kc }) => integerAt(blockOf, kc));
  return [...byBlock.keys()]
    .sort((a, b) => a - b)
    .map((index) => {
      const block = blocks[index] as Block;
      const own = (byBlock.get(index) ?? [])
        .map(({ kc, probability }) => ({ place: integerAt(placeOf, kc), probability }))
        .sort((a, b) => a.place - b.place);
      const mask = own.reduce((sum, { place }) => sum | (1 << place), 0);
      const { patterns } = block.marginal(mask);
      const logarithms = Float64Array.from(patterns, (pattern) =>
        own.reduce(
          (sum, { place, probability }) =>
            sum + log((pattern >>> place) & 1 ? probability : 1 - probability),
          0,
        ),
      );
      return { block, mask, patterns, shares: fromLogarithms(logarithms) };
    });
}

/** Returns weights that sum to 1; NaN if all logarithms are -Infinity. */
function fromLogarithms(logarithms: Float64Array): Float64Array {
  const highest = logarithms.reduce((a, b) => Math.max(a, b), -Infinity);
  return normalize(logarithms.map((value) => exp(value - highest)));
}

/** p(g | known mastery), in proportion to w_g * product over blocks of exp(sum over S of q(S) log P(S | g)); NaN if the prior does not admit it. */
export function knownTheta(model: BlockModel, mastery: readonly KnownMastery[]): Float64Array {
  const { nodes } = model;
  const logarithms = model.prior.map(log);
  for (const { block, mask, patterns, shares } of knownBlocks(model, mastery)) {
    const { rows } = block.marginal(mask);
    for (let n = 0; n < patterns.length; n += 1) {
      const share = at(shares, n);
      if (share === 0) continue;
      for (let g = 0; g < nodes; g += 1)
        logarithms[g] = at(logarithms, g) + share * log(at(rows, n * nodes + g));
    }
  }
  return fromLogarithms(logarithms);
}

/** E(V | known mastery). */
export function knownScale(model: BlockModel, mastery: readonly KnownMastery[]): number {
  return scaleOf(model, knownTheta(model, mastery)).scaleScore;
}

/**
 * Draws a pattern of all KCs at a node: in each block first the known KCs, then the others, each given those before it. A KC is mastered if its share
 * of chance is below its probability.
 * @param chance returns a number in [0, 1) for a KC
 * @returns 1 or 0 for each KC
 */
export function drawPattern(
  model: BlockModel,
  mastery: readonly KnownMastery[],
  node: number,
  chance: (kc: number) => number,
): Uint8Array {
  const mastered = new Uint8Array(model.kcCount);
  const knownOf = new Map(knownBlocks(model, mastery).map((known) => [known.block, known]));
  for (const block of model.blocks) {
    const known = knownOf.get(block);
    let [mask, pattern] = [0, 0];
    /** @param likelihood returns how likely these KCs, and of them exactly the pattern, are in proportion */
    const draw = (place: number, likelihood: (mask: number, pattern: number) => number): void => {
      const bit = 1 << place;
      const kc = block.kcs[place] as number;
      const probability = likelihood(mask | bit, pattern | bit) / likelihood(mask, pattern);
      mask |= bit;
      if (!(chance(kc) < probability)) return;
      pattern |= bit;
      mastered[kc] = 1;
    };
    if (known !== undefined)
      block.kcs.forEach((_, place) => {
        if ((known.mask >>> place) & 1) draw(place, (of, exactly) => shareOf(known, of, exactly));
      });
    block.kcs.forEach((_, place) => {
      if (!((mask >>> place) & 1))
        draw(place, (of, exactly) => (of === 0 ? 1 : block.probability(of, exactly, node)));
    });
  }
  return mastered;
}

function shareOf({ patterns, shares }: Known, mask: number, pattern: number): number {
  let sum = 0;
  for (let n = 0; n < patterns.length; n += 1)
    if ((integerAt(patterns, n) & mask) === pattern) sum += at(shares, n);
  return sum;
}
