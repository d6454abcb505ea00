/** Describes ability and KCs given the answers, over all learners: distributions, reliability, accuracy. No figure is one learner's. */
import { eachRow } from './expectation.ts';
import { latentPrior, type Design, type Parameters, type Responses } from './model.ts';
import { addTo, at, sqrt } from './numbers.ts';

/** Bins of the EAP histogram: from -3 to 3; values beyond are in the outermost ones. */
const BIN_WIDTH = 0.25;
const BINS = 24;

/** The diagnosis of one KC, from the posteriors P(mastered | answers). */
export interface KcAccuracy {
  /** Expected share of the learners who have it: given their answers, and before them. */
  readonly prevalence: number;
  readonly priorPrevalence: number;
  /**
   * Expected share of learners whom a cut at 0.5 classifies correctly, mean of max(p, 1 - p), and of those whom a second test of the same items would
   * classify alike, mean of p^2 + (1 - p)^2 (Wang, Song, Chen, Meng and Ding, 2015, J. of Educational Measurement 52, 457-476; Johnson and Sinharay,
   * 2018, ibid. 55, 635-664).
   */
  readonly accuracy: number;
  readonly consistency: number;
  /** Share of the variance of mastery that the posterior explains (Johnson and Sinharay, 2020, J. of Educational and Behavioral Statistics 45, 5-31). */
  readonly reliability: number;
}

export interface Abilities {
  readonly kcs: readonly KcAccuracy[];
  /** As for a KC, but for whole patterns: mean of the largest posterior, mean of the sum of squares. */
  readonly patternAccuracy: number;
  readonly patternConsistency: number;
  readonly theta: {
    readonly meanEap: number;
    readonly sdEap: number;
    /** Root mean square of the posterior standard deviations. */
    readonly meanPsd: number;
    /** Var(EAP) / (Var(EAP) + mean posterior variance) (Adams, 2005, Studies in Educational Evaluation 31, 162-172). */
    readonly reliability: number;
    /**
     * The same with every KC known, before any answer: 1 - E[Var(theta | pattern)] / Var(theta). Given the pattern, answers contain no further
     * information about theta, so that no test of these KCs exceeds it.
     */
    readonly reliabilityCeiling: number;
    /** Learners by EAP: `from` is the lower end of a bin. */
    readonly histogram: readonly { readonly from: number; readonly to: number; readonly learners: number }[];
    /** Mean posterior weight of each node; near the prior when the normal distribution fits. */
    readonly posterior: readonly number[];
  };
}

/** Goes through all learners once. */
export function describeAbilities(design: Design, parameters: Parameters, responses: Responses): Abilities {
  const { kcCount, patterns, points } = design;
  const prior = latentPrior(design, parameters);
  const { mean, square } = thetaMoments(design, prior.joint, prior.patterns);
  const mastered = new Float64Array(kcCount);
  const squares = new Float64Array(kcCount);
  const certain = new Float64Array(kcCount);
  const bins = new Float64Array(BINS);
  const everybody = new Float64Array(patterns);
  let eapSum = 0;
  let eapSquares = 0;
  let variances = 0;
  let patternAccuracy = 0;
  let patternConsistency = 0;
  eachRow(design, parameters, prior, responses, (row, posterior) => {
    const count = at(responses.counts, row);
    const kcs = new Float64Array(kcCount);
    let eap = 0;
    let second = 0;
    let largest = 0;
    let sumOfSquares = 0;
    for (let a = 0; a < patterns; a += 1) {
      const p = at(posterior, a);
      addTo(everybody, a, count * p);
      eap += p * at(mean, a);
      second += p * at(square, a);
      largest = Math.max(largest, p);
      sumOfSquares += p * p;
      for (let k = 0; k < kcCount; k += 1) if ((a >>> k) & 1) addTo(kcs, k, p);
    }
    for (let k = 0; k < kcCount; k += 1) {
      const p = at(kcs, k);
      addTo(mastered, k, count * p);
      addTo(squares, k, count * p * p);
      addTo(certain, k, count * Math.max(p, 1 - p));
    }
    eapSum += count * eap;
    eapSquares += count * eap * eap;
    variances += count * Math.max(0, second - eap * eap);
    patternAccuracy += count * largest;
    patternConsistency += count * sumOfSquares;
    addTo(bins, Math.min(BINS - 1, Math.max(0, Math.floor(eap / BIN_WIDTH) + BINS / 2)), count);
  });
  const n = responses.learners;
  const meanEap = eapSum / n;
  const varianceEap = Math.max(0, eapSquares / n - meanEap * meanEap);
  return {
    kcs: Array.from({ length: kcCount }, (_, k) => {
      const prevalence = at(mastered, k) / n;
      const secondMoment = at(squares, k) / n;
      const spread = prevalence * (1 - prevalence);
      return {
        prevalence,
        priorPrevalence: priorPrevalence(design, prior.patterns, k),
        accuracy: at(certain, k) / n,
        consistency: 1 - 2 * prevalence + 2 * secondMoment,
        reliability: spread > 0 ? Math.max(0, secondMoment - prevalence * prevalence) / spread : 0,
      };
    }),
    patternAccuracy: patternAccuracy / n,
    patternConsistency: patternConsistency / n,
    theta: {
      meanEap,
      sdEap: sqrt(varianceEap),
      meanPsd: sqrt(variances / n),
      reliability: varianceEap > 0 ? varianceEap / (varianceEap + variances / n) : 0,
      reliabilityCeiling: ceilingOf(prior.patterns, mean, square),
      histogram: Array.from(bins, (learners, bin) => {
        const from = (bin - BINS / 2) * BIN_WIDTH;
        return { from, to: from + BIN_WIDTH, learners };
      }),
      posterior: Array.from(points, (_, g) => {
        let weight = 0;
        for (let a = 0; a < patterns; a += 1) {
          if (at(prior.patterns, a) === 0) continue;
          weight += (at(everybody, a) / at(prior.patterns, a)) * at(prior.joint, a * points.length + g);
        }
        return weight / n;
      }),
    },
  };
}

/** Returns the share of the variance of theta that lies between patterns. */
function ceilingOf(patterns: Float64Array, mean: Float64Array, square: Float64Array): number {
  let [average, between, total] = [0, 0, 0];
  for (let a = 0; a < patterns.length; a += 1) {
    average += at(patterns, a) * at(mean, a);
    between += at(patterns, a) * at(mean, a) * at(mean, a);
    total += at(patterns, a) * at(square, a);
  }
  return (between - average * average) / (total - average * average);
}

/** Returns E(theta | pattern) and E(theta^2 | pattern). */
function thetaMoments(
  { points, patterns: count }: Design,
  joint: Float64Array,
  patterns: Float64Array,
): { readonly mean: Float64Array; readonly square: Float64Array } {
  const mean = new Float64Array(count);
  const square = new Float64Array(count);
  for (let a = 0; a < count; a += 1) {
    if (at(patterns, a) === 0) continue;
    for (let g = 0; g < points.length; g += 1) {
      const share = at(joint, a * points.length + g) / at(patterns, a);
      addTo(mean, a, share * at(points, g));
      addTo(square, a, share * at(points, g) * at(points, g));
    }
  }
  return { mean, square };
}

function priorPrevalence({ patterns: count }: Design, patterns: Float64Array, kc: number): number {
  let total = 0;
  for (let a = 0; a < count; a += 1) if ((a >>> kc) & 1) total += at(patterns, a);
  return total;
}
