import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { predictedActualComparison } from '#shared/contract/reports/alignment-report.ts';
import { comparisonArtifact as comparisonSchema } from '#shared/platform/owners/analytics.ts';
import { expectedComparison } from '#test/contract/reports/expected-improvement.ts';
import { comparisonArtifact, runArtifacts } from '#test/support/improvement-facts.ts';
import { showComparison } from './show-comparison.ts';

describe('a comparison of predicted with actual results', () => {
  it('is one as the contract wants it or none, shows its counts exactly where they can be and are not suppressed, and names what it does not show [RP-175, RP-176, RP-185, RP-186, RP-187, RP-188, RP-189]', () => {
    fc.assert(
      fc.property(comparisonArtifact, (artifact) => {
        expect(comparisonSchema.parse(artifact)).toEqual(artifact);
        const { comparison, limitations } = showComparison({ artifact });
        expect(comparison).toEqual(expectedComparison(artifact));
        if (comparison !== null) expect(predictedActualComparison.parse(comparison)).toEqual(comparison);
        expect(limitations).toHaveLength(comparison?.suppressionStatus === 'not_suppressed' ? 0 : 1);
        for (const sentence of limitations) {
          expect(sentence.length).toBeLessThanOrEqual(500);
          // A limitation goes into a receipt bundle, which holds no observed value.
          expect(sentence).not.toMatch(/\d/);
        }
      }),
      { numRuns: 3_000 },
    );
  });

  const SUBJECT = 'comparison of predicted with actual results';
  // 0 would be possible for each of the counts.
  const counts = { populationCount: 24, predictedPassCount: 12, actualPassCount: 12, agreementCount: 12 };
  it.each([
    [`The ${SUBJECT} has an empty population and is not shown.`, { populationCount: 0 }],
    [
      `The ${SUBJECT} is suppressed without a rule and is not shown.`,
      { suppression: { status: 'suppressed', rule: null } },
    ],
    [`The counts of the ${SUBJECT} are suppressed.`, { suppression: { status: 'suppressed', rule: 'few' } }],
    [
      `Whether the ${SUBJECT} is suppressed is unknown: its counts are not shown.`,
      { suppression: { status: 'unknown', rule: null } },
    ],
    [`The ${SUBJECT} lacks a count and is not shown.`, { predictedPassCount: null }],
    [`The ${SUBJECT} lacks a count and is not shown.`, { actualPassCount: null }],
    [`The ${SUBJECT} lacks a count and is not shown.`, { agreementCount: null }],
    [`The ${SUBJECT} counts more than its population and is not shown.`, { agreementCount: 25 }],
    [`The ${SUBJECT} has counts that contradict each other and is not shown.`, { agreementCount: 11 }],
  ])('%s %j [RP-176]', (sentence, change) => {
    const artifact = { ...runArtifacts.comparison, ...counts, ...change };
    expect(showComparison({ artifact }).limitations).toEqual([sentence]);
  });
});
