import type * as z from 'zod';
import type { attemptReport, attemptReportPage, View } from '#shared/contract/reports/attempt-report.ts';
import { canonicalQuery, isSelected } from '#shared/contract/filters.ts';
import { cursorRefusal } from '#shared/contract/reports/routes.ts';
import { sandboxRoutes } from '#shared/contract/sandbox.ts';
import { Refusal } from '#shared/http/refusal.ts';
import { invalid } from '#shared/http/syntax/issues.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { compareInstants } from '#shared/kernel/instant.ts';
import { problem } from '#shared/problems/registry.ts';
import { adaptiveDiagnostic, composedAt, masteryGate, pageReceipts } from './fixtures.ts';
import type { AttemptFixture } from './fixtures.ts';

type Report = z.input<typeof attemptReport>;
/** The ids of one answer. */
export type Correlation = Pick<Report, 'requestId' | 'traceId'>;
const { listCandidateReports: list } = sandboxRoutes;
type CandidateQuery = z.output<typeof list.request.query>;

/** A fixture as a view shows it. */
export function viewOf({ report }: AttemptFixture, view: View, correlation: Correlation): Report {
  const { mastery } = report;
  const shown: Readonly<Record<View, Pick<Report, 'mastery' | 'omitted'>>> = {
    summary: { mastery: [], omitted: ['mastery', 'itemEvidence', 'readiness'] },
    standards: {
      mastery: mastery.map((row) => ({ ...row, evidence: undefined })),
      omitted: ['itemEvidence', 'readiness'],
    },
    evidence: { mastery, omitted: ['readiness'] },
  };
  return { ...report, ...shown[view], ...correlation };
}

/** What the candidate has, newest modification first. */
const history: readonly AttemptFixture[] = [masteryGate, adaptiveDiagnostic].toSorted((a, b) =>
  compareInstants(b.modifiedAt, a.modifiedAt),
);

/** The receipts that the row of a list has, which is composed without QTI and CASE. */
const rowServices = ['results', 'content', 'oneroster'];

/**
 * One page of the candidate's reports: rows that match every filter, in the list's order [RP-038, RP-039]. A cursor is good for the
 * filters, order and page size that it was given out for, and says nothing to anybody; any other is a 400.
 */
export function pageOf(query: CandidateQuery, correlation: Correlation): z.input<typeof attemptReportPage> {
  const { limit, cursor } = query;
  const rows = history.filter(({ report, modifiedAt }) =>
    isSelected(list.request.filters, query, { ...report, modifiedAt }),
  );
  /** Where the pages begin, without the first. */
  const places = rows.map((_, at) => at).filter((at) => at > 0 && at % limit === 0);
  const from = cursor === undefined ? 0 : places.find((at) => cursorAt(at, query) === cursor);
  if (from === undefined) {
    const refused = invalid('query', ['cursor'], cursorRefusal.reason, cursorRefusal.message);
    throw new Refusal(problem('reports', 'validation', 400, { invalidParams: [refused] }));
  }
  const data = rows
    .slice(from, from + limit)
    .map((row) => viewOf(row, 'summary', correlation))
    .map((row) => ({ ...row, sources: row.sources.filter(({ service }) => rowServices.includes(service)) }));
  const next = places.find((at) => at > from);
  const specs = data.flatMap(({ sources }) => sources.filter(({ service }) => service === 'content'));
  return {
    data,
    nextCursor: next === undefined ? null : cursorAt(next, query),
    hasMore: next !== undefined,
    observedAt: composedAt,
    sources: [pageReceipts.index, pageReceipts.candidate, ...specs],
  };
}

/** There is no secret to keep: the digest makes a cursor opaque, and holds it to its list. */
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
