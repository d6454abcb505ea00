import type * as z from 'zod';
import type { Alignment } from '#functions/reports/analysis/alignment/align-source.ts';
import { showComparison } from '#functions/reports/analysis/alignment/show-comparison.ts';
import type { Compared } from '#functions/reports/analysis/orders/derive-orders.ts';
import type { alignmentReport } from '#shared/contract/reports/alignment-report.ts';
import { alignmentFormula } from '#shared/contract/reports/improvement-run.ts';
import type { ReceiptLink } from '#shared/contract/reports/receipt-link.ts';
import type { SourceRef } from '#shared/contract/reports/source-ref.ts';
import { isCompared, type NoComparison, type RunRecord } from '#shared/improvement/records.ts';
import type { AlignmentCrosswalk } from '#shared/platform/owners/content.ts';
import type { Moment, Observed } from '../facts/facts.ts';

/**
 * Composes the alignment of one named source of a run, as recomputed from the pinned crosswalk. The comparison is shown next to it and changes none
 * of its numbers [RP-175].
 * @param facts `sourceSet`: receipt of the list by which mappings were judged, if any; `crosswalkHash`: SHA-256 hex of the crosswalk's bytes
 */
export function composeAlignmentReport(
  facts: {
    readonly run: RunRecord;
    readonly sourceSet: SourceRef | undefined;
    readonly crosswalk: Observed<AlignmentCrosswalk>;
    readonly crosswalkHash: string;
    readonly alignment: Alignment;
    readonly comparison: (Omit<Compared, 'pin'> & { readonly receipt: SourceRef }) | NoComparison;
    readonly receipt: ReceiptLink;
  },
  moment: Moment,
): z.input<typeof alignmentReport> {
  const { run, sourceSet, crosswalk, crosswalkHash, alignment, comparison, receipt } = facts;
  const compared = showComparison(comparison);
  return {
    object: 'alignment_report',
    improvementRunId: run.improvementRunId,
    sourceKey: crosswalk.value.sourceKey,
    sourceAssessment: crosswalk.value.sourceAssessment,
    sourceVersion: crosswalk.value.sourceVersion,
    contentTestSpecId: run.pins.contentTestSpecId,
    contentTestSpecVersion: run.pins.contentTestSpecVersion,
    crosswalkHash,
    formulaVersion: alignmentFormula,
    ...alignment,
    contributions: [...alignment.contributions],
    predictedActual: compared.comparison,
    limitations: [...alignment.limitations, ...compared.limitations],
    receipt,
    sources: [
      crosswalk.receipt,
      ...(sourceSet === undefined ? [] : [sourceSet]),
      ...(isCompared(comparison) ? [comparison.receipt] : []),
    ],
    ...moment,
  };
}
