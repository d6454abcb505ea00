import { roundSignificant } from '#shared/kernel/numbers.ts';

export type Classification = 'mastered' | 'gap' | 'not_yet';

export interface ClassificationRule {
  readonly kcCutScore: number;
  readonly confidenceThreshold: number;
  /** Decimal significant digits (1-15) to which posteriors are rounded before anything is compared. */
  readonly numericPrecision: number;
}

/**
 * Classifies a KC by its posterior [MA-108]: `mastered` if it reaches the cut and the confidence threshold, `gap` if it is below the cut and its
 * complement reaches the threshold, else `not_yet`. A KC without a scored item is always `not_yet`: theta by itself decides nothing. It compares the
 * values that a client sees: the posterior rounded to `numericPrecision`, and the rounded complement of the rounded posterior.
 */
export function classify(rule: ClassificationRule, posterior: number, isMeasured: boolean): Classification {
  if (!isMeasured) return 'not_yet';
  const shown = roundSignificant(posterior, rule.numericPrecision);
  if (shown >= rule.kcCutScore) return shown >= rule.confidenceThreshold ? 'mastered' : 'not_yet';
  return roundSignificant(1 - shown, rule.numericPrecision) >= rule.confidenceThreshold ? 'gap' : 'not_yet';
}
