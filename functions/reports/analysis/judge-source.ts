import type { Pin } from '#shared/improvement/records.ts';
import { ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { AlignmentCrosswalk } from '#shared/platform/owners/content.ts';
import { alignSource } from './alignment/align-source.ts';
import type { Alignment } from './alignment/align-source.ts';
import { showComparison } from './alignment/show-comparison.ts';
import { deriveSourceOrders } from './orders/derive-orders.ts';
import type { Compared, Derived, OrderGrounds } from './orders/derive-orders.ts';

/** The evidence of one named source, as its run is pinned to it. */
export interface SourceEvidence {
  readonly sourceKey: string;
  readonly crosswalk: { readonly pin: Pin; readonly value: AlignmentCrosswalk };
  /** Null: none is due. `missing`: one is due, and Analytics had none. */
  readonly comparison: Compared | 'missing' | null;
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
  { sourceKey, crosswalk, comparison }: SourceEvidence,
): Result<JudgedSource, string> {
  const alignment = alignSource(crosswalk.value);
  if (!alignment.ok) return alignment;
  const held = comparison === null || comparison === 'missing' ? undefined : comparison;
  const derived = deriveSourceOrders(grounds, {
    sourceKey,
    crosswalk: crosswalk.pin,
    alignment: alignment.value,
    comparison: held,
  });
  const shown = held === undefined ? undefined : showComparison(held.artifact);
  // There is none to show, its counts are withheld, or a decision on it is.
  const isWithheld =
    (shown?.comparison?.observedAgreement ?? null) === null ||
    derived.withheld.some(({ trigger }) => grounds.policy.triggers[trigger]?.metric === 'predicted_actual');
  return ok({
    alignment: alignment.value,
    limitations: shown?.limitations ?? [],
    comparisonOmitted: comparison !== null && isWithheld,
    derived,
  });
}
