import type { IndexRow, Observed } from '#functions/reports/facts/facts.ts';
import { incomplete } from '#functions/reports/facts/incomplete.ts';
import { checkIndex, isScored } from '#functions/reports/composition/page.ts';
import type { IndexRequest, RowPlace } from '#functions/reports/composition/page.ts';
import { disagreement } from '#functions/reports/facts/versions.ts';
import { ownerQuery } from '#shared/contract/filters.ts';
import { listCandidateReports } from '#shared/contract/reports/routes.ts';
import type { SourceRef } from '#shared/contract/reports/source-ref.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import type { ReportCriteria } from '#shared/platform/owners/content.ts';
import type { CandidateAttempts } from '#shared/platform/owners/results.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { sourceProblem, together } from '#functions/reports/sources/problems.ts';
import type { SourceReader } from '#functions/reports/sources/reader.ts';
import { readCandidate } from '#functions/reports/sources/roster.ts';
import { readReportCriteria } from '#functions/reports/sources/test-spec.ts';
import type { SpecVersion } from '#functions/reports/sources/test-spec.ts';

/** The page that a caller asks for. */
export type PageRequest = Omit<IndexRequest, 'earlier'>;

/** One scored attempt of the page, with what its summary is composed of. */
export interface PageRow {
  readonly row: IndexRow;
  /** The receipt of the read that gave the row. */
  readonly index: SourceRef;
  readonly criteria: Observed<ReportCriteria>;
}

/** What the owners say of one page. */
export interface PageFacts {
  readonly candidate: SourceRef;
  readonly rows: readonly PageRow[];
  /** The last row of the index that was looked at; undefined at the end of the list. */
  readonly next: RowPlace | undefined;
  /** The receipts of everything that was read. */
  readonly sources: readonly SourceRef[];
}

type Index = Observed<CandidateAttempts>;
/** The criteria of a page by the spec and the version that its rows name. */
type CriteriaBySpec = ReadonlyMap<string, Observed<ReportCriteria>>;

/**
 * The facts of one page, in two waves of reads: the candidate beside the index of attempts; the criteria of every test spec among its rows,
 * side by side. A candidate who is not on the roster is a 404, whatever the index says. Attempts that are not scored are passed over; a page
 * that they leave short is filled up by one more read of the index, and may stay shorter than its limit.
 *
 * Where an index that was read once does not agree with Content, both are read once more, side by side; whoever composes the rows refuses
 * what differs then.
 */
export async function readCandidatePage(
  reader: SourceReader,
  request: PageRequest,
): Promise<Result<PageFacts, Problem>> {
  const begun = await together({
    candidate: readCandidate(reader, request.candidateSourcedId, 'caller'),
    index: readIndex(reader, request),
  });
  if (!begun.ok) return begun;
  const { candidate, index } = begun.value;
  const filled = await fillUp(reader, request, index);
  if (!filled.ok) return filled;
  const criteria = await readCriteria(reader, scoredRows(filled.value));
  if (!criteria.ok) return criteria;
  if (filled.value.length > 1) return pageOf(candidate, filled.value, criteria.value);

  const differing = differingSpecs(index, criteria.value);
  if (differing.length === 0) return pageOf(candidate, [index], criteria.value);
  const again = await together({
    index: readIndex(reader, request),
    criteria: readCriteria(reader, differing),
  });
  return again.ok
    ? pageOf(candidate, [again.value.index], new Map([...criteria.value, ...again.value.criteria]))
    : again;
}

/** One read of the index, which is refused as a whole when it is not one to what it was asked. */
async function readIndex(reader: SourceReader, request: IndexRequest): Promise<Result<Index, Problem>> {
  const { candidateSourcedId, filters, limit, after } = request;
  const query = {
    limit: String(limit),
    ...ownerQuery(listCandidateReports.request.filters, filters),
    ...(after === undefined ? {} : { afterModifiedAt: after.modifiedAt, afterAttemptId: after.attemptId }),
  };
  const answer = await reader.read(
    operations.listCandidateAttempts,
    { path: { candidateSourcedId }, query },
    ({ version, freshness }) => ({ resourceId: candidateSourcedId, version, status: freshness }),
  );
  if (!answer.ok) return err(sourceProblem(answer.error, 'derived'));
  const refused = checkIndex(answer.value.value, request);
  return refused === undefined ? answer : err(refused);
}

/** The index, and what follows it when it has fewer scored rows than the page takes. */
async function fillUp(
  reader: SourceReader,
  request: PageRequest,
  index: Index,
): Promise<Result<readonly Index[], Problem>> {
  const { rows, hasMore } = index.value;
  const missing = request.limit - rows.filter(isScored).length;
  if (missing === 0 || !hasMore) return ok([index]);
  const rest = await readIndex(reader, { ...request, limit: missing, after: rows.at(-1), earlier: rows });
  return rest.ok ? ok([index, rest.value]) : rest;
}

function scoredRows(reads: readonly Index[]): readonly IndexRow[] {
  return reads.flatMap(({ value }) => value.rows.filter(isScored));
}

/** The criteria of every spec and version among these, each read once. */
async function readCriteria(
  reader: SourceReader,
  specs: readonly SpecVersion[],
): Promise<Result<CriteriaBySpec, Problem>> {
  const distinct = new Map(specs.map((spec) => [keyOf(spec), spec]));
  const read = await together(
    Object.fromEntries(
      [...distinct].map(([key, spec]) => [key, readReportCriteria(reader, spec, 'derived')]),
    ),
  );
  return read.ok ? ok(new Map(Object.entries(read.value))) : read;
}

function keyOf({ contentTestSpecId, contentTestSpecVersion }: SpecVersion): string {
  return JSON.stringify([contentTestSpecId, contentTestSpecVersion]);
}

/** The specs of the rows whose record is not of one version with them, in the version that the record names. */
function differingSpecs({ value }: Index, criteria: CriteriaBySpec): readonly SpecVersion[] {
  return value.rows.filter(isScored).flatMap((row) => {
    const { record, contentTestSpecId, contentTestSpecVersion } = row;
    const held = criteria.get(keyOf(row));
    if (record === null || held === undefined) return [];
    const pins = { resultRecordVersion: record.version, contentTestSpecVersion };
    return disagreement(pins, record, held.value) === undefined
      ? []
      : [{ contentTestSpecId, contentTestSpecVersion: record.contentTestSpecVersion }];
  });
}

/** Every scored row with its criteria. A row of the second read of the index may be of a spec that has not been read. */
function pageOf(
  candidate: SourceRef,
  reads: readonly Index[],
  criteria: CriteriaBySpec,
): Result<PageFacts, Problem> {
  const rows: PageRow[] = [];
  for (const { value, receipt } of reads) {
    for (const row of value.rows.filter(isScored)) {
      const held = criteria.get(keyOf(row));
      if (held === undefined)
        return err(incomplete('results', 'The versions of an attempt’s sources did not converge.'));
      rows.push({ row, index: receipt, criteria: held });
    }
  }
  const last = reads.at(-1);
  return ok({
    candidate,
    rows,
    next: last?.value.hasMore === true ? last.value.rows.at(-1) : undefined,
    sources: [
      ...reads.map(({ receipt }) => receipt),
      ...new Set(rows.map((row) => row.criteria.receipt)),
      candidate,
    ],
  });
}
