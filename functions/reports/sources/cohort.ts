import type { CohortFacts, Observed } from '#functions/reports/facts/facts.ts';
import type { CohortScope } from '#shared/contract/reports/cohort-report.ts';
import { ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import type { Rollup } from '#shared/platform/owners/analytics.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { together } from './problems.ts';
import { readSource } from './reader.ts';
import type { SourceReader } from './reader.ts';
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
  const { type, ...path } = scope;
  const operation = type === 'class' ? operations.readClassRollup : operations.readSchoolGradeRollup;
  return readSource(reader, operation, { path }, { origin: 'confirmed', id: 'rollupId', asked: { scope } });
}
