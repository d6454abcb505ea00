import type { KnownMastery } from '../../types.ts';
import { log } from '../ho-cdm-grid-1/arithmetic.ts';
import { at, integerAt } from '../ho-cdm-grid-1/arrays.ts';
import { fromLogarithms } from './posterior.ts';
import type { Block, BlockModel } from './prior.ts';

/** What is known about the KCs of one block. */
interface Known {
  readonly block: Block;
  readonly mask: number;
  /** The patterns of the known KCs that the prior admits, and the probability of each: the product of the known ones, normalized. */
  readonly patterns: Int32Array;
  readonly shares: Float64Array;
}

/** A profile: what is known block by block, in the order of the blocks, and theta given that. */
interface Profile {
  readonly blocks: readonly Known[];
  /** p(g | known mastery), in proportion to w_g * product over blocks of exp(sum over S of q(S) log P(S | g)); NaN if the prior does not admit it. */
  readonly theta: Float64Array;
}

/** Profiles by the array that contains what is known: each is drawn from again and again. */
export type Profiles = WeakMap<readonly KnownMastery[], Profile>;

/** Returns the profile of the known mastery. */
export function profileOf(model: BlockModel, profiles: Profiles, mastery: readonly KnownMastery[]): Profile {
  const profile = profiles.get(mastery) ?? makeProfile(model, mastery);
  profiles.set(mastery, profile);
  return profile;
}

function makeProfile(model: BlockModel, mastery: readonly KnownMastery[]): Profile {
  const { nodes, blocks, blockOf, placeOf } = model;
  const logarithms = model.prior.map(log);
  const byBlock = Map.groupBy(mastery, ({ kc }) => integerAt(blockOf, kc));
  const known = [...byBlock]
    .sort(([a], [b]) => a - b)
    .map(([index, own]): Known => {
      const block = blocks[index] as Block;
      const members = own
        .map(({ kc, probability }) => ({ bit: 1 << integerAt(placeOf, kc), probability }))
        .sort((a, b) => a.bit - b.bit);
      const open = members.filter(({ probability }) => probability > 0 && probability < 1);
      const mask = maskOf(members);
      const certain = maskOf(members.filter(({ probability }) => probability === 1));
      const { patterns, rows } = block.joint(maskOf(open), mask & ~maskOf(open), certain);
      const { shares } = fromLogarithms(
        Float64Array.from(patterns, (pattern) =>
          open.reduce(
            (sum, { bit, probability }) => sum + log((pattern & bit) === 0 ? 1 - probability : probability),
            0,
          ),
        ),
      );
      shares.forEach((share, n) => {
        if (share === 0) return;
        for (let g = 0; g < nodes; g += 1)
          logarithms[g] = at(logarithms, g) + share * log(at(rows, n * nodes + g));
      });
      if (shares.length === 0) logarithms.fill(-Infinity);
      return { block, mask, patterns: patterns.map((pattern) => pattern | certain), shares };
    });
  return { blocks: known, theta: fromLogarithms(logarithms).shares };
}

function maskOf(members: readonly { readonly bit: number }[]): number {
  return members.reduce((mask, { bit }) => mask | bit, 0);
}

/**
 * Draws a pattern of all KCs at a node: in each block first the known KCs, then the others, each given those before it. A KC is mastered if its share
 * of chance is below its probability.
 * @param chance returns a number in [0, 1) for a KC
 * @returns 1 or 0 for each KC
 */
export function drawPattern(
  model: BlockModel,
  profile: Profile,
  node: number,
  chance: (kc: number) => number,
): Uint8Array {
  const mastered = new Uint8Array(model.kcCount);
  const knownOf = new Map(profile.blocks.map((known) => [known.block, known]));
  for (const block of model.blocks) {
    const known = knownOf.get(block);
    let [mask, pattern] = [0, 0];
    /** @param likelihood returns how likely it is that of these KCs exactly those of the pattern are mastered, in proportion */
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
      if (!((mask >>> place) & 1)) draw(place, (of, exactly) => block.probability(of, exactly, node));
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
