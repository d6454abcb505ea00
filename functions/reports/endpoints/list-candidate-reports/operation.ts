import { mayReadCandidate } from '#functions/reports/access/claims.ts';
import { projectAttemptReport } from '#functions/reports/composition/attempt-report.ts';
import type { RowPlace } from '#functions/reports/composition/page.ts';
import { openListCursor } from '#functions/reports/cursor/cursor.ts';
import { readCandidatePage } from './read-facts.ts';
import { notFound } from '#functions/reports/sources/problems.ts';
import { listCandidateReports } from '#shared/contract/reports/routes/list-candidate-reports.ts';
import { mergeReceipts } from '#shared/contract/reports/source-ref.ts';
import type { Operation } from '#shared/http/operation.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { KeyRing } from '#shared/keys/key-ring.ts';
import { answerReport, type ReportDependencies } from '../support/owners.ts';

export interface ListCandidateReportsDependencies extends ReportDependencies {
  /** The keys of cursors. */
  readonly keys: KeyRing;
}

/**
 * Returns one page of a candidate's reports. It refuses a cursor that does not belong to the request first, and asks no owner about a candidate whom
 * the claims do not name.
 */
export function listCandidateReportsOperation(
  dependencies: ListCandidateReportsDependencies,
): Operation<typeof listCandidateReports> {
  const { keys } = dependencies;
  return async (request) => {
    const { candidateSourcedId } = request.path;
    const keyset: readonly (keyof RowPlace)[] = ['modifiedAt', 'attemptId'];
    const cursor = await openListCursor(keys, listCandidateReports, keyset, request);
    if (!cursor.ok) return cursor;
    if (!mayReadCandidate(request.principal, candidateSourcedId)) return err(notFound());
    return answerReport(dependencies, request, async ({ reader, frameworks, moment }) => {
      const page = await readCandidatePage(reader, {
        candidateSourcedId,
        // Only the query parameters that the row calls filters select rows.
        filters: request.query,
        limit: request.query.limit,
        frameworks,
        after: cursor.value.after,
        proved: request.proved,
      });
      if (!page.ok) return page;
      const { data, withheld, broken, next, sources } = page.value;
      for (const [invariant, dependency] of broken)
        request.log('FACTS_CONTRADICTORY', { invariant, dependency });
      const nextCursor = await cursor.value.seal(next);
      const now = moment();
      return ok({
        data: data.map((composed) => projectAttemptReport(composed, 'summary', now, request.problemsUrl)),
        nextCursor,
        hasMore: nextCursor !== null,
        observedAt: now.observedAt,
        sources: mergeReceipts(sources),
        ...(withheld.length === 0 ? {} : { withheld: [...withheld] }),
      });
    });
  };
}
