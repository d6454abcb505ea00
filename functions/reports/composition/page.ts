import { isSelectable, isSelected } from '#shared/contract/filters.ts';
import type { FilterValues } from '#shared/contract/filters.ts';
import type { AttemptReport } from '#shared/contract/reports/attempt-report.ts';
import { listCandidateReports } from '#shared/contract/reports/routes.ts';
import type { SourceRef } from '#shared/contract/reports/source-ref.ts';
import { compareInstants } from '#shared/kernel/instant.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { ReportCriteria } from '#shared/platform/owners/content.ts';
import type { CandidateAttempts, RecordHeader } from '#shared/platform/owners/results.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { problem } from '#shared/problems/registry.ts';
import { projectAttemptReport } from './attempt-report.ts';
import type { IndexRow, Moment, Observed, Released } from '../facts/facts.ts';
import { composeHeader } from './header.ts';
import { incomplete, requireCurrent } from '../facts/incomplete.ts';
import { disagreement } from '../facts/versions.ts';

const { filters: pageFilters } = listCandidateReports.request;

/** What every row of a page has to satisfy. */
export type PageFilters = FilterValues<typeof pageFilters>;

/** The place of a row in the order of the list. */
export type RowPlace = Pick<IndexRow, 'modifiedAt' | 'attemptId'>;

/** What one read of the index was to answer. */
export interface IndexRequest {
  readonly candidateSourcedId: string;
  readonly filters: PageFilters;
  readonly limit: number;
  /** The row before the first one; absent at the beginning of the list. */
  readonly after?: RowPlace | undefined;
  /** Rows that an earlier read for the same page gave. */
  readonly earlier?: readonly RowPlace[] | undefined;
}

/**
 * Whether an answer of the index is one to what it was asked, as far as the index alone tells: whose rows, which, and in what order. A
 * violation is a 503 naming Results; no row is dropped in silence [RP-133, RP-305].
 */
export function checkIndex(index: CandidateAttempts, request: IndexRequest): Problem | undefined {
  if (index.candidateSourcedId !== request.candidateSourcedId) return foreign();
  if (index.freshness !== 'current')
    return incomplete('results', 'The index of attempts is not current at Results.');
  const violation = violations.find(({ holds }) => holds(index, request));
  return violation === undefined ? undefined : incomplete('results', violation.detail);
}

const violations: readonly {
  readonly holds: (index: CandidateAttempts, request: IndexRequest) => boolean;
  readonly detail: string;
}[] = [
  {
    holds: ({ rows }, { limit }) => rows.length > limit,
    detail: 'The index of attempts at Results gives more rows than it was asked for.',
  },
  {
    holds: ({ rows, hasMore }) => hasMore && rows.length === 0,
    detail: 'The index of attempts at Results promises further rows and gives none.',
  },
  {
    // Kind and status of a report are known once it is composed.
    holds: ({ rows }, { filters }) => !rows.every((row) => isSelectable(pageFilters, filters, row)),
    detail: 'The index of attempts at Results gives a row that does not match the filters.',
  },
  {
    holds: ({ rows }, { after }) => !isOrdered(after === undefined ? rows : [after, ...rows]),
    detail: 'The index of attempts at Results is not in its order, newest modification first.',
  },
  {
    holds: ({ rows }, { earlier = [] }) =>
      new Set([...earlier, ...rows].map(({ attemptId }) => attemptId)).size < earlier.length + rows.length,
    detail: 'The index of attempts at Results gives an attempt twice.',
  },
];

/** Strictly: newest modification first, ties by attempt id ascending, byte for byte. */
function isOrdered(places: readonly RowPlace[]): boolean {
  return places.every((place, at) => {
    const before = places[at - 1];
    if (before === undefined) return true;
    const time = compareInstants(place.modifiedAt, before.modifiedAt);
    return (
      time < 0 ||
      (time === 0 && Buffer.compare(Buffer.from(before.attemptId), Buffer.from(place.attemptId)) < 0)
    );
  });
}

/** Whether a row is one of the list: an attempt that QTI has not scored is not [RP-063]. */
export function isScored({ attemptStatus }: IndexRow): boolean {
  return attemptStatus === 'scored';
}

/** What the rows of a page are composed with. */
export interface PageContext extends Released {
  readonly candidateSourcedId: string;
  readonly filters: PageFilters;
  /** The receipt of the read that gave the row. */
  readonly index: SourceRef;
  readonly candidate: SourceRef;
  /** Of the row's test spec, in the row's version of it. */
  readonly criteria: Observed<ReportCriteria>;
}

/**
 * The summary of one scored row of a checked index. One that cannot be joined, or that the filters do not select once it is composed, is a
 * 503: a page never leaves it out [RP-028, RP-133].
 */
export function composePageRow(
  row: IndexRow,
  context: PageContext,
  moment: Moment,
): Result<AttemptReport, Problem> {
  const { record, administeredItemCount, contentTestSpecVersion } = row;
  const { candidate, criteria, proved } = context;
  if (record === null) return err(incomplete('results', 'Results holds no record of a scored attempt.'));
  if (!isOf(record, row, context)) return err(foreign());
  if (compareInstants(record.modifiedAt, row.modifiedAt) !== 0)
    return err(
      incomplete('results', 'Record and index at Results give an attempt two times of modification.'),
    );
  const conflicting = disagreement(
    { resultRecordVersion: record.version, contentTestSpecVersion },
    record,
    criteria.value,
  );
  if (conflicting !== undefined)
    return err(incomplete(conflicting, 'The versions of an attempt’s sources did not converge.'));
  const sources = [receiptOf(record, context.index), criteria.receipt, candidate];
  const outdated = requireCurrent(sources);
  if (outdated !== undefined) return err(outdated);

  const header = composeHeader({ record, criteria: criteria.value, administeredItemCount, proved });
  if (!header.ok) return header;
  if (!isSelected(pageFilters, context.filters, { ...row, ...header.value }))
    return err(
      incomplete('results', 'The index of attempts at Results gives a row that does not match the filters.'),
    );
  const identity = {
    attemptId: row.attemptId,
    qtiSessionId: row.qtiSessionId,
    qtiTestId: row.qtiTestId,
    resultRecordId: record.resultRecordId,
    candidateSourcedId: record.candidateSourcedId,
    administrationId: row.administrationId,
    contentTestSpecId: row.contentTestSpecId,
  };
  const composed = { identity, header: header.value, mastery: [], sources, enrichmentProblems: [] };
  return ok(projectAttemptReport(composed, 'summary', moment));
}

/** Whether a record belongs to its row, and the row to the candidate. */
function isOf(
  record: RecordHeader,
  { attemptId, contentTestSpecId }: IndexRow,
  { candidateSourcedId }: PageContext,
): boolean {
  return (
    record.candidateSourcedId === candidateSourcedId &&
    record.attemptId === attemptId &&
    record.contentTestSpecId === contentTestSpecId
  );
}

/** The record was observed with the index, under its own id, version and freshness. */
function receiptOf({ resultRecordId, version, freshness }: RecordHeader, index: SourceRef): SourceRef {
  return { ...index, resourceId: resultRecordId, version, status: freshness };
}

/** An answer about someone or something else than was asked for is no answer. */
function foreign(): Problem {
  return problem('reports', 'dependency-unavailable', 503, {
    dependency: 'results',
    detail: 'The index of attempts at Results answered about something else than it was asked for.',
  });
}
