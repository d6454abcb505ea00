import type * as z from 'zod';
import { cohortReport, type CohortScope } from '#shared/contract/reports/cohort-report.ts';
import { cohortInvariants } from '#shared/contract/reports/invariants/cohort-report.ts';
import { firstBroken } from '#shared/contract/reports/invariants/invariant.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { Rollup } from '#shared/platform/owners/analytics.ts';
import type { Problem } from '#shared/problems/problem.ts';
import type { Moment, Observed } from '../facts/facts.ts';
import { contradictory, incomplete, requireCurrent } from '../facts/incomplete.ts';
import { nameOrUnknown } from '../facts/name-or-unknown.ts';

const suppressionStatuses = cohortReport.shape.suppression.shape.status.options;

/**
 * Composes a cohort report from the rollup of Analytics. It contains measures only if Analytics marks the snapshot `not_suppressed`, otherwise only
 * the published count. A rollup without a count, one that is not current, and one that breaks an invariant are a 503 [RP-004, RP-131, the reading of
 * RP-132].
 */
export function composeCohortReport(
  scope: CohortScope,
  { value: rollup, receipt }: Observed<Rollup>,
  moment: Moment,
): Result<z.input<typeof cohortReport>, Problem> {
  const outdated = requireCurrent([receipt]);
  if (outdated !== undefined) return err(outdated);
  const { populationCount } = rollup;
  if (populationCount === null)
    return err(incomplete('analytics', 'Analytics does not publish the population count of the cohort.'));
  const status = nameOrUnknown(suppressionStatuses, rollup.suppression.status);
  const disclosed = status === 'not_suppressed' ? { measures: rollup.measures } : {};
  const broken = firstBroken(cohortInvariants, {
    asOf: rollup.asOf,
    observedAt: moment.observedAt,
    populationCount,
    ...disclosed,
  });
  if (broken !== undefined) return err(contradictory(broken));
  return ok({
    object: 'cohort_report',
    scope,
    rollupId: rollup.rollupId,
    formulaVersion: rollup.formulaVersion,
    asOf: rollup.asOf,
    populationCount,
    suppression: { status },
    ...disclosed,
    source: receipt,
    ...moment,
  });
}
