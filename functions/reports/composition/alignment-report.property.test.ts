import fc from 'fast-check';
import { expect, it } from 'vitest';
import { alignSource } from '#functions/reports/analysis/alignment/align-source.ts';
import { showComparison } from '#functions/reports/analysis/alignment/show-comparison.ts';
import { alignmentReport } from '#shared/contract/reports/alignment-report.ts';
import { completedRun } from '#shared/contract/reports/examples.ts';
import type { ComparisonArtifact } from '#shared/platform/owners/analytics.ts';
import type { AlignmentCrosswalk } from '#shared/platform/owners/content.ts';
import { comparisonArtifact, crosswalk, recordedRun } from '#test/support/improvement-facts.ts';
import { anExampleOf, frozen, moment } from '#test/support/report-facts.ts';
import { composeAlignmentReport } from './alignment-report.ts';

const { run } = anExampleOf(recordedRun).progress;
const [receipt, comparedReceipt] = completedRun.sources;
const crosswalkHash = '5f'.repeat(32);

/** The report with a comparison, or without one that is due or not; and the alignment that it shows. */
function report(value: AlignmentCrosswalk, compared: ComparisonArtifact | 'missing' | null) {
  const aligned = alignSource(value);
  if (!aligned.ok) throw new Error(aligned.error);
  const alignment = frozen(aligned.value);
  const crosswalk = { value: frozen(value), receipt: receipt! };
  const comparison =
    compared === null || compared === 'missing'
      ? compared
      : { artifact: frozen(compared), receipt: comparedReceipt! };
  const facts = { run, crosswalk, crosswalkHash, alignment, comparison, receipt: completedRun.receipt! };
  const body = composeAlignmentReport(facts, moment);
  return { body, alignment };
}

/** What a report shows of a comparison. */
function shownOf(compared: ComparisonArtifact | 'missing' | null) {
  if (compared === null) return { comparison: null, limitations: [] };
  if (compared !== 'missing') return showComparison(compared);
  const due = 'Analytics has no comparison of predicted with actual results, and one is due.';
  return { comparison: null, limitations: [due] };
}

const any = fc.oneof(comparisonArtifact, fc.constantFrom('missing' as const, null));

it('the report on a source is its alignment, about the blueprint that the run has pinned, beside the comparison as it may be shown [RP-144, RP-147, RP-167, RP-168, RP-169, RP-170, RP-173, RP-174, RP-175, RP-176, RP-186, RP-187]', () => {
  fc.assert(
    fc.property(crosswalk, any, (value, compared) => {
      const { body, alignment } = report(value, compared);
      expect(alignmentReport.parse(body)).toEqual(body);
      const { sourceKey, sourceAssessment, sourceVersion } = value;
      const { contentTestSpecId, contentTestSpecVersion } = run.pins;
      const { observedAt, requestId, traceId } = moment;
      const { comparison, limitations } = shownOf(compared);
      expect(body).toEqual({
        object: 'alignment_report',
        improvementRunId: run.improvementRunId,
        sourceKey,
        sourceAssessment,
        sourceVersion,
        contentTestSpecId,
        contentTestSpecVersion,
        crosswalkHash,
        formulaVersion: 'alignment-v1',
        ...alignment,
        predictedActual: comparison,
        limitations: [...alignment.limitations, ...limitations],
        receipt: completedRun.receipt,
        sources: compared === null || compared === 'missing' ? [receipt] : [receipt, comparedReceipt],
        observedAt,
        requestId,
        traceId,
      });
    }),
    { numRuns: 300 },
  );
});
