import type { CohortFacts, Observed } from '#functions/reports/facts/facts.ts';
import type { CohortScope } from '#shared/contract/reports/cohort-report.ts';
import { ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import type { Rollup } from '#shared/platform/owners/analytics.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { together } from './problems.ts';
import { readSource, versioned } from './reader.ts';
import type { Expectation, SourceReader } from './reader.ts';
import { readCohortEntry } from './roster.ts';

/**
 * The facts of a cohort report, side by side: OneRoster confirms the class or school, Analytics gives its rollup. A cohort that is not on the
 * roster is a 404 whatever Analytics says; so is one that Analytics has never rolled up (the reading on permanent absence).
 */
export async function readCohort(
  reader: SourceReader,
  scope: CohortScope,
): Promise<Result<CohortFacts, Problem>> {
  const read = await together({ roster: readCohortEntry(reader, scope), rollup: readRollup(reader, scope) });
  return read.ok ? ok({ scope, rollup: read.value.rollup }) : read;
}

function readRollup(reader: SourceReader, scope: CohortScope): Promise<Result<Observed<Rollup>, Problem>> {
  const expectation: Expectation<Rollup> = {
    origin: 'confirmed',
    isAsked: (rollup) => isSameScope(rollup.scope, scope),
    about: (rollup) => versioned(rollup.rollupId, rollup),
  };
  if (scope.type === 'class') {
    const { classSourcedId } = scope;
    return readSource(reader, operations.readClassRollup, { path: { classSourcedId } }, expectation);
  }
  const { schoolSourcedId, grade } = scope;
  return readSource(
    reader,
    operations.readSchoolGradeRollup,
    { path: { schoolSourcedId, grade } },
    expectation,
  );
}

function isSameScope(answered: Rollup['scope'], asked: CohortScope): boolean {
  if (answered.type === 'class')
    return asked.type === 'class' && answered.classSourcedId === asked.classSourcedId;
  return (
    asked.type === 'school_grade' &&
    answered.schoolSourcedId === asked.schoolSourcedId &&
    answered.grade === asked.grade
  );
}
