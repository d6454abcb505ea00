import type * as z from 'zod';
import { mayReadClass, mayReadSchool } from '#functions/reports/access/claims.ts';
import { composeCohort } from '#functions/reports/composition/cohort.ts';
import { notFound, together } from '#functions/reports/sources/problems.ts';
import { readSource } from '#functions/reports/sources/reader.ts';
import { readCohortEntry } from '#functions/reports/sources/roster.ts';
import type { CohortScope, cohortReport } from '#shared/contract/reports/cohort-report.ts';
import type { OperationRequest } from '#shared/http/operation.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { openOwners, retryContradiction, type OwnerDependencies } from './owners.ts';

/**
 * Returns the rollup of a class, or of a grade of a school. It asks no owner about one that the claims do not name. OneRoster is asked together with
 * Analytics: a cohort that is not on the roster is a 404 even if Analytics has it; so is one without any rollup (the reading on permanent absence).
 */
export async function answerCohort(
  dependencies: OwnerDependencies,
  request: OperationRequest,
  scope: CohortScope,
): Promise<Result<{ readonly body: z.input<typeof cohortReport> }, Problem>> {
  const { type, ...path } = scope;
  const mayRead =
    type === 'class'
      ? mayReadClass(request.principal, scope.classSourcedId)
      : mayReadSchool(request.principal, scope.schoolSourcedId);
  if (!mayRead) return err(notFound());
  const opened = await openOwners(dependencies, request);
  if (!opened.ok) return opened;
  const { reader, moment } = opened.value;
  const operation = type === 'class' ? operations.readClassRollup : operations.readSchoolGradeRollup;
  const body = await retryContradiction(async () => {
    const read = await together({
      roster: readCohortEntry(reader, scope),
      rollup: readSource(
        reader,
        operation,
        { path },
        { origin: 'confirmed', id: 'rollupId', asked: { scope } },
      ),
    });
    return read.ok ? composeCohort(scope, read.value.rollup, moment()) : read;
  });
  return body.ok ? ok({ body: body.value }) : body;
}
