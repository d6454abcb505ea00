/**
 * The engine's vocabulary. Everything here is a plain value: no I/O, no clock, no randomness except from the run's own seed. Index conventions: a KC
 * is its index in `ModelParameters.kcs`, an item its index in `ModelParameters.items`; bit i of a pattern is set if the item's i-th KC is mastered.
 */

/** A calibration's parameters that satisfy the schema of its record: nodes, slopes, probabilities and lists are within their bounds. */
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
  /** Connected components of the administered items' KC graph; a KC in none of them still has its prior given theta. */
  readonly components: readonly KcComponent[];
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
  readonly compile: (parameters: ModelParameters) => KernelModel;
  /** Entropy of a yes-or-no variable in bits. */
  readonly binaryEntropy: (probability: number) => number;
}

/** One model inside a kernel. The functions share scratch memory: they are synchronous and keep nothing between calls. */
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
}
