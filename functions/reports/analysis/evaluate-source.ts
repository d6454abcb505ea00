import { isCompared, type NoComparison, type PinnedRef } from '#shared/improvement/records.ts';
import { ok, type Result } from '#shared/kernel/result.ts';
import type { AlignmentCrosswalk, AlignmentSources } from '#shared/platform/owners/content.ts';
import { alignSource, type Alignment } from './alignment/align-source.ts';
import { showComparison } from './alignment/show-comparison.ts';
import { deriveSourceOrders } from './orders/derive-orders.ts';
import type { Compared, Derived, OrderGrounds } from './orders/derive-orders.ts';

/** The evidence of one named source, as its run is pinned to it. */
export interface SourceEvidence {
  readonly sourceKey: string;
  readonly crosswalk: { readonly pin: PinnedRef; readonly value: AlignmentCrosswalk };
  readonly comparison: Compared | NoComparison;
  /** Content's list of the sources, if the rules of the run require it. */
  readonly sourceSet: AlignmentSources | undefined;
}

/** The evaluation of one named source’s evidence. */
export interface EvaluatedSource {
  readonly alignment: Alignment;
  /** Why parts of the comparison cannot be shown. */
  readonly limitations: readonly string[];
  /** Whether a comparison was due, but there is none that can be shown and judged. */
  readonly comparisonOmitted: boolean;
  readonly derived: Derived;
}

/**
 * Evaluates one named source under a policy. The result depends only on the pinned bytes, so that every worker and the receipts command agree.
 * @returns err: a sentence on why the crosswalk has no alignment
 */
export function evaluateSource(
  grounds: OrderGrounds,
  { sourceKey, crosswalk, comparison, sourceSet }: SourceEvidence,
): Result<EvaluatedSource, string> {
  const alignment = alignSource(crosswalk.value, sourceSet);
  if (!alignment.ok) return alignment;
  const derived = deriveSourceOrders(grounds, {
    sourceKey,
    crosswalk: crosswalk.pin,
    alignment: alignment.value,
    comparison: isCompared(comparison) ? comparison : undefined,
  });
  const shown = showComparison(comparison);
  // There is no comparison to show, its counts are withheld, or a decision on it is.
  const isWithheld =
    (shown.comparison?.observedAgreement ?? null) === null ||
    derived.withheld.some(({ trigger }) => grounds.policy.triggers[trigger]?.metric === 'predicted_actual');
  return ok({
    alignment: alignment.value,
    // The bundles of earlier rules do not mention a missing comparison.
    limitations: comparison === 'missing' && grounds.rules !== '3' ? [] : shown.limitations,
    comparisonOmitted: comparison !== null && comparison !== 'not_analyzed' && isWithheld,
    derived,
  });
}
