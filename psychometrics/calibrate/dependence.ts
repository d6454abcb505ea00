/**
 * KCs that depend on each other beyond one ability: the forms of block that a calibration can carry (docs/engine.md). A hierarchy has a curve per KC
 * among the learners who have its prerequisites (as attribute hierarchies: Templin and Bradshaw, 2014, Psychometrika 79, 317-339), a strand has an
 * ability of its own, and a saturated set has a weight per pattern.
 */
import { addTo, at, clamp, exp, integerAt, log, logistic, logit, sqrt, sum } from './numbers.ts';

/** Sets of KCs by their indices; a KC is in at most one of a hierarchy, a strand and a saturated set. */
export interface Dependence {
  /** For each KC the bits of all KCs that it requires: its curve is that of the learners who have them. */
  readonly required: readonly number[];
  /** KCs with an ability of their own, over which their curves are. All these abilities correlate equally with the one of the calibration. */
  readonly strands: readonly (readonly number[])[];
  readonly saturated: readonly (readonly number[])[];
}

/** What the prior of a design consists of. */
export interface PriorDesign {
  readonly kcCount: number;
  /** 2^kcCount; bit k of a pattern is set if KC k is mastered. */
  readonly patterns: number;
  /** Theta nodes and their prior weights, which add to 1. */
  readonly points: Float64Array;
  readonly weights: Float64Array;
  /** Which KCs depend on each other beyond one ability. */
  readonly dependence: Dependence;
}

/** The parameters of a prior. */
export interface PriorParameters {
  readonly slopes: Float64Array;
  readonly locations: Float64Array;
  /** Parameters of the dependence besides the curves (`extrasOf`); absent if it has none. */
  readonly extras?: Float64Array | undefined;
}

/** The distribution of the latent state before any answer. */
export interface LatentPrior {
  /** P(KC k mastered | node g) at k * nodes + g. */
  readonly curves: Float64Array;
  /** P(pattern, node) at pattern * nodes + g. */
  readonly joint: Float64Array;
  /** P(pattern). */
  readonly patterns: Float64Array;
}

/** Returns no dependence among some KCs. */
export function noDependence(kcCount: number): Dependence {
  return { required: Array.from({ length: kcCount }, () => 0), strands: [], saturated: [] };
}

export function isIndependent({ required, strands, saturated }: Dependence): boolean {
  return strands.length === 0 && saturated.length === 0 && required.every((bits) => bits === 0);
}

/** Returns whether a pattern has everything that a KC requires. */
function isOpen({ required }: Dependence, pattern: number, kc: number): boolean {
  const bits = required[kc] ?? 0;
  return (pattern & bits) === bits;
}

/** Returns whether a pattern of all KCs has the prerequisites of each of its KCs. */
export function isPossible(dependence: Dependence, pattern: number): boolean {
  return dependence.required.every((_, k) => ((pattern >>> k) & 1) === 0 || isOpen(dependence, pattern, k));
}

/**
 * One parameter besides the curves, without bounds but those of `extraRange`: the logit of the correlation, the logarithm of the slope of a saturated
 * set, or the logarithm of the weight of one of its patterns, relative to the empty one.
 */
export type Extra =
  | { readonly kind: 'correlation' }
  | { readonly kind: 'slope'; readonly set: number }
  | { readonly kind: 'weight'; readonly set: number; readonly pattern: number };

/** Returns the parameters besides the curves, in the order of `Parameters.extras`. */
export function extrasOf({ strands, saturated }: Dependence): readonly Extra[] {
  return [
    ...(strands.length === 0 ? [] : [{ kind: 'correlation' as const }]),
    ...saturated.flatMap((kcs, set) => [
      { kind: 'slope' as const, set },
      ...Array.from({ length: 2 ** kcs.length - 1 }, (_, n) => ({
        kind: 'weight' as const,
        set,
        pattern: n + 1,
      })),
    ]),
  ];
}

/** Bounds: an ability of a strand that correlates more is the common one; the slope is bounded as those of curves are. */
const RANGES: Readonly<Record<Extra['kind'], { readonly min: number; readonly max: number }>> = {
  correlation: { min: logit(0.025), max: logit(0.975) },
  slope: { min: log(0.05), max: log(25) },
  weight: { min: -20, max: 20 },
};

export function extraRange({ kind }: Extra): { readonly min: number; readonly max: number } {
  return RANGES[kind];
}

const FIRST: Readonly<Record<Extra['kind'], number>> = {
  correlation: logit(0.7),
  slope: log(1.7),
  weight: 0,
};

/** Returns where the search starts. */
export function startingExtras(dependence: Dependence): Float64Array {
  return Float64Array.from(extrasOf(dependence), ({ kind }) => FIRST[kind]);
}

