import type * as z from 'zod';
import type { attemptReportPage } from '#shared/contract/reports/attempt-report.ts';
import { canonicalQuery, isSelected } from '#shared/contract/filters.ts';
import { cursorRefusal } from '#shared/contract/reports/page-parameters.ts';
import { adaptiveDiagnostic, masteryGate, pageWith } from '#shared/contract/reports/sandbox-fixtures.ts';
import type { AttemptFixture, Correlation } from '#shared/contract/reports/sandbox-fixtures.ts';
import { sandboxRoutes } from '#shared/contract/sandbox.ts';
import { Refusal } from '#shared/http/refusal.ts';
import { invalid } from '#shared/http/syntax/issues.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { compareInstants } from '#shared/kernel/instant.ts';
import { problem } from '#shared/problems/registry.ts';

const { listCandidateReports: list } = sandboxRoutes;
type CandidateQuery = z.output<typeof list.request.query>;

/** The candidate's attempts, newest modification first. */
const history: readonly AttemptFixture[] = [masteryGate, adaptiveDiagnostic].toSorted((a, b) =>
  compareInstants(b.modifiedAt, a.modifiedAt),
);

/**
 * Returns one page of the candidate's reports: rows that match every filter, in the list's order [RP-038, RP-039]. A cursor is valid for the filters,
 * order and page size for which it was issued, and is opaque; any other is a 400.
 */
export function pageOf(query: CandidateQuery, correlation: Correlation): z.input<typeof attemptReportPage> {
  const { limit, cursor } = query;
  const rows = history.filter(({ report, modifiedAt }) =>
    isSelected(list.request.filters, query, { ...report, modifiedAt }),
  );
  /** The places where pages begin, except the first. */
  const places = rows.map((_, at) => at).filter((at) => at > 0 && at % limit === 0);
  const from = cursor === undefined ? 0 : places.find((at) => cursorAt(at, query) === cursor);
  if (from === undefined) {
    const refused = invalid('query', ['cursor'], cursorRefusal.reason, cursorRefusal.message);
    throw new Refusal(problem('reports', 'validation', 400, { invalidParams: [refused] }));
  }
  const next = places.find((at) => at > from);
  const nextCursor = next === undefined ? null : cursorAt(next, query);
  return pageWith(rows.slice(from, from + limit), nextCursor, correlation);
}

/** Returns an opaque cursor. There is no secret to keep: the digest makes it opaque, and binds it to its list. */
function cursorAt(place: number, query: CandidateQuery): string {
  const { filters, query: schema } = list.request;
  const asked = canonicalQuery(filters, query);
  const parameters = Object.keys(schema.shape).filter((name) => name !== 'cursor');
  return hashCanonical({
    list: list.operationId,
    place,
    ...Object.fromEntries(parameters.map((name) => [name, asked[name] ?? null])),
  });
}
