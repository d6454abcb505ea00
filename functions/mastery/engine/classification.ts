import { roundSignificant } from '#shared/kernel/numbers.ts';

export type Classification = 'mastered' | 'gap' | 'not_yet';

export interface ClassificationRule {
  readonly kcCutScore: number;
  readonly confidenceThreshold: number;
  /** Decimal significant digits (1-15) to which posteriors are rounded before anything is compared. */
  readonly numericPrecision: number;
}

/**
 * What a KC's posterior says [MA-108]: `mastered` when it reaches the cut and the confidence threshold, `gap` when it is below the cut and
 * its complement reaches the threshold, else `not_yet`. Without a scored item on the KC it is always `not_yet`: theta alone decides
 * nothing. Compared is what a client sees, the posterior rounded to `numericPrecision`, and the rounded complement of that.
 */
export function classify(rule: ClassificationRule, posterior: number, scoredItems: number): Classification {
  if (scoredItems < 1) return 'not_yet';
  const shown = roundSignificant(posterior, rule.numericPrecision);
  if (shown >= rule.kcCutScore) return shown >= rule.confidenceThreshold ? 'mastered' : 'not_yet';
  return roundSignificant(1 - shown, rule.numericPrecision) >= rule.confidenceThreshold ? 'gap' : 'not_yet';
}

/** How many outcomes carry evidence on each KC: the number of scored items, an item answered twice counting once. */
export function scoredItemsPerKc(
  itemKcs: readonly (readonly number[])[],
  kcCount: number,
  scoredItems: readonly number[],
): Int32Array {
  const counts = new Int32Array(kcCount);
  for (const item of new Set(scoredItems)) {
    for (const kc of itemKcs[item] ?? []) counts[kc] = (counts[kc] ?? 0) + 1;
  }
  return counts;
}
