import { isClamped } from './model.ts';
import type { Design, LatentPrior, Parameters } from './model.ts';
import { addTo, at } from './numbers.ts';

/** Derivatives of log P(pattern) for each pattern, by the slope and the location of one KC. */
export interface CurveScores {
  readonly slope: Float64Array;
  readonly location: Float64Array;
}

/** Returns, for each pattern, the mean over P(node | pattern) of the complete data's score of a KC's slope and location: d log P(pattern). */
export function curveScores(
  design: Design,
  { slopes, locations }: Pick<Parameters, 'slopes' | 'locations'>,
  prior: LatentPrior,
  kc: number,
): CurveScores {
  const nodes = design.points.length;
  const slope = new Float64Array(design.patterns);
  const location = new Float64Array(design.patterns);
  const curve = prior.curves.subarray(kc * nodes, (kc + 1) * nodes);
  const isMoving = Float64Array.from(curve, (p) => Number(!isClamped(p)));
  for (let a = 0; a < design.patterns; a += 1) {
    const mastered = (a >>> kc) & 1;
    let residuals = 0;
    let moments = 0;
    for (let g = 0; g < nodes; g += 1) {
      const residual = at(prior.joint, a * nodes + g) * (mastered - at(curve, g)) * at(isMoving, g);
      residuals += residual;
      moments += residual * at(design.points, g);
    }
    const weight = at(prior.patterns, a);
    addTo(slope, a, (moments - residuals * at(locations, kc)) / weight);
    addTo(location, a, (-residuals * at(slopes, kc)) / weight);
  }
  return { slope, location };
}
