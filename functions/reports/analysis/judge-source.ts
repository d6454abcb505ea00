import { isCompared, type NotCompared, type Pin } from '#shared/improvement/records.ts';
import { ok, type Result } from '#shared/kernel/result.ts';
import type { AlignmentCrosswalk, AlignmentSources } from '#shared/platform/owners/content.ts';
import { alignSource, type Alignment } from './alignment/align-source.ts';
import { showComparison } from './alignment/show-comparison.ts';
import { deriveSourceOrders } from './orders/derive-orders.ts';
import type { Compared, Derived, OrderGrounds } from './orders/derive-orders.ts';

/** The evidence of one named source, as its run is pinned to it. */
export interface SourceEvidence {
  readonly sourceKey: string;
  readonly crosswalk: { readonly pin: Pin; readonly value: AlignmentCrosswalk };
  readonly comparison: Compared | NotCompared;
  /** Content's list of the sources, where the rules of the run ask for it. */
  readonly sourceSet: AlignmentSources | undefined;
}

/** What the evidence of one named source says. */
export interface JudgedSource {
  readonly alignment: Alignment;
  /** What the comparison cannot show of itself. */
  readonly limitations: readonly string[];
  /** A comparison was due, and there is none to show and to judge. */
  readonly comparisonOmitted: boolean;
  readonly derived: Derived;
}

/**
 * Judges one named source under a policy: a function of the pinned bytes, so that every worker and the receipts command find the same.
 * @returns err: a sentence that says why the crosswalk has no alignment
 */
export function judgeSource(
  grounds: OrderGrounds,
  { sourceKey, crosswalk, comparison, sourceSet }: SourceEvidence,
): Result<JudgedSource, string> {
  const alignment = alignSource(crosswalk.value, sourceSet);
  if (!alignment.ok) return alignment;
  const held = isCompared(comparison) ? comparison : undefined;
  const derived = deriveSourceOrders(grounds, {
    sourceKey,
    crosswalk: crosswalk.pin,
    alignment: alignment.value,
    comparison: held,
  });
  const shown = showComparison(comparison);
  // There is none to show, its counts are withheld, or a decision on it is.
  const isWithheld =
    (shown.comparison?.observedAgreement ?? null) === null ||
    derived.withheld.some(({ trigger }) => grounds.policy.triggers[trigger]?.metric === 'predicted_actual');
  return ok({
    alignment: alignment.value,
    // The bundles of earlier rules do not say that one is missing.
    limitations: comparison === 'missing' && grounds.rules !== '3' ? [] : shown.limitations,
    comparisonOmitted: comparison !== null && comparison !== 'not_analyzed' && isWithheld,
    derived,
  });
}
