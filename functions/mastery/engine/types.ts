/**
 * The engine's vocabulary. Everything here is a plain value: no I/O, no clock, no randomness except from the run's own seed. Index conventions: a KC
 * is its index in `ModelParameters.kcs`, an item its index in `ModelParameters.items`; bit i of a pattern is set if the item's i-th KC is mastered.
 */

/** Parameters as a kernel takes them: nodes, slopes, probabilities and lists are within the bounds of the record's schema. */
export interface ModelParameters {
  readonly theta: {
    readonly nodes: number;
    readonly min: number;
    readonly max: number;
    readonly mean: number;
    readonly sd: number;
  };
  readonly kcs: readonly { readonly guid: string; readonly slope: number; readonly location: number }[];
  readonly items: readonly {
    readonly artifactVersionId: string;
    readonly kcs: readonly string[];
    readonly probabilities: readonly number[];
  }[];
  /** Scale value at each theta node, strictly increasing. */
  readonly scale: readonly number[];
  /** Only for a kernel with `takesBlocks`. The curves of KCs whose block states probabilities are not used. */
  readonly blocks?: readonly PriorBlock[] | undefined;
}

/** A calibration's parameters that satisfy the schema of its record, in which a KC has a curve only if its probabilities come from one. */
export interface CalibratedParameters extends Omit<ModelParameters, 'kcs'> {
  readonly kcs: readonly {
    readonly guid: string;
    readonly slope?: number | undefined;
    readonly location?: number | undefined;
  }[];
}

/**
 * What is known about KCs that are not independent of each other given theta. A KC is in at most one block; one in none is independent of all others,
 * with its own curve. Bit i of a pattern S is set if `kcs[i]` (a GUID) is mastered.
 */
export type PriorBlock = HierarchyBlock | StrandBlock | SaturatedBlock | TableBlock;

/** Prerequisites: a KC is mastered with the probability of its own curve if all its prerequisites are, else not at all. */
export interface HierarchyBlock {
  readonly form: 'hierarchy';
  readonly kcs: readonly string[];
  /** For each KC those that must be mastered before it; each comes earlier in `kcs`. */
  readonly prerequisites: readonly (readonly string[])[];
  readonly support?: BlockSupport | undefined;
}

/**
 * A strand with an ability of its own, xi = mu + rho (theta - mu) + sd sqrt(1 - rho^2) zeta with zeta ~ N(0, 1), where mu and sd are the mean and
 * the standard deviation of theta. The KCs are independent given xi, by their own curves in xi.
 */
export interface StrandBlock {
  readonly form: 'strand';
  readonly kcs: readonly string[];
  /** The correlation rho of xi and theta, between 0 and 1. */
  readonly correlation: number;
}

/** Every pattern has a weight: P(S | theta) in proportion to weights[S] exp(slope |S| theta). */
export interface SaturatedBlock {
  readonly form: 'saturated';
  readonly kcs: readonly string[];
  readonly slope: number;
  readonly weights: readonly number[];
  readonly support?: BlockSupport | undefined;
}

/** P(S | theta) itself: probabilities[g][S], with one row for each theta node. */
export interface TableBlock {
  readonly form: 'table';
  readonly kcs: readonly string[];
  readonly probabilities: readonly (readonly number[])[];
}

/** How much the answers that a block was fitted to support its form. */
export interface BlockSupport {
  readonly learners: number;
  /** BIC of independent curves minus BIC of this form (Schwarz, 1978): above 0 if the answers support it. */
  readonly bicGain: number;
}

/** A scored answer, in canonical order. */
export interface Outcome {
  readonly item: number;
  readonly correct: boolean;
}

/**
 * KCs that the answers have tied together. `superset[mask * nodes + g]` is P(all KCs of the mask mastered | theta node g, answers), where bit i of
 * the mask represents `kcs[i]`.
 */
export interface KcComponent {
  readonly kcs: Int32Array;
  readonly superset: Float64Array;
}

