import { describe, expect, it } from 'vitest';
import { alignmentReport } from '#shared/contract/reports/alignment-report.ts';
import { completedRun } from '#shared/contract/reports/examples.ts';
import { improveRun, observedValues, runArtifacts } from '#test/support/improvement-facts.ts';
import { frozen, moment, observed, receipt } from '#test/support/report-facts.ts';
import { composeAlignmentReport } from './alignment-report.ts';

const { run, alignment } = improveRun().sourceFacts;
const { crosswalk, comparison: artifact } = runArtifacts;
const link = completedRun.receipt!;
const ofCrosswalk = observed('blueprint', 'crosswalk-1', { ...crosswalk, version: '12' });
const ofComparison = receipt('analytics', artifact.artifactRef, 'sha256:1');
const crosswalkHash = 'c'.repeat(64);

/** What is shown of the example, but for its comparison. */
const shown = {
  object: 'alignment_report',
  improvementRunId: run.improvementRunId,
  sourceKey: crosswalk.sourceKey,
  sourceAssessment: crosswalk.sourceAssessment,
  sourceVersion: crosswalk.sourceVersion,
  contentTestSpecId: 'spec-fractions-grade-5',
  contentTestSpecVersion: '12',
  crosswalkHash,
  formulaVersion: 'alignment-v1',
  // Of 2 + 0.1 + 0.2 + 1.5, only the first requirement counts.
  numerator: 2,
  denominator: 3.8,
  alignmentPercent: 52.631579,
  contributions: alignment.contributions,
  receipt: link,
  ...moment,
};
const counts = {
  predictedPassCount: observedValues.predicted,
  actualPassCount: observedValues.actual,
  agreementCount: observedValues.agreement,
  observedAgreement: 0.811516,
};
const nulls = Object.fromEntries(Object.keys(counts).map((name) => [name, null]));
const predictedActual = {
  artifactRef: 'artifact-comparison',
  populationCount: observedValues.population,
  suppressionStatus: 'not_suppressed',
  suppressionRule: null,
  method: 'pass classification',
  analysisVersion: 'external-2',
  ...counts,
};
const suppressed = { status: 'suppressed', rule: 'fewer than 10' };

describe('an alignment report', () => {
  const alone = [ofCrosswalk.receipt];
  const both = [...alone, ofComparison];
  it.each([
    [
      'shows the comparison of Analytics beside the alignment [RP-168, RP-169, RP-172, RP-175]',
      { artifact, receipt: ofComparison },
      { predictedActual, sources: both },
      [],
    ],
    ['shows none where none is due [RP-175]', null, { predictedActual: null, sources: alone }, []],
    [
      'names one that is due and missing, and shows the same alignment [RP-175, RP-176]',
      'missing' as const,
      { predictedActual: null, sources: alone },
      [/no comparison.*due/],
    ],
    [
      'shows no count of a suppressed one, and names it [RP-175, RP-176, RP-187, RP-188]',
      { artifact: { ...artifact, suppression: suppressed }, receipt: ofComparison },
      {
        predictedActual: {
          ...{ ...predictedActual, ...nulls },
          ...{ suppressionStatus: 'suppressed', suppressionRule: 'fewer than 10' },
        },
        sources: both,
      },
      [/suppressed/],
    ],
  ])('%s', (_, comparison, expected, limitations) => {
    const facts = {
      run,
      sourceSet: undefined,
      crosswalk: ofCrosswalk,
      crosswalkHash,
      alignment,
      comparison,
      receipt: link,
    };
    const report = composeAlignmentReport(frozen(facts), moment);
    expect(alignmentReport.parse(report)).toEqual(report);
    expect(report).toEqual({
      ...shown,
      ...expected,
      limitations: [
        ...alignment.limitations,
        ...limitations.map((limitation) => expect.stringMatching(limitation) as unknown),
      ],
    });
    // Its own requirements are limitations of the example.
    expect(alignment.limitations).not.toEqual([]);
  });
});
