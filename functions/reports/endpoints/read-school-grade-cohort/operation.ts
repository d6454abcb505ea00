import type { readSchoolGradeCohort } from '#shared/contract/reports/routes/read-school-grade-cohort.ts';
import type { Operation } from '#shared/http/operation.ts';
import { answerCohort } from '../support/answer-cohort.ts';
import type { ReportDependencies } from '../support/owners.ts';

/** Returns the rollup of a grade of a school. */
export function readSchoolGradeCohortOperation(
  dependencies: ReportDependencies,
): Operation<typeof readSchoolGradeCohort> {
  return (request) => answerCohort(dependencies, request, { type: 'school_grade', ...request.path });
}
