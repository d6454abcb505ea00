import { isSelectable, type FilterValues } from '#shared/contract/filters.ts';
import { withheldReason, type WithheldReason } from '#shared/contract/reports/attempt-report.ts';
import { listCandidateReports } from '#shared/contract/reports/routes/list-candidate-reports.ts';
import { areUnique } from '#shared/contract/reports/primitives.ts';
import type { SourceService } from '#shared/contract/reports/problem.ts';
import type { SourceRef } from '#shared/contract/reports/source-ref.ts';
import { compareInstants } from '#shared/kernel/instant.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { ReportCriteria } from '#shared/platform/owners/content.ts';
import type { CandidateAttempts, RecordHeader } from '#shared/platform/owners/results.ts';
import type { Problem } from '#shared/problems/problem.ts';
import type { ComposedAttempt } from './attempt-report.ts';
import type { Framework, HeaderFacts, IndexRow, Observed, Released } from '../facts/facts.ts';
import { checkFramework, composeHeader } from './header.ts';
import { disagreeing, fallsShort, incomplete, requireCurrent, unavailable } from '../facts/incomplete.ts';
import type { Shortfall } from '../facts/incomplete.ts';
import { finalDisagreement, disagreement } from '../facts/versions.ts';

const { filters: pageFilters } = listCandidateReports.request;
const reasons = withheldReason.options;

/** The problem of a response about another subject than the requested one. */
const foreign = unavailable(
  'results',
  'The index of attempts at Results returned another subject than requested.',
);

/** The filters that every row of a page must satisfy. */
export type PageFilters = FilterValues<typeof pageFilters>;

/** The place of a row in the order of the list. */
export type RowPlace = Pick<IndexRow, 'modifiedAt' | 'attemptId'>;

/** The request that one read of the index has to satisfy. */
export interface IndexRequest {
  readonly candidateSourcedId: string;
  readonly filters: PageFilters;
  readonly limit: number;
  /** The row before the first one; absent at the beginning of the list. */
  readonly after?: RowPlace | undefined;
  /** Rows that an earlier read for the same page returned. */
  readonly earlier?: readonly RowPlace[] | undefined;
}

/**
 * Checks whether a response of the index fits its request, as far as the index itself shows: whose rows, which, and in which order. A violation is a
 * 503 naming Results; no row is dropped silently [RP-133, RP-305].
 */
export function checkIndex(index: CandidateAttempts, request: IndexRequest): Problem | undefined {
  if (index.candidateSourcedId !== request.candidateSourcedId) return foreign;
  const violation = violationIn(index, request);
  return violation === undefined ? undefined : incomplete('results', violation);
}

function violationIn(
  { freshness, rows, hasMore }: CandidateAttempts,
  { filters, limit, after, earlier = [] }: IndexRequest,
): string | undefined {
  if (freshness !== 'current') return 'The index of attempts is not current at Results.';
  if (rows.length > limit) return 'The index of attempts at Results returns more rows than requested.';
  if (hasMore && rows.length === 0)
    return 'The index of attempts at Results announces further rows but returns none.';
  // For a filter that the service applies, no row of the index has the fact.
  if (!rows.every((row) => isSelectable(pageFilters, filters, row)))
    return 'The index of attempts at Results returns a row that does not match the filters.';
  if (!isOrdered(after === undefined ? rows : [after, ...rows]))
    return 'The index of attempts at Results is not in order, newest modification first.';
  return areUnique([...earlier, ...rows].map(({ attemptId }) => attemptId))
    ? undefined
    : 'The index of attempts at Results returns an attempt twice.';
}

