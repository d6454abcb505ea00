/** A knowledge component (KC) that an adaptive run classifies. */
export interface ScopedKc {
  readonly guid: string;
  /** The URI of the CASE CFItem to which the calibration maps the KC [MA-031]. */
  readonly uri: string;
  /** Index of the KC in the compiled model. */
  readonly modelKc: number;
}
