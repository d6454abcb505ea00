import { composeReadiness } from '#functions/reports/composition/readiness.ts';
import type { ReadinessFacts } from '#functions/reports/facts/facts.ts';
import { readFrameworkIfHeld } from '#functions/reports/sources/case-package.ts';
import { conflicting, together } from '#functions/reports/sources/problems.ts';
import type { SourceReader } from '#functions/reports/sources/reader.ts';
import { readSettledAttempt } from '#functions/reports/sources/settled-attempt.ts';
import { readReadinessCrosswalks } from '#functions/reports/sources/test-spec.ts';
import type { SpecVersion } from '#functions/reports/sources/test-spec.ts';
import type { readReadiness } from '#shared/contract/reports/routes.ts';
import type { Operation, Principal } from '#shared/http/operation.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { answerReport } from '../answer-report.ts';
import type { ReportDependencies, ReportOwners } from '../answer-report.ts';

/** What an attempt implies for the external tests that its blueprint has crosswalks to. */
export function readReadinessOperation(dependencies: ReportDependencies): Operation<typeof readReadiness> {
  return (request) =>
    answerReport(dependencies, request, async (owners) => {
      const facts = await readReadinessFacts(owners, request.principal, request.path.attemptId);
      return facts.ok ? composeReadiness({ ...facts.value, proved: request.proved }, owners.moment()) : facts;
    });
}

/**
 * The facts that readiness is decided on, in three waves of reads: the lookup by attempt id; record, criteria and candidate; the crosswalks
 * beside the CASE framework, without which the attempt has no report of its own.
 */
async function readReadinessFacts(
  { reader, frameworks }: ReportOwners,
  principal: Principal,
  attemptId: string,
): Promise<Result<ReadinessFacts, Problem>> {
  const settled = await readSettledAttempt(reader, principal, attemptId);
  if (!settled.ok) return settled;
  const { evidence, criteria } = settled.value;
  const read = await together({
    framework: readFrameworkIfHeld(reader, frameworks, criteria.value.caseFrameworkGuid),
    crosswalks: readCrosswalks(reader, evidence.value),
  });
  return read.ok ? ok({ ...settled.value, ...read.value }) : read;
}

/** The crosswalks of the attempt's own blueprint version. Those of another one are read once more; a blueprint that is not current contradicts nothing. */
async function readCrosswalks(
  reader: SourceReader,
  spec: SpecVersion,
): Promise<Result<ReadinessFacts['crosswalks'], Problem>> {
  const isOther = ({ value, receipt }: ReadinessFacts['crosswalks']): boolean =>
    value.testSpecVersion !== spec.contentTestSpecVersion && receipt.status === 'current';
  const first = await readReadinessCrosswalks(reader, spec);
  if (!first.ok || !isOther(first.value)) return first;
  const second = await readReadinessCrosswalks(reader, spec);
  return second.ok && isOther(second.value) ? err(conflicting('blueprint')) : second;
}
