import { composeReadiness } from '#functions/reports/composition/readiness.ts';
import { readReadinessFacts } from './read-facts.ts';
import type { readReadiness } from '#shared/contract/reports/routes.ts';
import type { Operation } from '#shared/http/operation.ts';
import { answerReport } from '../answer-report.ts';
import type { ReportDependencies } from '../answer-report.ts';

/** What an attempt implies for the external tests that its blueprint has crosswalks to. */
export function readReadinessOperation(dependencies: ReportDependencies): Operation<typeof readReadiness> {
  return (request) =>
    answerReport(dependencies, request, async (owners) => {
      const facts = await readReadinessFacts(owners, request.principal, request.path.attemptId);
      return facts.ok ? composeReadiness({ ...facts.value, proved: request.proved }, owners.moment()) : facts;
    });
}
