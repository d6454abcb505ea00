import type { ModelParameters } from '#functions/mastery/engine/index.ts';
import { stream } from '#shared/kernel/random-stream.ts';

/** The size of a simulated world. */
export interface WorldSize {
  readonly items: number;
  readonly kcs: number;
}

/** A simulated item. Conjunctive: success needs every KC (DINA). Additive: every KC adds the same. */
export interface WorldItem {
  readonly id: string;
  readonly kcs: readonly number[];
  readonly table: 'conjunctive' | 'additive';
  /** P(correct) without any of its KCs. */
  readonly guess: number;
  /** P(wrong) with all of them. */
  readonly slip: number;
}

/** A simulated bank with its calibration. Abilities are in standard deviations of the population that it was calibrated on. */
export interface World {
  readonly name: string;
  readonly kcs: readonly { readonly slope: number; readonly location: number }[];
  readonly items: readonly WorldItem[];
}

/** The lowest and the highest value of a uniform draw. */
type Range = readonly [low: number, high: number];

/** The quality of the items. */
export interface ItemQuality {
  readonly guess: Range;
  readonly slip: Range;
}

/** Items that were written, reviewed and tried out with care, as the aims assume. */
export const GOOD_ITEMS: ItemQuality = { guess: [0.05, 0.15], slip: [0.05, 0.15] };

/** Items as they often are in four-option tests. */
export const WEAK_ITEMS: ItemQuality = { guess: [0.15, 0.3], slip: [0.1, 0.25] };

/** How steeply mastery rises with ability, and the ability at which half of the learners have mastered a KC. */
const SLOPE: Range = [1.5, 2.5];
const LOCATION: Range = [-2, 2];

/** The size of a strand: an item with several KCs takes them from one strand, as in real curricula. */
export const STRAND = 5;

/** Shares of items with one KC and with up to two; the others have three. */
const ONE_KC = 0.5;
const UP_TO_TWO_KCS = 0.85;

/** Share of items that are conjunctive. */
const CONJUNCTIVE = 0.8;

const GRID = { nodes: 61, min: -6, max: 6, mean: 0, sd: 1 } as const;

/** Returns what the reader of a study must know about its worlds, in the order of the draws. */
export function assumptions({ guess, slip }: ItemQuality): readonly string[] {
  const range = ([low, high]: Range): string => `${low} to ${high}`;
  const percent = (share: number): string => `${Math.round(100 * share)} %`;
  return [
    'Ability is drawn from the normal distribution with mean 0 and standard deviation 1, not from the grid of the engine.',
    `P(KC mastered) = 1/(1 + exp(−slope · (ability − location))), slope ${range(SLOPE)}, location ${range(LOCATION)}; KCs are independent given ability.`,
    `Items: ${percent(ONE_KC)} measure one KC, ${percent(UP_TO_TWO_KCS - ONE_KC)} two, ${percent(1 - UP_TO_TWO_KCS)} three of the same strand of ${STRAND} KCs; ${percent(CONJUNCTIVE)} are conjunctive (DINA), the others additive.`,
    `Guess ${range(guess)}, slip ${range(slip)}. All values are drawn uniformly from their ranges.`,
    `Unless a row states otherwise, the engine uses the true parameters, on ${GRID.nodes} nodes from ${GRID.min} to ${GRID.max}.`,
  ];
}

/** Creates a world: the same for the same name, size and quality on every machine. */
export function makeWorld(name: string, { items, kcs }: WorldSize, quality: ItemQuality = GOOD_ITEMS): World {
  const draw = stream(`recovery world ${name}`);
  const between = ([low, high]: Range): number => low + (high - low) * draw();
  return {
    name,
    kcs: Array.from({ length: kcs }, () => ({ slope: between(SLOPE), location: between(LOCATION) })),
    items: Array.from({ length: items }, (_, j) => {
      // The first KC rotates, so that none is without items; the others are drawn from its strand.
      const first = j % kcs;
      const start = STRAND * Math.floor(first / STRAND);
      const strand = Array.from({ length: Math.min(STRAND, kcs - start) }, (__, k) => start + k);
      strand.splice(first - start, 1);
      const share = draw();
      const wanted = share < ONE_KC ? 1 : share < UP_TO_TWO_KCS ? 2 : 3;
      const own = [first];
      while (own.length < wanted && strand.length > 0)
        own.push(...strand.splice(Math.floor(draw() * strand.length), 1));
      return {
        id: itemId(j),
        kcs: own,
        table: draw() < CONJUNCTIVE ? 'conjunctive' : 'additive',
        guess: between(quality.guess),
        slip: between(quality.slip),
      };
    }),
  };
}

/** Returns P(KC mastered) at an ability. */
export function masteryAt({ kcs }: World, kc: number, ability: number): number {
  const { slope = NaN, location = NaN } = kcs[kc] ?? {};
  return 1 / (1 + Math.exp(-slope * (ability - location)));
}

/** Returns P(correct) for a learner who has this many of the item's KCs. */
export function successOf({ kcs, table, guess, slip }: WorldItem, mastered: number): number {
  const share = table === 'additive' ? mastered / kcs.length : Number(mastered === kcs.length);
  return guess + (1 - slip - guess) * share;
}

const SCALE_ORIGIN = 500;
const SCALE_UNIT = 100;

/** Returns the ability of a scale value. */
export function abilityOfScale(value: number): number {
  return (value - SCALE_ORIGIN) / SCALE_UNIT;
}

/** Returns the world as a calibration describes it to the engine. The scale is a straight line through the abilities of the grid. */
export function parametersOf({ kcs, items }: World): ModelParameters {
  const { nodes, min, max } = GRID;
  return {
    theta: GRID,
    kcs: kcs.map((kc, k) => ({ guid: kcGuid(k), ...kc })),
    items: items.map((item) => ({
      artifactVersionId: item.id,
      kcs: item.kcs.map(kcGuid),
      probabilities: Array.from({ length: 2 ** item.kcs.length }, (_, pattern) =>
        successOf(item, bitsIn(pattern)),
      ),
    })),
    scale: Array.from(
      { length: nodes },
      (_, g) => SCALE_ORIGIN + SCALE_UNIT * (min + ((max - min) * g) / (nodes - 1)),
    ),
  };
}

export function itemId(item: number): string {
  return `item-${item}`;
}

export function kcGuid(kc: number): string {
  return `kc-${kc}`;
}

function bitsIn(pattern: number): number {
  return pattern.toString(2).replaceAll('0', '').length;
}