/** Returns whether the KC has no curve: its probabilities are weights of patterns. */
export function hasNoCurve({ saturated }: Dependence, kc: number): boolean {
  return saturated.some((kcs) => kcs.includes(kc));
}

/** The clamp of the engine. */
const FLOOR = 1e-6;

/** Returns P(KC mastered) at some points, clamped as the engine clamps it. */
export function curveOver(points: Float64Array, slope: number, location: number): Float64Array {
  return points.map((point) => clamp(logistic(slope * (point - location)), FLOOR, 1 - FLOOR));
}

/** Returns whether the clamp applies to a probability: there the likelihood does not depend on slope and location. */
function isClamped(probability: number): boolean {
  return probability <= FLOOR || probability >= 1 - FLOOR;
}

/** A strand or a saturated set. */
interface Block {
  readonly kcs: readonly number[];
  /** Pattern of all KCs -> that of the block. */
  readonly own: Uint16Array;
  /** P(own pattern | node g) at pattern * nodes + g. */
  readonly values: Float64Array;
}

/** The grid over what an ability of a strand does not share with the common one: trapezoid weights of the standard normal density. */
const ZETA = { nodes: 31, limit: 5 } as const;
const zetas = Float64Array.from(
  { length: ZETA.nodes },
  (_, z) => (2 * ZETA.limit * z) / (ZETA.nodes - 1) - ZETA.limit,
);
const zetaWeights = ((): Float64Array => {
  const raw = zetas.map((zeta, z) => exp(-0.5 * zeta * zeta) * (z === 0 || z === ZETA.nodes - 1 ? 0.5 : 1));
  const total = sum(raw);
  return raw.map((weight) => weight / total);
})();

function ownPatterns(kcs: readonly number[], patterns: number): Uint16Array {
  return Uint16Array.from({ length: patterns }, (_, pattern) =>
    kcs.reduce((own, kc, bit) => own | (((pattern >>> kc) & 1) << bit), 0),
  );
}

function bitsIn(pattern: number): number {
  let count = 0;
  for (let rest = pattern; rest > 0; rest >>>= 1) count += rest & 1;
  return count;
}

/** Returns the correlation of the strands' abilities with the common one. */
export function correlationOf(extras: Float64Array): number {
  return logistic(at(extras, 0));
}

/** Returns slope and weights of a saturated set, the largest weight being 1. */
export function saturatedOf(
  dependence: Dependence,
  extras: Float64Array,
  set: number,
): { readonly slope: number; readonly weights: Float64Array } {
  const size = 2 ** (dependence.saturated[set]?.length ?? 0);
  const logs = new Float64Array(size);
  let slope = 1;
  extrasOf(dependence).forEach((extra, n) => {
    if (extra.kind === 'slope' && extra.set === set) slope = exp(at(extras, n));
    if (extra.kind === 'weight' && extra.set === set) logs[extra.pattern] = at(extras, n);
  });
  const highest = logs.reduce((a, b) => Math.max(a, b), 0);
  return { slope, weights: logs.map((value) => exp(value - highest)) };
}

/** Returns P(own pattern | node) of a saturated set: in proportion to weight * exp(slope * KCs * theta). */
function saturatedValues(
  points: Float64Array,
  { slope, weights }: { readonly slope: number; readonly weights: Float64Array },
): Float64Array {
  const nodes = points.length;
  const most = bitsIn(weights.length - 1);
  const values = new Float64Array(weights.length * nodes);
  points.forEach((point, g) => {
    const highest = Math.max(0, slope * most * point);
    let total = 0;
    for (let s = 0; s < weights.length; s += 1) {
      const value = at(weights, s) * exp(slope * bitsIn(s) * point - highest);
      values[s * nodes + g] = value;
      total += value;
    }
    for (let s = 0; s < weights.length; s += 1) values[s * nodes + g] = at(values, s * nodes + g) / total;
  });
  return values;
}

/** A strand at every node of both abilities. */
interface Strand {
  /** The strand's ability at g * ZETA.nodes + z. */
  readonly abilities: Float64Array;
  /** P(KC mastered) there, by KC. */
  readonly curves: readonly Float64Array[];
  /** P(own pattern, zeta | theta) there, by own pattern. */
  readonly likelihoods: readonly Float64Array[];
}