/** The posterior given the answers. Probabilities and numbers have full double precision: the code that shows or compares them rounds them. */
export interface Estimate {
  /** P(mastered) for every KC of the model. */
  readonly kcPosteriors: Float64Array;
  /** Posterior over the theta nodes. */
  readonly thetaPosterior: Float64Array;
  readonly scaleScore: number;
  readonly standardError: number;
  /** Connected components of the administered items' KC graph; a KC in none of them still has its prior given theta. Empty if there is `joint`. */
  readonly components: readonly KcComponent[];
  /** Only from a kernel that takes blocks. */
  readonly joint?: JointPosterior;
}

/** The joint posterior of the KCs. It keeps what it has worked out. */
export interface JointPosterior {
  /** Returns P(all KCs `kcs[start + i]` mastered), over the bits i of `subset`; at most 12 KCs, ascending. */
  readonly allMastered: (kcs: ArrayLike<number>, start: number, subset: number) => number;
  /** How many probabilities of patterns of measured KCs it contains, over all theta nodes. */
  readonly numbers: number;
}

/** Mastery known from outside (a simulated profile), with a probability for one KC. */
export interface KnownMastery {
  readonly kc: number;
  readonly probability: number;
}

/**
 * A frozen numeric runtime. Calibrations pin it by `runtimeVersion`, so a released one is never edited: a change is a new kernel. `compile` takes
 * parameters in which `compileModel` has found no defect.
 */
export interface Kernel {
  readonly runtimeVersion: string;
  /** The most KCs that one item, or one component of administered items, may have. */
  readonly maximumComponentKcs: number;
  /** Present if the kernel can compute with `ModelParameters.blocks`. */
  readonly takesBlocks?: true;
  readonly compile: (parameters: ModelParameters) => KernelModel;
  /** Entropy of a yes-or-no variable in bits. */
  readonly binaryEntropy: (probability: number) => number;
}

/** One model inside a kernel. The functions share scratch memory and are synchronous: what they keep between calls changes no result. */
export interface KernelModel {
  /** Whether every derived number is finite: false if the theta grid has no usable prior. */
  readonly usable: boolean;
  /** Returns the posterior given the outcomes; their order makes no difference, to the last bit. */
  readonly estimate: (outcomes: readonly Outcome[]) => Estimate;
  /**
   * Writes the mutual information, in bits, between each eligible item's outcome and the latent state into `gains` (one number per item; NaN for the
   * others). `eligible` contains 1 or 0 per item. The `keep` highest gains are always present, with all that equal the last of them to 9 decimals; a
   * gain that cannot be among them may be NaN. With `keep` Infinity all are present.
   */
  readonly informationGains: (
    estimate: Estimate,
    eligible: Uint8Array,
    gains: Float64Array,
    keep: number,
  ) => void;
  /** Posterior over the theta nodes given only the known mastery. */
  readonly knownTheta: (mastery: readonly KnownMastery[]) => Float64Array;
  /** Returns the scale score that a perfect test of this profile would show: the mean of the scale given the known mastery. */
  readonly knownScale: (mastery: readonly KnownMastery[]) => number;
  /** P(KC mastered | theta node). */
  readonly masteryAt: (kc: number, node: number) => number;
  /** P(item answered correctly | mastery), where `mastered` contains 1 or 0 per KC of the model. */
  readonly successProbability: (item: number, mastered: Uint8Array) => number;
  /** Returns whether the prior gives the known mastery any chance. Absent if it always does. */
  readonly admits?: (mastery: readonly KnownMastery[]) => boolean;
  /**
   * Draws 1 or 0 for each KC of the model at a theta node, given the known mastery: a KC is mastered if `chance` of it, in [0, 1), is below its
   * probability given the KCs drawn before. Absent if KCs are independent given theta.
   */
  readonly drawPattern?: (
    mastery: readonly KnownMastery[],
    node: number,
    chance: (kc: number) => number,
  ) => Uint8Array;
}
