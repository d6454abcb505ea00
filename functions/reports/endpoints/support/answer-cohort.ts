import { mayReadClass, mayReadSchool } from '#functions/reports/access/claims.ts';
import { composeCohortReport } from '#functions/reports/composition/cohort.ts';
import { notFound, together } from '#functions/reports/sources/problems.ts';
import { readSource } from '#functions/reports/sources/reader.ts';
import { readCohortEntry } from '#functions/reports/sources/roster.ts';
import type { CohortScope } from '#shared/contract/reports/cohort-report.ts';
import type { readClassCohort } from '#shared/contract/reports/routes/read-class-cohort.ts';
import type { OperationAnswer, OperationRequest } from '#shared/http/operation.ts';
import { err, type Result } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { answerReport, retryContradiction, type ReportDependencies } from './owners.ts';

/**
 * Returns the rollup of a class, or of a grade of a school. It asks no owner about one that the claims do not name. OneRoster is asked together with
 * Analytics: a cohort that is not on the roster is a 404 even if Analytics has it; so is one without any rollup (the reading on permanent absence).
 */
export async function answerCohort(
  dependencies: ReportDependencies,
  request: OperationRequest,
  scope: CohortScope,
): Promise<Result<OperationAnswer<typeof readClassCohort>, Problem>> {
  const { type, ...path } = scope;
  const mayRead =
    type === 'class'
      ? mayReadClass(request.principal, scope.classSourcedId)
      : mayReadSchool(request.principal, scope.schoolSourcedId);
  if (!mayRead) return err(notFound());
  const operation = type === 'class' ? operations.readClassRollup : operations.readSchoolGradeRollup;
  return answerReport(dependencies, request, ({ reader, moment }) =>
    retryContradiction(async () => {
      const read = await together({
        roster: readCohortEntry(reader, scope),
        rollup: readSource(reader, operation, 'confirmed', 'rollupId', { path }, { scope }),
      });
      return read.ok ? composeCohortReport(scope, read.value.rollup, moment()) : read;
    }),
  );
}
