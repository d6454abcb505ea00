import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cohortReport } from '#shared/contract/reports/cohort-report.ts';
import { rollup } from '#shared/platform/owners/analytics.ts';
import { cohortFacts, frozen, moment } from '#test/support/report-facts.ts';
import { composeCohort } from './cohort.ts';

// What a suppressed snapshot, or a wrong one, makes of it: test/lemmas/contradictions.contract.test.ts.

describe('the report of a cohort', () => {
  it('is the snapshot of Analytics, passed on [RP-004, RP-005, RP-053, RP-129, RP-130]', () => {
    fc.assert(
      fc.property(cohortFacts, (facts) => {
        const { scope, rollup: observed } = frozen(facts);
        expect(rollup.parse(observed.value)).toEqual(observed.value);
        const report = composeCohort(facts, moment);
        if (!report.ok) throw new Error(report.error.detail);
        expect(cohortReport.parse(report.value)).toEqual(report.value);
        const { rollupId, formulaVersion, asOf, populationCount, suppression, measures } = observed.value;
        expect(report.value).toMatchObject({
          scope,
          rollupId,
          formulaVersion,
          asOf,
          populationCount,
          source: observed.receipt,
        });
        expect(report.value.measures).toEqual(suppression.status === 'not_suppressed' ? measures : undefined);
      }),
    );
  });
});
