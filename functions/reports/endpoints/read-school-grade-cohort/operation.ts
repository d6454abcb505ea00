import { mayReadSchool } from '#functions/reports/access/claims.ts';
import { composeCohort } from '#functions/reports/composition/cohort.ts';
import { readCohort } from '#functions/reports/sources/cohort.ts';
import { notFound } from '#functions/reports/sources/problems.ts';
import type { readSchoolGradeCohort } from '#shared/contract/reports/routes.ts';
import type { Operation } from '#shared/http/operation.ts';
import { err } from '#shared/kernel/result.ts';
import { answerReport } from '../answer-report.ts';
import type { ReportDependencies } from '../answer-report.ts';

/** The rollup of a grade of a school. Nobody is asked about a school that the claims do not name. */
export function readSchoolGradeCohortOperation(
  dependencies: ReportDependencies,
): Operation<typeof readSchoolGradeCohort> {
  return async (request) => {
    const { schoolSourcedId, grade } = request.path;
    if (!mayReadSchool(request.principal, schoolSourcedId)) return err(notFound());
    return answerReport(dependencies, request, async ({ reader, moment }) => {
      const facts = await readCohort(reader, { type: 'school_grade', schoolSourcedId, grade });
      return facts.ok ? composeCohort(facts.value, moment()) : facts;
    });
  };
}
