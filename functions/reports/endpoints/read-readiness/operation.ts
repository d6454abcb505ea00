import { composeReadiness } from '#functions/reports/composition/readiness.ts';
import type { ReadinessFacts } from '#functions/reports/facts/facts.ts';
import { finalDisagreement } from '#functions/reports/facts/versions.ts';
import { readFrameworkIfHeld } from '#functions/reports/sources/case-package.ts';
import { conflicting, together } from '#functions/reports/sources/problems.ts';
import { readSource, type SourceReader } from '#functions/reports/sources/reader.ts';
import { readSettledAttempt } from '#functions/reports/sources/settled-attempt.ts';
import type { SourceService } from '#shared/contract/reports/problem.ts';
import type { readReadiness } from '#shared/contract/reports/routes/read-readiness.ts';
import type { Operation, Principal } from '#shared/http/operation.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { answerReport, retryContradiction } from '../support/owners.ts';
import type { ReportDependencies, ReportOwners } from '../support/owners.ts';

/** Returns what an attempt implies for the external tests to which its blueprint has crosswalks. */
export function readReadinessOperation(dependencies: ReportDependencies): Operation<typeof readReadiness> {
  return (request) =>
    answerReport(dependencies, request, (owners) =>
      retryContradiction(async () => {
        const facts = await readReadinessFacts(owners, request.principal, request.path.attemptId);
        return facts.ok
          ? composeReadiness({ ...facts.value, proved: request.proved }, owners.moment())
          : facts;
      }),
    );
}

/**
 * Reads the facts that readiness is decided on, in three waves: the lookup by attempt id; record, criteria and candidate; the crosswalks together
 * with the CASE framework, without which the attempt has no report of its own.
 */
async function readReadinessFacts(
  { reader, frameworks }: ReportOwners,
  principal: Principal,
  attemptId: string,
): Promise<Result<ReadinessFacts, Problem>> {
  const settled = await readSettledAttempt(reader, principal, attemptId);
  if (!settled.ok) return settled;
  const { record, criteria } = settled.value;
  const read = await together({
    framework: readFrameworkIfHeld(reader, frameworks, criteria.value.caseFrameworkGuid),
    crosswalks: readCrosswalks(reader, record),
  });
  return read.ok ? ok({ ...settled.value, ...read.value }) : read;
}

/**
 * Reads the crosswalks of the blueprint version under which the attempt was settled. Those of another version are read once more; owners that are not
 * current contradict no other owner.
 */
async function readCrosswalks(
  reader: SourceReader,
  record: ReadinessFacts['record'],
): Promise<Result<ReadinessFacts['crosswalks'], Problem>> {
  const { contentTestSpecId: testSpecId, contentTestSpecVersion: version } = record.value;
  const conflict = (crosswalks: ReadinessFacts['crosswalks']): SourceService | undefined =>
    crosswalks.value.testSpecVersion === version
      ? undefined
      : finalDisagreement('blueprint', [record, crosswalks]);
  const call = { path: { testSpecId }, query: { version } };
  const read = () =>
    readSource(reader, operations.readReadinessCrosswalks, 'derived', 'crosswalkSetId', call);
  const first = await read();
  if (!first.ok || conflict(first.value) === undefined) return first;
  const second = await read();
  const owner = second.ok ? conflict(second.value) : undefined;
  return owner === undefined ? second : err(conflicting(owner));
}
