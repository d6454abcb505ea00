import { stream } from '#shared/kernel/random-stream.ts';
import { banks, CLASSIFICATION_CONFIDENCE, targets, type Curve, type Target } from './conditions.ts';
import { agrees } from './figures.ts';
import type { Sitting } from './sit.ts';

/** The sums over the learners of one world. */
interface WorldSums {
  readonly learners: number;
  readonly items: number;
  readonly kcs: number;
  readonly quality: number;
  readonly right: number;
}

/** The tests of one target at one threshold in one kind of bank. All points of a bank have the same worlds and learners. */
export interface CurvePoint extends Curve {
  readonly threshold: number;
  readonly worlds: readonly WorldSums[];
}

/** Means over all learners. */
export interface TargetFigures {
  readonly items: number;
  /** The mean over all KCs in scope of the posterior on the side that is shown: the share that should be right. */
  readonly quality: number;
  /** The share that is right. */
  readonly right: number;
}

/** A quotient of two lengths with its 95 % interval from resampled worlds; `null` if these do not all have a figure. */
export interface Ratio {
  readonly value: number;
  readonly interval: readonly [low: number, high: number] | null;
}

/** The tests of one target by threshold, and their lengths divided by those of other targets. */
export interface TargetCurve extends Curve {
  readonly points: readonly (TargetFigures & { readonly threshold: number })[];
  readonly comparisons: readonly Comparison[];
}

/** A target's length divided by that of another one, the reference, at the study's confidence. */
export interface Comparison {
  readonly reference: Target;
  readonly atEqualThreshold: Ratio;
  /** At the threshold where the target has the quality of the reference; `null` if its curve is flat there or does not reach it. */
  readonly atEqualCorrectness: Ratio | null;
  /** Both observed right shares there. */
  readonly right: readonly [own: number, ofReference: number] | null;
}

/** Curves along which less than this share of the wrong classifications disappears from one threshold to the next are flat. */
const FLAT = 0.1;
const RESAMPLES = 1000;

/** The targets that others are compared with. */
const references: readonly Target[] = ['latent_state', 'unsettled_components'];

/** Returns the point of a curve. @param worlds sittings by world */
export function pointOf(
  curve: Curve,
  threshold: number,
  worlds: readonly (readonly Sitting[])[],
): CurvePoint {
  return {
    ...curve,
    threshold,
    worlds: worlds.map((sittings) => {
      const kcs = sittings.flatMap((sitting) => sitting.kcs);
      return {
        learners: sittings.length,
        items: sittings.reduce((sum, { items }) => sum + items.length, 0),
        kcs: kcs.length,
        quality: kcs.reduce((sum, { posterior }) => sum + Math.max(posterior, 1 - posterior), 0),
        right: kcs.filter(agrees).length,
      };
    }),
  };
}

/** Returns the curves of each target and kind of bank, compared with the reference targets. @param seed selects how worlds are resampled */
export function curvesOf(points: readonly CurvePoint[], seed: number): readonly TargetCurve[] {
  const all = points[0]?.worlds.map((_, world) => world) ?? [];
  const draw = stream(`recovery resample ${seed}`);
  const resamples = Array.from({ length: all.length > 1 ? RESAMPLES : 0 }, () =>
    all.map(() => Math.floor(draw() * all.length)),
  );
  return banks.flatMap((bank) =>
    targets.flatMap(({ target }): TargetCurve[] => {
      const of = (other: Target): readonly CurvePoint[] =>
        points
          .filter((point) => point.bank === bank && point.target === other)
          .sort((a, b) => a.threshold - b.threshold);
      const own = of(target);
      if (own.length === 0) return [];
      const figures = own.map((point) => ({ threshold: point.threshold, ...figuresOver(point, all) }));
      const comparisons = references
        .filter((reference) => reference !== target)
        .map((reference): Comparison => {
          const compare = (worlds: readonly number[]) => lengthsOver(own, of(reference), worlds);
          const found = compare(all);
          const resampled = resamples.map(compare);
          const { atQuality, reference: given } = found;
          return {
            reference,
            atEqualThreshold: {
              value: found.sameThreshold,
              interval: intervalOf(resampled.map(({ sameThreshold }) => sameThreshold)),
            },
            atEqualCorrectness: atQuality && {
              value: atQuality.items / given.items,
              interval: intervalOf(
                resampled.map((sample) => (sample.atQuality?.items ?? NaN) / sample.reference.items),
              ),
            },
            right: atQuality && [atQuality.right, given.right],
          };
        });
      return [{ bank, target, points: figures, comparisons }];
    }),
  );
}

/** Compares two targets over these worlds, each counted as often as it is named. */
function lengthsOver(
  own: readonly CurvePoint[],
  reference: readonly CurvePoint[],
  worlds: readonly number[],
): {
  readonly reference: TargetFigures;
  readonly sameThreshold: number;
  readonly atQuality: TargetFigures | null;
} {
  const curve = own.map((point) => ({ threshold: point.threshold, ...figuresOver(point, worlds) }));
  const at = reference.find(({ threshold }) => threshold === CLASSIFICATION_CONFIDENCE);
  const same = curve.find(({ threshold }) => threshold === CLASSIFICATION_CONFIDENCE);
  if (at === undefined || same === undefined) throw new Error('every curve has a point at the confidence');
  const given = figuresOver(at, worlds);
  return {
    reference: given,
    sameThreshold: same.items / given.items,
    atQuality: interpolated(curve, given.quality),
  };
}

function figuresOver({ worlds: sums }: CurvePoint, worlds: readonly number[]): TargetFigures {
  const total = (valueOf: (world: WorldSums) => number): number =>
    worlds.reduce((sum, w) => sum + sums.slice(w, w + 1).reduce((_, world) => valueOf(world), NaN), 0);
  const kcs = total((world) => world.kcs);
  return {
    items: total(({ items }) => items) / total(({ learners }) => learners),
    quality: total(({ quality }) => quality) / kcs,
    right: total(({ right }) => right) / kcs,
  };
}

/** Returns the figures where a curve has this quality: between two points, length rises evenly with the logarithm of the share that is wrong. */
function interpolated(curve: readonly TargetFigures[], quality: number): TargetFigures | null {
  for (const [n, to] of curve.entries()) {
    const from = curve[n - 1];
    if (from === undefined || quality < from.quality || quality > to.quality) continue;
    if ((1 - to.quality) / (1 - from.quality) > 1 - FLAT) return null;
    const share =
      Math.log((1 - quality) / (1 - from.quality)) / Math.log((1 - to.quality) / (1 - from.quality));
    const between = (a: number, b: number): number => a + share * (b - a);
    return {
      quality,
      items: between(from.items, to.items),
      right: between(from.right, to.right),
    };
  }
  return null;
}

function intervalOf(values: readonly number[]): Ratio['interval'] {
  const sorted = values.toSorted((a, b) => a - b);
  if (sorted.length === 0 || sorted.some(Number.isNaN)) return null;
  const at = (share: number): number => sorted[Math.round(share * (sorted.length - 1))] ?? NaN;
  return [at(0.025), at(0.975)];
}
