import type { IndexRow, Observed } from '#functions/reports/facts/facts.ts';
import type { ComposedAttempt } from '#functions/reports/composition/attempt-report.ts';
import {
  checkIndex,
  composePageRow,
  isFollowing,
  isPossible,
  isScored,
  rowDisagreement,
  settledRecord,
} from '#functions/reports/composition/page.ts';
import type { IndexRequest, PageContext, RowPlace } from '#functions/reports/composition/page.ts';
import { ownerQuery } from '#shared/contract/filters.ts';
import { withheldReason } from '#shared/contract/reports/attempt-report.ts';
import type { AttemptReportPage, WithheldReason } from '#shared/contract/reports/attempt-report.ts';
import { listCandidateReports } from '#shared/contract/reports/routes.ts';
import type { SourceRef } from '#shared/contract/reports/source-ref.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import type { ReportCriteria } from '#shared/platform/owners/content.ts';
import type { CandidateAttempts, RecordHeader } from '#shared/platform/owners/results.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { problem } from '#shared/problems/registry.ts';
import { sourceProblem, together } from '#functions/reports/sources/problems.ts';
import { versioned } from '#functions/reports/sources/reader.ts';
import type { SourceReader } from '#functions/reports/sources/reader.ts';
import { readCandidate } from '#functions/reports/sources/roster.ts';
import { readReportCriteria } from '#functions/reports/sources/test-spec.ts';
import type { SpecVersion } from '#functions/reports/sources/test-spec.ts';
import type { Shortfall } from '#functions/reports/facts/incomplete.ts';

/** The page that a caller asks for. */
export interface PageRequest extends Pick<PageContext, 'candidateSourcedId' | 'filters' | 'proved'> {
  readonly limit: number;
  /** The last row that the page before covers; absent at the beginning of the list. */
  readonly after?: RowPlace | undefined;
}

/** A page, and the attempts that it has passed over because they cannot be reports yet. */
export interface CandidatePage {
  readonly data: readonly ComposedAttempt[];
  readonly withheld: NonNullable<AttemptReportPage['withheld']>;
  /** The last row of the index that the page covers; undefined at the end of the list. */
  readonly next: RowPlace | undefined;
  /** The receipts of everything that the page stands on. */
  readonly sources: readonly SourceRef[];
}

/**
 * So often a page reads the index at most: 5,000 attempts when nothing changes meanwhile. Each read takes one of the 72 turns that 29 seconds
 * have at 400 ms, and a few more go to test specs.
 */
export const MOST_INDEX_READS = 50;

/** Rows that one read of the index asks for. */
const INDEX_PAGE = 100;

const reasons = withheldReason.options;

type Index = Observed<CandidateAttempts>;
/** Where a page of the index begins, and the rows before it. */
type Place = Pick<IndexRequest, 'after' | 'earlier'> & { readonly earlier: readonly RowPlace[] };

/** What becomes of a row: neither a report nor withheld is one that the list does not have, or is not asked for. */
interface RowOutcome {
  readonly report?: ComposedAttempt | undefined;
  readonly withheld?: WithheldReason;
  /** The receipt of its test spec, where that decided. */
  readonly criteria?: SourceRef;
}

/** What a page has gathered so far. */
interface Gathered {
  readonly data: ComposedAttempt[];
  readonly withheld: Map<WithheldReason, number>;
  readonly indexes: Set<SourceRef>;
  readonly specs: Set<SourceRef>;
  /** The criteria by the spec and version that rows name, each read once; a failure counts where a row of the page needs them. */
  readonly criteria: Map<string, Result<Observed<ReportCriteria>, Problem>>;
  /** The last row that it covers. */
  last: RowPlace | undefined;
}

/** A page that is asked for, of a candidate who is on the roster. */
type Sought = PageRequest & Pick<PageContext, 'candidate'>;

/**
 * Reads one page: the candidate beside the index of attempts, then the criteria of the test specs among the rows that can fill the page. A
 * candidate who is not on the roster is a 404, whatever the index says. Where these rows give no report, the rest of the index is read, page
 * by page and each beside the test specs of the one before, until there is a report or the end. So a page that is not the last one has a row.
 *
 * Where the versions of a row differ, its page of the index and its criteria are read once more.
 */
