/** A knowledge component that a run classifies. */
export interface ScopedKc {
  readonly guid: string;
  /** CFItem URI of the pinned mapping [MA-031]. */
  readonly uri: string;
  /** Index in the model's knowledge components. */
  readonly modelKc: number;
}
