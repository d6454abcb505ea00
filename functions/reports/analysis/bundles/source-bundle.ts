import type { Alignment } from '#functions/reports/analysis/alignment/align-source.ts';
import type { Derived } from '#functions/reports/analysis/orders/derive-orders.ts';
import type { AnalysisPolicy } from '#shared/contract/reports/analysis-policy.ts';
import type { SourceReceipt } from '#shared/contract/reports/receipt-bundle.ts';
import type { Bundle } from '#shared/improvement/receipts.ts';
import type { PinnedSource, RunRecord } from '#shared/improvement/records.ts';
import type { AlignmentCrosswalk } from '#shared/platform/owners/content.ts';
import { decisionsOf, headerOf, pinsOf } from './receipt-parts.ts';
import { sealBundle } from './seal-bundle.ts';

/** A named source of a run, evaluated. */
export interface SourceFacts {
  readonly run: RunRecord;
  /** The one that the run is pinned to. */
  readonly policy: AnalysisPolicy;
  readonly source: PinnedSource;
  readonly crosswalk: Pick<AlignmentCrosswalk, 'sourceAssessment' | 'sourceVersion'>;
  readonly alignment: Alignment;
  /** What the comparison cannot show of itself, without any count. */
  readonly limitations: readonly string[];
  /** A comparison was due, and there is none to show. */
  readonly comparisonOmitted: boolean;
  readonly derived: Derived;
}

/**
 * The receipt of one source: its alignment in full, what the decisions on it rest on, and nothing of what the comparison has counted
 * [RP-168, RP-215, RP-216]. A function of what is pinned: there is no time in it.
 */
export function sourceBundle(facts: SourceFacts): Bundle {
  const { run, policy, source, crosswalk, alignment, limitations, comparisonOmitted, derived } = facts;
  return sealBundle<SourceReceipt>({
    object: 'source_receipt',
    ...headerOf(run, policy),
    sourceKey: source.sourceKey,
    sourceAssessment: crosswalk.sourceAssessment,
    sourceVersion: crosswalk.sourceVersion,
    ...pinsOf(source),
    numerator: alignment.numerator,
    denominator: alignment.denominator,
    alignmentPercent: alignment.alignmentPercent,
    contributions: [...alignment.contributions],
    limitations: [...alignment.limitations, ...limitations],
    ...decisionsOf(derived),
    omissions: comparisonOmitted ? ['predicted_actual'] : [],
  });
}
