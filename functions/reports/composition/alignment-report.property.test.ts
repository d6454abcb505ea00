import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
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
const [receipt] = completedRun.sources;
const crosswalkHash = '5f'.repeat(32);

function report(value: AlignmentCrosswalk, comparison: ComparisonArtifact | 'missing' | null) {
  const alignment = alignSource(value);
  if (!alignment.ok) throw new Error(alignment.error);
  const body = composeAlignmentReport(
    {
      run,
      crosswalk: { value: frozen(value), receipt: receipt! },
      crosswalkHash,
      alignment: frozen(alignment.value),
      comparison:
        comparison === null || comparison === 'missing'
          ? comparison
          : { value: frozen(comparison), receipt: receipt! },
      sources: completedRun.sources,
      receipt: completedRun.receipt!,
    },
    moment,
  );
  return { body, alignment: alignment.value };
}

const any = fc.oneof(comparisonArtifact, fc.constantFrom('missing' as const, null));

describe('the report on the alignment of a source', () => {
  it('passes the contract, whatever the crosswalk and the comparison say [RP-167, RP-168, RP-170, RP-173, RP-174, RP-176]', () => {
    fc.assert(
      fc.property(crosswalk, any, (value, comparison) => {
        const { body } = report(value, comparison);
        expect(alignmentReport.parse(body)).toEqual(body);
      }),
      { numRuns: 300 },
    );
  });

  it('is about the source that the crosswalk names and the blueprint that the run has pinned [RP-144, RP-147, RP-167, RP-168, RP-169]', () => {
    fc.assert(
      fc.property(crosswalk, any, (value, comparison) => {
        const { body } = report(value, comparison);
        expect(body).toMatchObject({
          improvementRunId: run.improvementRunId,
          sourceKey: value.sourceKey,
          sourceAssessment: value.sourceAssessment,
          sourceVersion: value.sourceVersion,
          contentTestSpecId: run.pins.contentTestSpecId,
          contentTestSpecVersion: run.pins.contentTestSpecVersion,
          crosswalkHash,
          formulaVersion: 'alignment-v1',
          receipt: completedRun.receipt,
          sources: completedRun.sources,
          observedAt: moment.observedAt,
          requestId: moment.requestId,
          traceId: moment.traceId,
        });
      }),
    );
  });

  it('has the same structural values whatever the comparison is [RP-175]', () => {
    fc.assert(
      fc.property(crosswalk, any, (value, comparison) => {
        const { body, alignment } = report(value, comparison);
        const { numerator, denominator, alignmentPercent, contributions } = alignment;
        expect(body).toMatchObject({ numerator, denominator, alignmentPercent, contributions });
      }),
    );
  });

  it('shows the comparison as it may be shown, and names the limits of both [RP-175, RP-176, RP-186, RP-187]', () => {
    fc.assert(
      fc.property(crosswalk, comparisonArtifact, (value, artifact) => {
        const { body, alignment } = report(value, artifact);
        const { comparison, limitations } = showComparison(artifact);
        expect(body.predictedActual).toEqual(comparison);
        expect(body.limitations).toEqual([...alignment.limitations, ...limitations]);
      }),
    );
  });

  it('says that a comparison is missing only where one is due [RP-175, RP-176]', () => {
    fc.assert(
      fc.property(crosswalk, (value) => {
        const due = report(value, 'missing');
        expect(due.body.predictedActual).toBeNull();
        expect(due.body.limitations).toEqual([
          ...due.alignment.limitations,
          'Analytics has no comparison of predicted with actual results, and one is due.',
        ]);
        const { body, alignment } = report(value, null);
        expect([body.predictedActual, body.limitations]).toEqual([null, alignment.limitations]);
      }),
    );
  });
});
