import { isClamped } from './model.ts';
import type { Design, LatentPrior, Parameters } from './model.ts';
import { addTo, at } from './numbers.ts';

/** Returns, for each pattern, the mean over P(node | pattern) of the complete data's score of a slope or location: d log P(pattern). */
export function curveScores(
  design: Design,
  { slopes, locations }: Pick<Parameters, 'slopes' | 'locations'>,
  prior: LatentPrior,
  { kind, kc }: { readonly kind: 'slope' | 'location'; readonly kc: number },
): Float64Array {
  const nodes = design.points.length;
  const slope = at(slopes, kc);
  const location = at(locations, kc);
  const terms = new Float64Array(design.patterns);
  for (let g = 0; g < nodes; g += 1) {
    const p = at(prior.curves, kc * nodes + g);
    if (isClamped(p)) continue;
    const derivative = kind === 'slope' ? at(design.points, g) - location : -slope;
    for (let a = 0; a < design.patterns; a += 1) {
      const residual = ((a >>> kc) & 1) - p;
      addTo(terms, a, (at(prior.joint, a * nodes + g) / at(prior.patterns, a)) * residual * derivative);
    }
  }
  return terms;
}
