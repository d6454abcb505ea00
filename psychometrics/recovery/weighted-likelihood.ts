import type { CalibratedParameters } from '#functions/mastery/engine/index.ts';

/**
 * Returns the weighted likelihood estimate of ability (Warm, 1989), for comparison with the posterior mean: the ability with the largest product of
 * the likelihood and the root of the information. The information is that of the measured KCs, as if their mastery were observed: sum of slope^2 p (1
 * - p). The prior of ability, which the posterior contains, is divided out. Between the nodes of the grid the peak is that of a parabola.
 */
export function weightedLikelihood(
  { theta: { nodes, min, max, mean, sd }, kcs }: Pick<CalibratedParameters, 'theta' | 'kcs'>,
  thetaPosterior: Float64Array,
  measured: readonly number[],
): number {
  const step = (max - min) / (nodes - 1);
  const abilityAt = (node: number): number => min + step * node;
  const height = Array.from(thetaPosterior, (posterior, node) => {
    const ability = abilityAt(node);
    const information = measured.reduce((sum, kc) => {
      const { slope = NaN, location = NaN } = kcs[kc] ?? {};
      const mastery = 1 / (1 + Math.exp(-slope * (ability - location)));
      return sum + slope * slope * mastery * (1 - mastery);
    }, 0);
    const z = (ability - mean) / sd;
    return Math.log(posterior) + (z * z) / 2 + Math.log(information) / 2;
  });
  // The outermost nodes carry half a weight, and no parabola.
  let best = 1;
  for (let node = 2; node < nodes - 1; node += 1) {
    if ((height[node] ?? NaN) > (height[best] ?? NaN)) best = node;
  }
  const [low = NaN, peak = NaN, high = NaN] = height.slice(best - 1, best + 2);
  const shift = (low - high) / (2 * (low - 2 * peak + high));
  return abilityAt(best) + step * (Math.abs(shift) <= 1 ? shift : 0);
}
