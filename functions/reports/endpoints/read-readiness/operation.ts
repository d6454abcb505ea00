import { composeReadiness } from '#functions/reports/composition/readiness.ts';
import type { ReadinessFacts } from '#functions/reports/facts/facts.ts';
import { readFrameworkIfHeld } from '#functions/reports/sources/case-package.ts';
import { readSettledAttempt } from '#functions/reports/sources/settled-attempt.ts';
import { readReadinessCrosswalks } from '#functions/reports/sources/test-spec.ts';
import type { readReadiness } from '#shared/contract/reports/routes.ts';
import type { Operation, Principal } from '#shared/http/operation.ts';
import { ok } from '#shared/kernel/result.ts';
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
 * The facts that readiness is decided on, in three waves of reads: the lookup by attempt id; record, criteria, crosswalks and candidate; the
 * CASE framework, without which the attempt has no report of its own.
 */
export async function readReadinessFacts(
  { reader, frameworks }: Pick<ReportOwners, 'reader' | 'frameworks'>,
  principal: Principal,
  attemptId: string,
): Promise<Result<ReadinessFacts, Problem>> {
  const settled = await readSettledAttempt(reader, principal, attemptId, {
    read: (spec) => readReadinessCrosswalks(reader, spec),
    disagreement: ({ value, receipt }, version) =>
      value.testSpecVersion === version || receipt.status !== 'current' ? undefined : 'blueprint',
  });
  if (!settled.ok) return settled;
  const { more: crosswalks, ...attempt } = settled.value;
  const framework = await readFrameworkIfHeld(reader, frameworks, attempt.criteria.value.caseFrameworkGuid);
  return framework.ok ? ok({ ...attempt, crosswalks, framework: framework.value }) : framework;
}
