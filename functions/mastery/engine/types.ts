/**
 * The engine's vocabulary. Everything here is a plain value: no I/O, no clock, no randomness beside the run's own seed.
 * Index conventions: a KC is its index in `ModelParameters.kcs`, an item its index in `ModelParameters.items`; bit i of a pattern says
 * that the item's i-th KC is mastered.
 */
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
    readonly id: string;
    readonly kcs: readonly string[];
    readonly probabilities: readonly number[];
  }[];
  /** Scale value at each theta node, strictly increasing. */
  readonly scale: readonly number[];
}

/** One defect that makes parameters unusable, with a JSON Pointer into them. */
export interface ModelDefect {
  readonly pointer: string;
  readonly message: string;
}

/** A scored answer, in canonical order. */
export interface Outcome {
  readonly item: number;
  readonly correct: boolean;
}

/** What the answers say. Probabilities and numbers at full double precision: rounding belongs to whoever shows or compares them. */
export interface Estimate {
  /** P(mastered) for every KC of the model. */
  readonly kcPosteriors: Float64Array;
  /** Posterior over the theta nodes. */
  readonly thetaPosterior: Float64Array;
  readonly scaleScore: number;
  readonly standardError: number;
}
