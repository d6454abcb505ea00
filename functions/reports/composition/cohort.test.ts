import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cohortReport } from '#shared/contract/reports/cohort-report.ts';
import { rollup } from '#shared/platform/owners/analytics.ts';
import { anExampleOf, cohortFacts, frozen, moment } from '#test/support/report-facts.ts';
import { composeCohort } from './cohort.ts';

const SECRET = 0.123456789;

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

  it.each([
    ['suppressed', 'suppressed'],
    ['unknown', 'unknown'],
    ['redacted', 'unknown'],
    ['NOT_SUPPRESSED', 'unknown'],
  ])(
    'shows no value of a snapshot that Analytics calls %s, even if it sends some, and its count also if it is none [RP-131]',
    (said, shown) => {
      const facts = anExampleOf(cohortFacts);
      facts.rollup.value.suppression.status = said;
      facts.rollup.value.populationCount = 0;
      facts.rollup.value.measures = [{ name: 'mean', value: SECRET, unit: 'proportion' }];
      const report = composeCohort(facts, moment);
      expect(report).toMatchObject({
        ok: true,
        value: { populationCount: 0, suppression: { status: shown } },
      });
      expect(report.ok && 'measures' in report.value).toBe(false);
      expect(JSON.stringify(report)).not.toContain(String(SECRET));
    },
  );
});
