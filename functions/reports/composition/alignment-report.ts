import type * as z from 'zod';
import type { Alignment } from '#functions/reports/analysis/alignment/align-source.ts';
import { showComparison } from '#functions/reports/analysis/alignment/show-comparison.ts';
import type { ShownComparison } from '#functions/reports/analysis/alignment/show-comparison.ts';
import type { Compared } from '#functions/reports/analysis/orders/derive-orders.ts';
import type { alignmentReport } from '#shared/contract/reports/alignment-report.ts';
import { alignmentFormula } from '#shared/contract/reports/improvement-run.ts';
import type { ReceiptLink } from '#shared/contract/reports/receipt-link.ts';
import type { SourceRef } from '#shared/contract/reports/source-ref.ts';
import type { RunRecord } from '#shared/improvement/records.ts';
import type { AlignmentCrosswalk } from '#shared/platform/owners/content.ts';
import type { Moment, Observed } from '../facts/facts.ts';

type Comparison = (Omit<Compared, 'pin'> & { readonly receipt: SourceRef }) | 'missing' | null;

/**
 * The alignment of one named source of a run, as it has been recomputed from the pinned crosswalk. The comparison stands beside it and
 * changes none of its numbers [RP-175].
 * @param facts `crosswalkHash`: SHA-256 hex of the crosswalk's bytes; `comparison`: null where none is due, `missing` where Analytics has
 *   none that is due
 */
export function composeAlignmentReport(
  facts: {
    readonly run: RunRecord;
    readonly crosswalk: Observed<AlignmentCrosswalk>;
    readonly crosswalkHash: string;
    readonly alignment: Alignment;
    readonly comparison: Comparison;
    readonly receipt: ReceiptLink;
  },
  moment: Moment,
): z.input<typeof alignmentReport> {
  const { run, crosswalk, crosswalkHash, alignment, comparison, receipt } = facts;
  const compared = compare(comparison);
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
      ...(comparison === null || comparison === 'missing' ? [] : [comparison.receipt]),
    ],
    ...moment,
  };
}

function compare(comparison: Comparison): ShownComparison {
  if (comparison === null) return { comparison: null, limitations: [] };
  if (comparison === 'missing')
    return {
      comparison: null,
      limitations: ['Analytics has no comparison of predicted with actual results, and one is due.'],
    };
  return showComparison(comparison.artifact);
}