function strandAt(
  kcs: readonly number[],
  { points }: PriorDesign,
  { slopes, locations }: PriorParameters,
  correlation: number,
): Strand {
  const rest = sqrt(1 - correlation * correlation);
  const abilities = new Float64Array(points.length * ZETA.nodes);
  for (let g = 0; g < points.length; g += 1)
    for (let z = 0; z < ZETA.nodes; z += 1)
      abilities[g * ZETA.nodes + z] = correlation * at(points, g) + rest * at(zetas, z);
  const curves = kcs.map((kc) => curveOver(abilities, at(slopes, kc), at(locations, kc)));
  const likelihoods = Array.from({ length: 2 ** kcs.length }, (_, s) =>
    abilities.map((_unused, n) =>
      curves.reduce(
        (product, curve, bit) => product * ((s >>> bit) & 1 ? at(curve, n) : 1 - at(curve, n)),
        at(zetaWeights, n % ZETA.nodes),
      ),
    ),
  );
  return { abilities, curves, likelihoods };
}

/** Sums values over zeta. */
function overZeta(values: Float64Array): Float64Array {
  const sums = new Float64Array(values.length / ZETA.nodes);
  for (let n = 0; n < values.length; n += 1) addTo(sums, Math.floor(n / ZETA.nodes), at(values, n));
  return sums;
}

const none = new Float64Array();

/** Computes P(pattern, node) where KCs depend on each other. Without dependence it is that of `latentPrior`, but for rounding. */
export function dependentPrior(design: PriorDesign, parameters: PriorParameters): LatentPrior {
  const { dependence, kcCount, patterns, points, weights } = design;
  const { slopes, locations, extras = none } = parameters;
  const nodes = points.length;
  const curves = new Float64Array(kcCount * nodes);
  for (let k = 0; k < kcCount; k += 1)
    curves.set(curveOver(points, at(slopes, k), at(locations, k)), k * nodes);
  const blocks: Block[] = [
    ...dependence.strands.map((kcs): Block => {
      const { likelihoods } = strandAt(kcs, design, parameters, correlationOf(extras));
      const values = Float64Array.from(likelihoods.flatMap((cells) => [...overZeta(cells)]));
      return { kcs, own: ownPatterns(kcs, patterns), values };
    }),
    ...dependence.saturated.map((kcs, set): Block => {
      const values = saturatedValues(points, saturatedOf(dependence, extras, set));
      return { kcs, own: ownPatterns(kcs, patterns), values };
    }),
  ];
  const single = [...slopes.keys()].filter((k) => !blocks.some(({ kcs }) => kcs.includes(k)));
  const joint = new Float64Array(patterns * nodes);
  const marginal = new Float64Array(patterns);
  for (let a = 0; a < patterns; a += 1) {
    if (!isPossible(dependence, a)) continue;
    const place = a * nodes;
    joint.set(weights, place);
    for (const k of single) {
      if (!isOpen(dependence, a, k)) continue;
      const mastered = (a >>> k) & 1;
      for (let g = 0; g < nodes; g += 1) {
        const p = at(curves, k * nodes + g);
        joint[place + g] = at(joint, place + g) * (mastered === 1 ? p : 1 - p);
      }
    }
    for (const { own, values } of blocks) {
      const start = integerAt(own, a) * nodes;
      for (let g = 0; g < nodes; g += 1) joint[place + g] = at(joint, place + g) * at(values, start + g);
    }
    for (let g = 0; g < nodes; g += 1) addTo(marginal, a, at(joint, place + g));
  }
  return { curves, joint, patterns: marginal };
}

/**
 * Returns d log P(pattern) by each parameter of the prior, for each pattern: slopes, locations, then the extras. Each is the mean over P(node |
 * pattern) of the complete data's score (Louis, 1982, J. Royal Statistical Society B 44, 226-233). 0 where a KC has no curve, and for patterns that
 * cannot occur.
 */