export async function readCandidatePage(
  reader: SourceReader,
  request: PageRequest,
): Promise<Result<CandidatePage, Problem>> {
  const begun = await together({
    candidate: readCandidate(reader, request.candidateSourcedId, 'caller'),
    index: readIndex(reader, request, { after: request.after, earlier: [] }),
  });
  if (!begun.ok) return begun;
  const { candidate, index } = begun.value;
  const page: Gathered = {
    data: [],
    withheld: new Map(),
    indexes: new Set(),
    specs: new Set(),
    criteria: new Map(),
    last: undefined,
  };
  const walked = await walk(reader, { ...request, candidate }, page, index);
  if (!walked.ok) return walked;
  return ok({
    data: page.data,
    withheld: reasons.flatMap((reason) => {
      const count = page.withheld.get(reason);
      return count === undefined ? [] : [{ reason, count }];
    }),
    next: walked.value === 'end' ? undefined : page.last,
    sources: [...page.indexes, ...page.specs, candidate],
  });
}

/**
 * Gathers rows until the page has one and the rows that were read for it are used up, or until the end of the list.
 * @param first the first page of the index
 */
async function walk(
  reader: SourceReader,
  request: Sought,
  page: Gathered,
  first: Index,
): Promise<Result<'end' | 'more', Problem>> {
  let [index, reads] = [first, 1];
  let place: Place = { after: request.after, earlier: [] };
  /** Whether these are the rows that can fill the page: they are not read ahead of, since mostly they do. */
  let isOpening = true;
  let isSecondReading = false;
  for (;;) {
    const { rows, hasMore } = index.value;
    const left = rows.filter((row) => page.last === undefined || isFollowing(row, page.last));
    const part = isOpening ? openingOf(left, request) : left;
    const behind: Place = { after: rows.at(-1), earlier: [...place.earlier, ...rows] };
    const mayRead = hasMore && reads < MOST_INDEX_READS;
    const [ahead] = await Promise.all([
      mayRead && !isOpening ? readIndex(reader, request, behind) : undefined,
      readCriteria(reader, request, page, part),
    ]);
    if (ahead !== undefined) reads += 1;

    const differing = isSecondReading ? [] : part.filter((row) => disagrees(row, request, page));
    if (differing.length > 0 && reads < MOST_INDEX_READS) {
      for (const row of differing) page.criteria.delete(keyOf(row));
      const again = await readIndex(reader, request, place);
      if (!again.ok) return again;
      [index, reads, isSecondReading] = [again.value, reads + 1, true];
      continue;
    }

    const gathered = gather(page, part, index.receipt, request);
    if (!gathered.ok) return gathered;
    const isRead = gathered.value === 'all' && part.length === left.length;
    if (isRead && !hasMore) return ok('end');
    if (page.data.length > 0) return ok('more');
    isOpening = false;
    if (!isRead) continue;
    if (!mayRead) return err(tooMuch());
    const next = ahead ?? (await readIndex(reader, request, behind));
    if (!next.ok) return next;
    [index, place, isSecondReading] = [next.value, behind, false];
    if (ahead === undefined) reads += 1;
  }
}

/** The rows that can fill the page: all before the first that would be one too many. */
function openingOf(rows: readonly IndexRow[], request: PageRequest): readonly IndexRow[] {
  let possible = 0;
  const end = rows.findIndex((row) => {
    const record = recordOf(row, request);
    if (record !== undefined && isPossible(record, request.filters)) possible += 1;
    return possible > request.limit;
  });
  return end === -1 ? rows : rows.slice(0, end);
}

/** The settled record of a scored row; only such a row needs the criteria of its test spec. */
function recordOf(row: IndexRow, { candidateSourcedId }: PageRequest): RecordHeader | undefined {
  if (!isScored(row)) return undefined;
  const record = settledRecord(row, candidateSourcedId);
  return record.ok ? record.value : undefined;
}

