import { describe, expect, it } from 'vitest';
import { cohortReport } from '#shared/contract/reports/cohort-report.ts';
import type { Rollup } from '#shared/platform/owners/analytics.ts';
import { moment, observed, tenantId } from '#test/support/report-facts.ts';
import { shortfall } from '#test/support/sound-attempt.ts';
import { composeCohortReport } from './cohort.ts';

const scope = { type: 'school_grade', schoolSourcedId: 'school-1', grade: '05' } as const;
const rollup: Rollup = {
  tenantId,
  rollupId: 'rollup-1',
  version: 'a2',
  freshness: 'current',
  scope,
  formulaVersion: 'rollup-2',
  asOf: '2026-03-02T04:00:00Z',
  populationCount: 24,
  suppression: { status: 'not_suppressed' },
  measures: [
    { name: 'share_proficient', value: 0.5, unit: 'proportion' },
    { name: 'growth', value: -3.25, unit: 'points' },
  ],
};
/** What is shown of it, but for the measures. */
const shown = {
  object: 'cohort_report',
  scope,
  rollupId: 'rollup-1',
  formulaVersion: 'rollup-2',
  asOf: '2026-03-02T04:00:00Z',
  populationCount: 24,
  suppression: { status: 'not_suppressed' },
  ...moment,
};
const { measures } = rollup;
const impossible = [{ name: 'share_proficient', value: 1.7, unit: 'proportion' }];

describe('a cohort report', () => {
  const suppression = (status: string): Partial<Rollup> => ({ suppression: { status } });
  const nobody = { populationCount: 0, measures: [] };
  it.each<[title: string, change: Partial<Rollup>, shown: object]>([
    ['shows values as Analytics published them [RP-004, RP-130]', {}, { measures }],
    [
      'shows no value of a suppressed snapshot [RP-131, RP-132]',
      { ...suppression('suppressed'), populationCount: 4 },
      { ...suppression('suppressed'), populationCount: 4 },
    ],
    ['shows no value that may be suppressed [RP-131]', suppression('unknown'), suppression('unknown')],
    ['shows none under a status of its own [RP-131]', suppression('partly'), suppression('unknown')],
    [
      'does not judge values that it does not show [RP-131]',
      { ...suppression('suppressed'), measures: impossible },
      suppression('suppressed'),
    ],
    ['counts nobody where Analytics counts nobody [RP-130]', nobody, nobody],
  ])('%s', (_, change, expected) => {
    const facts = observed('analytics', 'rollup-1', { ...rollup, ...change });
    const report = composeCohortReport(scope, facts, moment);
    expect(report).toEqual({ ok: true, value: { ...shown, ...expected, source: facts.receipt } });
    if (report.ok) expect(cohortReport.parse(report.value)).toEqual(report.value);
  });

  it.each<[title: string, change: Partial<Rollup>, detail: RegExp]>([
    ['Analytics withholds the count [RP-132]', { populationCount: null }, /population count/],
    ['a value is one that it cannot have [RP-132]', { measures: impossible }, /measure-in-range/],
    ['the snapshot is of a time to come [RP-130]', { asOf: '2026-03-03T10:15:31Z' }, /snapshot-not-ahead/],
    ['nobody is counted and has values [RP-132]', { populationCount: 0 }, /nobody-measured-nothing/],
  ])('is a 503 when %s', (_, change, detail) => {
    const facts = observed('analytics', 'rollup-1', { ...rollup, ...change });
    const composed = composeCohortReport(scope, facts, moment);
    expect(composed).toMatchObject(shortfall('analytics'));
    expect(composed.ok || composed.error.detail).toMatch(detail);
  });

  it.each(['stale', 'unavailable', 'unknown'] as const)(
    'is a 503 of a source that is %s [RP-087]',
    (status) => {
      const { value, receipt } = observed('analytics', 'rollup-1', rollup);
      const composed = composeCohortReport(scope, { value, receipt: { ...receipt, status } }, moment);
      expect(composed).toMatchObject(shortfall('analytics stale'));
    },
  );
});
