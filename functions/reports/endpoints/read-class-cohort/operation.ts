import { mayReadClass } from '#functions/reports/access/claims.ts';
import { composeCohort } from '#functions/reports/composition/cohort.ts';
import { readCohort } from '#functions/reports/sources/cohort.ts';
import { notFound } from '#functions/reports/sources/problems.ts';
import type { readClassCohort } from '#shared/contract/reports/routes.ts';
import type { Operation } from '#shared/http/operation.ts';
import { err } from '#shared/kernel/result.ts';
import { answerReport } from '../answer-report.ts';
import type { ReportDependencies } from '../answer-report.ts';

/** The rollup of a class. Nobody is asked about a class that the claims do not name. */
export function readClassCohortOperation(
  dependencies: ReportDependencies,
): Operation<typeof readClassCohort> {
  return async (request) => {
    const { classSourcedId } = request.path;
    if (!mayReadClass(request.principal, classSourcedId)) return err(notFound());
    return answerReport(dependencies, request, async ({ reader, moment }) => {
      const facts = await readCohort(reader, { type: 'class', classSourcedId });
      return facts.ok ? composeCohort(facts.value, moment()) : facts;
    });
  };
}