/** Adds rows to a page, in their order; `full` before the first one that it has no room for. */
function gather(
  page: Gathered,
  rows: readonly IndexRow[],
  index: SourceRef,
  request: Sought,
): Result<'all' | 'full', Problem> {
  page.indexes.add(index);
  for (const row of rows) {
    const outcome = judgeRow(row, page, { ...request, index });
    // What is wrong with a row that the page does not cover concerns the next page.
    if (page.data.length === request.limit && (!outcome.ok || outcome.value.report !== undefined))
      return ok('full');
    if (!outcome.ok) return outcome;
    const { report, withheld, criteria } = outcome.value;
    if (report !== undefined) page.data.push(report);
    if (withheld !== undefined) page.withheld.set(withheld, (page.withheld.get(withheld) ?? 0) + 1);
    if (criteria !== undefined) page.specs.add(criteria);
    page.last = row;
  }
  return ok('all');
}

function judgeRow(
  row: IndexRow,
  { criteria }: Gathered,
  context: Omit<PageContext, 'criteria'>,
): Result<RowOutcome, Problem> {
  if (!isScored(row)) return ok({});
  const record = settledRecord(row, context.candidateSourcedId);
  if (!record.ok) return withheldOr(record.error);
  const held = criteria.get(keyOf(row));
  if (held === undefined) throw new Error('the test spec of a settled row was not read');
  if (!held.ok) return held;
  const report = composePageRow(row, { ...context, criteria: held.value });
  const decided = { criteria: held.value.receipt };
  return report.ok ? ok({ ...decided, report: report.value }) : withheldOr(report.error, decided);
}

/** What only needs time or a release is withheld; everything else makes no page [RP-028, RP-133]. */
function withheldOr(error: Problem | Shortfall, decided: RowOutcome = {}): Result<RowOutcome, Problem> {
  const withheld = 'reason' in error ? reasons.find((reason) => reason === error.reason) : undefined;
  return withheld === undefined ? err(error) : ok({ ...decided, withheld });
}

/** Whether the owners' versions of a row differ. */
function disagrees(row: IndexRow, request: PageRequest, { criteria }: Gathered): boolean {
  const [record, held] = [recordOf(row, request), criteria.get(keyOf(row))];
  return record !== undefined && held?.ok === true && rowDisagreement(row, record, held.value) !== undefined;
}

/** One read of the index, which is refused as a whole when it is not one to what it was asked. */
async function readIndex(
  reader: SourceReader,
  { candidateSourcedId, filters }: PageRequest,
  place: Place,
): Promise<Result<Index, Problem>> {
  const { after } = place;
  const query = {
    limit: String(INDEX_PAGE),
    ...ownerQuery(listCandidateReports.request.filters, filters),
    ...(after === undefined ? {} : { afterModifiedAt: after.modifiedAt, afterAttemptId: after.attemptId }),
  };
  const answer = await reader.read(
    operations.listCandidateAttempts,
    { path: { candidateSourcedId }, query },
    (index) => versioned(candidateSourcedId, index),
  );
  if (!answer.ok) return err(sourceProblem(answer.error, 'derived'));
  const refused = checkIndex(answer.value.value, {
    candidateSourcedId,
    filters,
    limit: INDEX_PAGE,
    ...place,
  });
  return refused === undefined ? answer : err(refused);
}

/** Reads the criteria of every spec and version among settled rows that have not been read yet, side by side. */
async function readCriteria(
  reader: SourceReader,
  request: PageRequest,
  { criteria }: Gathered,
  rows: readonly IndexRow[],
): Promise<void> {
  const settled = rows.filter((row) => recordOf(row, request) !== undefined);
  const missing = new Map(settled.map((row) => [keyOf(row), row]));
  for (const key of criteria.keys()) missing.delete(key);
  await Promise.all(
    Array.from(missing, async ([key, row]) => {
      criteria.set(key, await readReportCriteria(reader, row, 'derived'));
    }),
  );
}

function keyOf({ contentTestSpecId, contentTestSpecVersion }: SpecVersion): string {
  return JSON.stringify([contentTestSpecId, contentTestSpecVersion]);
}

/** The candidate has more attempts without a row of the page than one request can look through. */
function tooMuch(): Problem {
  return problem('reports', 'dependency-unavailable', 503, {
    dependency: 'results',
    detail:
      'The index of attempts at Results has more rows that are no part of the list than one request can pass over.',
  });
}
