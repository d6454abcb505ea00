import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import { stream } from '#shared/kernel/random-stream.ts';
import type { Ranked } from './ranking.ts';

/** How a policy avoids offering the same few items to every learner. All draws derive from the run's seed: the same run repeats the same draws. */
export type Exposure =
  /** One of the `size` best, or of all when there are fewer (Kingsbury and Zara 1989). */
  | { readonly method: 'randomesque'; readonly size: number }
  /** The best by a sum of gain and chance, in which the share of chance falls to 0 over the offers (Revuelta and Ponsoda 1998). */
  | { readonly method: 'progressive' }
  /**
   * The best item that passes its own draw; an item that fails is set aside for the run (Sympson and Hetter 1985). The record maps a QTI identifier
   * to the probability of passing; an item without an entry always passes. If none passes, the best item.
   */
  | { readonly method: 'sympson_hetter'; readonly probabilities: ReadonlyMap<string, number> };

/** The inputs of an offer's draws. */
export interface DrawKey {
  readonly runSeed: string;
  /** Sequence number of the offer, from 1. */
  readonly sequence: number;
}

/** Draws one of the first `size`. */
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
 * Returns the share of chance in the weight of each item of the model: (1 - s) R, where R is drawn anew for each offer from 0 to the highest gain.
 * Every item has a draw, so that its draw does not depend on which other items may be offered.
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

/** Returns the first item that passes its draw, or the best if none does. An item's draw is the same throughout the run. */
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

/** Returns a whole number below 2^48: the first 48 bits of the SHA-256 of the text. */
function draw(text: string): number {
  return parseInt(sha256Hex(text).slice(0, 12), 16);
}
