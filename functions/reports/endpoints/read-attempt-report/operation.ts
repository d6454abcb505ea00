import { composeAttemptReport, projectAttemptReport } from '#functions/reports/composition/attempt-report.ts';
import { readAttempt } from '#functions/reports/sources/attempt.ts';
import type { readAttemptReport } from '#shared/contract/reports/routes/read-attempt-report.ts';
import type { Operation } from '#shared/http/operation.ts';
import { ok } from '#shared/kernel/result.ts';
import { answerReport, logUngovernedGaps, retryContradiction } from '../support/owners.ts';
import type { ReportDependencies } from '../support/owners.ts';

/** Returns the report of one scored attempt. All views have the same facts, so that the view cannot change status or authorization [RP-075]. */
export function readAttemptReportOperation(
  dependencies: ReportDependencies,
): Operation<typeof readAttemptReport> {
  return (request) =>
    answerReport(dependencies, request, async ({ reader, frameworks, moment }) => {
      const { principal, path, query, proved, problemsUrl } = request;
      const composed = await retryContradiction(async () => {
        const facts = await readAttempt(reader, frameworks, principal, path.attemptId);
        return facts.ok ? composeAttemptReport({ ...facts.value, proved }) : facts;
      });
      if (!composed.ok) return composed;
      logUngovernedGaps(request.log, composed.value);
      return ok(projectAttemptReport(composed.value, query.view, moment(), problemsUrl));
    });
}