/** Returns whether places are in strict order: newest modification first, ties by attempt id ascending, byte by byte. */
export function isOrdered(places: readonly RowPlace[]): boolean {
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

/** Returns whether a row belongs to the list: an attempt that QTI has not scored does not [RP-063]. */
export function isScored({ attemptStatus }: IndexRow): boolean {
  return attemptStatus === 'scored';
}

/** The facts from which the rows of a page are composed. */
export interface PageContext extends Released {
  readonly candidateSourcedId: string;
  readonly filters: PageFilters;
  /** The receipt of the read that returned the row. */
  readonly index: SourceRef;
  readonly candidate: SourceRef;
  /** The criteria of the row's test spec, in the row's version of it. */
  readonly criteria: Observed<ReportCriteria>;
}

/** Returns the settled record of a scored row, as far as the index itself shows. Content need not be asked about a row without one. */
export function settledRecord(
  { attemptId, contentTestSpecId, modifiedAt, record }: IndexRow,
  candidateSourcedId: string,
): Result<NonNullable<IndexRow['record']>, Problem | Shortfall> {
  if (record === null) return fallsShort('noRecord');
  if (
    record.candidateSourcedId !== candidateSourcedId ||
    record.attemptId !== attemptId ||
    record.contentTestSpecId !== contentTestSpecId
  )
    return err(foreign);
  const outdated = requireCurrent([{ service: 'results', status: record.freshness }]);
  if (outdated !== undefined) return err(outdated);
  if (!record.settled) return fallsShort('notSettled');
  return compareInstants(record.modifiedAt, modifiedAt) === 0
    ? ok(record)
    : err(disagreeing('one-time-of-modification'));
}

/** Returns whether a row can become a report that the filters select, as far as the index itself shows. */
export function isPossible(
  row: IndexRow,
  { candidateSourcedId, filters }: Pick<PageContext, 'candidateSourcedId' | 'filters'>,
): boolean {
  if (!isScored(row)) return false;
  const settled = settledRecord(row, candidateSourcedId);
  return settled.ok && isSelectable(pageFilters, filters, { testKind: settled.value.testKind });
}

/** Returns the owner whose version of a row's facts is not the one that the row pins. */
export function rowDisagreement(
  { contentTestSpecVersion }: IndexRow,
  record: RecordHeader,
  criteria: Observed<ReportCriteria>,
): SourceService | undefined {
  const pins = { resultRecordVersion: record.version, contentTestSpecVersion };
  return disagreement(pins, record, criteria.value);
}

/** The summary of a row, and the facts that it is composed from. */
export interface PageRow {
  readonly report: ComposedAttempt;
  readonly facts: HeaderFacts;
}

/** Composes the summary of one scored row of a checked index, before its gate is checked against CASE. */
export function composePageRow(row: IndexRow, context: PageContext): Result<PageRow, Problem | Shortfall> {
  const { candidateSourcedId, candidate, criteria, proved } = context;
  const settled = settledRecord(row, candidateSourcedId);
  if (!settled.ok) return settled;
  const record = settled.value;
  const conflicting = finalDisagreement(rowDisagreement(row, record, criteria), [criteria]);
  // Versions still differ after a second read. This route has no 409: the owner counts as unavailable (the reading of RP-017).
  if (conflicting !== undefined)
    return err(unavailable(conflicting, 'The versions of an attempt’s sources did not converge.'));
  // The record was observed with the index, but has an id, a version and a freshness of its own.
  const { resultRecordId, version, freshness } = record;
  const observed: SourceRef = { ...context.index, resourceId: resultRecordId, version, status: freshness };
  const sources = [observed, criteria.receipt, candidate];
  const outdated = requireCurrent(sources);
  if (outdated !== undefined) return err(outdated);

  const facts = { attempt: row, record, criteria: criteria.value, gapRows: record.gapRowCaseGuids };
  const header = composeHeader({ ...facts, proved });
  return header.ok
    ? ok({
        report: { header: header.value, mastery: [], ungovernedGapCount: 0, sources, enrichmentProblems: [] },
        facts,
      })
    : header;
}

/** Returns the GUID of the framework that a row is checked against: only a gate names gaps. */
export function frameworkOf({ report, facts }: PageRow): string | undefined {
  return report.header.gate === null ? undefined : facts.criteria.caseFrameworkGuid;
}

/** Returns the summary of a row whose gate CASE confirms, with its receipt. */
export function verifyPageRow(
  { report, facts }: PageRow,
  framework: Observed<Framework>,
): Result<ComposedAttempt, Shortfall> {
  const unverified = checkFramework(report.header, facts, framework.value);
  return unverified === undefined
    ? ok({ ...report, sources: [...report.sources, framework.receipt] })
    : err(unverified);
}

/**
 * Returns why an attempt is withheld: gaps in an owner's response, and facts that cannot all be true, keep no other attempt from the page. Returns
 * undefined if there can be no page: an owner that cannot be used is never left out silently [RP-028, RP-133].
 */
export function withheldFor(error: Problem | Shortfall): WithheldReason | undefined {
  if (error.code !== 'dependency-incomplete') return undefined;
  return ('reason' in error ? reasons.find((reason) => reason === error.reason) : undefined) ?? 'unverified';
}
