import type { readClassCohort } from '#shared/contract/reports/routes/read-class-cohort.ts';
import type { Operation } from '#shared/http/operation.ts';
import { answerCohort } from '../support/answer-cohort.ts';
import type { ReportDependencies } from '../support/owners.ts';

/** Returns the rollup of a class. */
export function readClassCohortOperation(
  dependencies: ReportDependencies,
): Operation<typeof readClassCohort> {
  return (request) => answerCohort(dependencies, request, { type: 'class', ...request.path });
}