export function priorScores(
  design: PriorDesign,
  parameters: PriorParameters,
  prior: LatentPrior,
): Float64Array[] {
  const { dependence, kcCount, patterns, points } = design;
  const { extras = none } = parameters;
  const nodes = points.length;
  const scores = Array.from(
    { length: 2 * kcCount + extras.length },
    (): Float64Array => new Float64Array(patterns),
  );
  const scoreAt = (n: number): Float64Array => scores[n] ?? none;
  const inStrand = new Set(dependence.strands.flat());
  for (let k = 0; k < kcCount; k += 1) {
    if (inStrand.has(k) || hasNoCurve(dependence, k)) continue;
    addCurveScores(design, parameters, prior, k, { slope: scoreAt(k), location: scoreAt(kcCount + k) });
  }
  for (const kcs of dependence.strands) {
    const own = ownPatterns(kcs, patterns);
    const correlation = correlationOf(extras);
    const strand = strandAt(kcs, design, parameters, correlation);
    for (let s = 0; s < strand.likelihoods.length; s += 1) {
      const terms = strandTerms(strand, s, kcs, parameters, { correlation, points });
      for (let a = 0; a < patterns; a += 1) {
        const weight = at(prior.patterns, a);
        if (integerAt(own, a) !== s || weight === 0) continue;
        for (let g = 0; g < nodes; g += 1) {
          const share = at(prior.joint, a * nodes + g) / (weight * at(terms.values, g));
          kcs.forEach((kc, n) => {
            addTo(scoreAt(kc), a, share * at(terms.slopes[n] ?? none, g));
            addTo(scoreAt(kcCount + kc), a, share * at(terms.locations[n] ?? none, g));
          });
          addTo(scoreAt(2 * kcCount), a, share * at(terms.correlation, g));
        }
      }
    }
  }
  dependence.saturated.forEach((kcs, set) => {
    const own = ownPatterns(kcs, patterns);
    const { slope, weights } = saturatedOf(dependence, extras, set);
    const values = saturatedValues(points, { slope, weights });
    const expected = points.map((_, g) => sum(weights.map((_w, s) => bitsIn(s) * at(values, s * nodes + g))));
    extrasOf(dependence).forEach((extra, n) => {
      if (extra.kind === 'correlation' || extra.set !== set) return;
      const score = scoreAt(2 * kcCount + n);
      for (let a = 0; a < patterns; a += 1) {
        const weight = at(prior.patterns, a);
        if (weight === 0) continue;
        const s = integerAt(own, a);
        let total = 0;
        for (let g = 0; g < nodes; g += 1) {
          const share = at(prior.joint, a * nodes + g) / weight;
          total +=
            extra.kind === 'slope'
              ? share * slope * at(points, g) * (bitsIn(s) - at(expected, g))
              : share * (Number(s === extra.pattern) - at(values, extra.pattern * nodes + g));
        }
        score[a] = total;
      }
    });
  });
  return scores;
}

/** Writes d log P(pattern) by slope and location of a KC whose curve is over the common ability. */
function addCurveScores(
  { dependence, points, patterns }: PriorDesign,
  { slopes, locations }: PriorParameters,
  prior: LatentPrior,
  kc: number,
  scores: { readonly slope: Float64Array; readonly location: Float64Array },
): void {
  const nodes = points.length;
  const curve = prior.curves.subarray(kc * nodes, (kc + 1) * nodes);
  const isMoving = Float64Array.from(curve, (p) => Number(!isClamped(p)));
  for (let a = 0; a < patterns; a += 1) {
    const weight = at(prior.patterns, a);
    if (weight === 0 || !isOpen(dependence, a, kc)) continue;
    const mastered = (a >>> kc) & 1;
    let residuals = 0;
    let moments = 0;
    for (let g = 0; g < nodes; g += 1) {
      const residual = at(prior.joint, a * nodes + g) * (mastered - at(curve, g)) * at(isMoving, g);
      residuals += residual;
      moments += residual * at(points, g);
    }
    scores.slope[a] = (moments - residuals * at(locations, kc)) / weight;
    scores.location[a] = (-residuals * at(slopes, kc)) / weight;
  }
}

/** Derivatives of P(own pattern | node) of a strand, by node, with the probability itself. */
interface StrandTerms {
  readonly values: Float64Array;
  readonly slopes: readonly Float64Array[];
  readonly locations: readonly Float64Array[];
  /** By the logit of the correlation. */
  readonly correlation: Float64Array;
}

function strandTerms(
  { abilities, curves, likelihoods }: Strand,
  pattern: number,
  kcs: readonly number[],
  { slopes, locations }: PriorParameters,
  { correlation, points }: { readonly correlation: number; readonly points: Float64Array },
): StrandTerms {
  const cells = likelihoods[pattern] ?? none;
  const residuals = curves.map((curve, bit) =>
    cells.map((cell, n) => {
      const p = at(curve, n);
      return isClamped(p) ? 0 : cell * (((pattern >>> bit) & 1) - p);
    }),
  );
  const ratio = correlation / sqrt(1 - correlation * correlation);
  const bend = correlation * (1 - correlation);
  return {
    values: overZeta(cells),
    slopes: residuals.map((own, n) =>
      overZeta(own.map((value, m) => value * (at(abilities, m) - at(locations, kcs[n] ?? 0)))),
    ),
    locations: residuals.map((own, n) => overZeta(own).map((value) => -at(slopes, kcs[n] ?? 0) * value)),
    correlation: overZeta(
      cells.map((_, m) => {
        const moves = at(points, Math.floor(m / ZETA.nodes)) - ratio * at(zetas, m % ZETA.nodes);
        return bend * moves * sum(residuals.map((own, n) => at(slopes, kcs[n] ?? 0) * at(own, m)));
      }),
    ),
  };
}
