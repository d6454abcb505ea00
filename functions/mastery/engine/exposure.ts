import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import { stream } from '#shared/kernel/random-stream.ts';
import type { Ranked } from './ranking.ts';

/** How a policy keeps the same few items from being offered to everybody. All draws are the run's own: the same run draws the same again. */
export type Exposure =
  /** One of the `size` best, or of all when there are fewer (Kingsbury and Zara 1989). */
  | { readonly method: 'randomesque'; readonly size: number }
  /** The best by a sum of gain and chance, in which the share of chance falls to nothing with the offers (Revuelta and Ponsoda 1998). */
  | { readonly method: 'progressive' }
  /**
   * The best item that passes its own draw; one that fails is set aside for the run (Sympson and Hetter 1985). By QTI identifier the
   * probability to pass; an item without one always does. When none passes, the best.
   */
  | { readonly method: 'sympson_hetter'; readonly probabilities: ReadonlyMap<string, number> };

/** What the draws of an offer depend on. */
export interface DrawKey {
  readonly runSeed: string;
  /** Sequence number of the offer, from 1. */
  readonly sequence: number;
}

/** One of the first `size`. */
export function randomesque(
  ranked: Iterable<Ranked>,
  size: number,
  { runSeed, sequence }: DrawKey,
): Ranked | undefined {
  const best: Ranked[] = [];
  for (const candidate of ranked) if (best.push(candidate) === size) break;
  if (best.length < 2) return best[0];
  return best[draw(`randomesque|${runSeed}|${sequence}`) % best.length];
}

/**
 * The share of chance in the weight of each item of the model: (1 - s) R, where R is drawn anew for each offer from 0 to the highest gain.
 * Every item has a draw, so that one item's does not depend on which others may be offered.
 * @param share s, the share of the test's items that are offered already
 */
export function progressiveChances(
  items: number,
  share: number,
  highest: number,
  { runSeed, sequence }: DrawKey,
): Float64Array {
  const next = stream(`progressive|${runSeed}|${sequence}`);
  const chances = new Float64Array(items);
  for (let item = 0; item < items; item += 1) chances[item] = (1 - share) * next() * highest;
  return chances;
}

/** The first that passes its draw, the best when none does. An item's draw is the same throughout the run. */
export function sympsonHetter(
  ranked: Iterable<Ranked>,
  runSeed: string,
  probabilityOf: (item: number) => number | undefined,
  idOf: (item: number) => string,
): Ranked | undefined {
  let best: Ranked | undefined;
  for (const candidate of ranked) {
    best ??= candidate;
    const probability = probabilityOf(candidate.item);
    if (probability === undefined) return candidate;
    if (draw(`sympson_hetter|${runSeed}|${idOf(candidate.item)}`) < probability * DRAWS) return candidate;
  }
  return best;
}

const DRAWS = 281_474_976_710_656;

/** A whole number below 2^48: so many bits of the SHA-256 of the text. */
function draw(text: string): number {
  return parseInt(sha256Hex(text).slice(0, 12), 16);
}
