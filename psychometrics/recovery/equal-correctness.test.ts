import { describe, expect, it } from 'vitest';
import type { Target } from './conditions.ts';
import { curvesOf, pointOf, type CurvePoint } from './equal-correctness.ts';
import type { Sitting } from './sit.ts';

const bank = 'good items';

/** A point whose worlds have one learner and one KC each. */
function point(
  target: Target,
  threshold: number,
  quality: number,
  ...lengths: readonly number[]
): CurvePoint {
  const worlds = lengths.map((items) => ({ learners: 1, items, kcs: 1, quality, right: quality - 0.01 }));
  return { bank, target, threshold, worlds };
}

/** A target whose wrong share is halved twice between 0.9 and 0.99. */
const unsettled = (
  change: { readonly first?: number; readonly last?: number } = {},
): readonly CurvePoint[] => [
  point('unsettled_components', 0.99, change.last ?? 0.996, 30, 30),
  point('unsettled_components', 0.9, change.first ?? 0.984, 20, 20),
];

/** Returns the comparison of a target with the whole latent state, which has this quality and these lengths. */
function compared(own: readonly CurvePoint[], quality: number, ...lengths: readonly number[]) {
  const curves = curvesOf([point('latent_state', 0.9, quality, ...lengths), ...own], 1);
  return curves.find(({ target }) => target === own[0]?.target)?.comparisons[0];
}

describe('test length at equal correctness', () => {
  it('is the length at which the curve has the mean posterior of the reference', () => {
    const found = compared(unsettled(), 0.992, 40, 40);
    expect(found).toMatchObject({
      reference: 'latent_state',
      atEqualThreshold: { value: 0.5, interval: [0.5, 0.5] },
    });
    expect(found?.atEqualCorrectness?.value).toBeCloseTo(25 / 40, 12);
    expect(found?.right?.[0]).toBeCloseTo(0.98, 12);
    expect(found?.right?.[1]).toBeCloseTo(0.982, 12);
  });

  it('has no figure where the curve is flat, or does not reach the quality', () => {
    expect(compared(unsettled({ last: 0.985 }), 0.9845, 40, 40)?.atEqualCorrectness).toBeNull();
    expect(compared(unsettled(), 0.997, 40, 40)?.atEqualCorrectness).toBeNull();
    expect(compared(unsettled(), 0.983, 40, 40)).toMatchObject({
      atEqualThreshold: { value: 0.5 },
      atEqualCorrectness: null,
      right: null,
    });
  });

  it('has intervals from whole worlds, and none from one world', () => {
    const [low, high] = compared(unsettled(), 0.992, 25, 100)?.atEqualCorrectness?.interval ?? [];
    expect(low).toBeCloseTo(0.25, 12);
    expect(high).toBeCloseTo(1, 12);
    const single = [point('unsettled_components', 0.9, 0.984, 20)];
    expect(compared(single, 0.984, 40)?.atEqualThreshold).toEqual({ value: 0.5, interval: null });
  });

  it('counts the larger of posterior and complement, and which are right, over all KCs in scope', () => {
    const kc = { items: 0, classified: false };
    const sitting = {
      items: [4, 2],
      kcs: [
        { ...kc, posterior: 0.9, mastered: true },
        { ...kc, posterior: 0.2, mastered: true },
      ],
    } as unknown as Sitting;
    const curve = { bank, target: 'latent_state' } as const;
    expect(pointOf(curve, 0.9, [[sitting, sitting], []])).toEqual({
      ...curve,
      threshold: 0.9,
      worlds: [
        { learners: 2, items: 4, kcs: 4, quality: expect.closeTo(3.4, 12) as number, right: 2 },
        { learners: 0, items: 0, kcs: 0, quality: 0, right: 0 },
      ],
    });
  });
});
