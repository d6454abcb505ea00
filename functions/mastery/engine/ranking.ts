import { roundSignificant } from '#shared/kernel/numbers.ts';

export interface Ranked {
  readonly item: number;
  /** Rounded. */
  readonly gain: number;
}

/** Digits to which gains are rounded before they are compared. Beyond them, sums of two platforms may differ, but the difference means nothing. */
const GAIN_DIGITS = 12;

/**
 * Yields items from the highest rounded gain down, those of equal gain together. NaN means no gain. It rounds gains only for the items that the
 * caller takes.
 * @param tied puts items of equal gain in order
 */
export function* byGain(
  gains: Float64Array,
  tied: (items: readonly number[]) => readonly number[],
): Generator<readonly Ranked[]> {
  const ranked: { readonly item: number; readonly exact: number }[] = [];
  gains.forEach((exact, item) => {
    if (!Number.isNaN(exact)) ranked.push({ item, exact });
  });
  ranked.sort((a, b) => b.exact - a.exact);
  let equal: number[] = [];
  let gain = NaN;
  const group = (): readonly Ranked[] => tied(equal).map((item) => ({ item, gain }));
  for (const { item, exact } of ranked) {
    const rounded = roundGain(exact);
    if (rounded !== gain) {
      yield group();
      equal = [];
      gain = rounded;
    }
    equal.push(item);
  }
  yield group();
}

/** Rounds a gain for comparison. */
export function roundGain(gain: number): number {
  return roundSignificant(gain, GAIN_DIGITS);
}
