import type * as z from 'zod';
import { incomplete } from '#functions/reports/facts/incomplete.ts';
import type { CohortScope } from '#shared/contract/reports/cohort-report.ts';
import type { SourceRef } from '#shared/contract/reports/source-ref.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { UpstreamOperation } from '#shared/platform/operation.ts';
import * as operations from '#shared/platform/operations.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { notFound, sourceProblem, type IdOrigin } from './problems.ts';
import type { SourceReader } from './reader.ts';

/** Returns OneRoster's confirmation that a candidate is on the roster. */
export function readCandidate(
  reader: SourceReader,
  candidateSourcedId: string,
  origin: IdOrigin,
): Promise<Result<SourceRef, Problem>> {
  return readEntry(reader, operations.readUser, candidateSourcedId, origin, ({ user }) => user);
}

/** Returns OneRoster's confirmation that a cohort's class or school is on the roster; else the caller's 404. */
export function readCohortEntry(
  reader: SourceReader,
  scope: CohortScope,
): Promise<Result<SourceRef, Problem>> {
  return scope.type === 'class'
    ? readEntry(reader, operations.readClass, scope.classSourcedId, 'caller', (answer) => answer.class)
    : readEntry(reader, operations.readSchool, scope.schoolSourcedId, 'caller', ({ org }) => org);
}

/** Reads an entry. One that is `tobedeleted` counts as deleted (OneRoster 1.2, status of base objects). */
async function readEntry<Operation extends UpstreamOperation>(
  reader: SourceReader,
  operation: Operation,
  sourcedId: string,
  origin: IdOrigin,
  entryOf: (answer: z.output<Operation['answer']>) => { readonly status: 'active' | 'tobedeleted' },
): Promise<Result<SourceRef, Problem>> {
  const answer = await reader.read(operation, { path: { sourcedId } }, () => ({ resourceId: sourcedId }));
  if (!answer.ok) return err(sourceProblem(answer.error, origin));
  if (entryOf(answer.value.value).status === 'active') return ok(answer.value.receipt);
  return err(
    origin === 'caller'
      ? notFound()
      : incomplete('oneroster', 'The candidate of the attempt is no longer on the roster.'),
  );
}
