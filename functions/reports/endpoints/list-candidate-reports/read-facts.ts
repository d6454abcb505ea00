import type { Framework, IndexRow, Observed } from '#functions/reports/facts/facts.ts';
import type { ComposedAttempt } from '#functions/reports/composition/attempt-report.ts';
import {
  checkIndex,
  composePageRow,
  frameworkOf,
  isFollowing,
  isListed,
  isPossible,
  isScored,
  rowDisagreement,
  settledRecord,
  verifyPageRow,
  withheldFor,
} from '#functions/reports/composition/page.ts';
import type { IndexRequest, PageContext, PageRow, RowPlace } from '#functions/reports/composition/page.ts';
import { ownerQuery } from '#shared/contract/filters.ts';
import { withheldReason } from '#shared/contract/reports/attempt-report.ts';
import type { AttemptReportPage, WithheldReason } from '#shared/contract/reports/attempt-report.ts';
import { listCandidateReports } from '#shared/contract/reports/routes/list-candidate-reports.ts';
import type { SourceService } from '#shared/contract/reports/problem.ts';
import type { SourceRef } from '#shared/contract/reports/source-ref.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import type { ReportCriteria } from '#shared/platform/owners/content.ts';
import type { CandidateAttempts } from '#shared/platform/owners/results.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { problem } from '#shared/problems/registry.ts';
import { MAX_FRAMEWORKS, readFramework } from '#functions/reports/sources/case-package.ts';
import type { TenantFrameworks } from '#functions/reports/sources/case-package.ts';
import { sourceProblem, together } from '#functions/reports/sources/problems.ts';
import { versioned } from '#functions/reports/sources/reader.ts';
import type { SourceReader } from '#functions/reports/sources/reader.ts';
import { readCandidate } from '#functions/reports/sources/roster.ts';
import { readReportCriteria } from '#functions/reports/sources/test-spec.ts';
import type { SpecVersion } from '#functions/reports/sources/test-spec.ts';

/** The page that a caller asks for. */
export interface PageRequest extends Pick<PageContext, 'candidateSourcedId' | 'filters' | 'proved'> {
  readonly limit: number;
  readonly frameworks: TenantFrameworks;
  /** The last row that the previous page covers; absent at the beginning of the list. */
  readonly after?: RowPlace | undefined;
}

/** A page, and the attempts that it skips because they cannot be reports. */
export interface CandidatePage {
  readonly data: readonly ComposedAttempt[];
  readonly withheld: NonNullable<AttemptReportPage['withheld']>;
  /** The owners of facts that cannot be true, by the invariant that they violate. */
  readonly broken: ReadonlyMap<string, SourceService>;
  /** The last row of the index that the page covers; undefined at the end of the list. */
  readonly next: RowPlace | undefined;
  /** The receipts of every source of the page. */
  readonly sources: readonly SourceRef[];
}

/**
 * The most reads of the index per page: 5,000 attempts if nothing changes meanwhile. Each read takes one of the 72 calls of 400 ms that fit into 29
 * seconds; a few more go to test specs and frameworks.
 */
export const MOST_INDEX_READS = 50;

/** How many of its parts a page may read again. Each takes two reads, with the one ahead; the other reads always suffice for 4,000 attempts. */
export const MOST_SECOND_READINGS = 5;

/** Rows that one read of the index asks for. */
export const INDEX_PAGE = 100;

const reasons = withheldReason.options;

/** The problems of a candidate with more attempts without a row, or gates on more frameworks before the first row, than one request reads. */
const [tooManyAttempts, tooManyFrameworks] = [
  tooMuch('results', 'The candidate has more attempts outside the list than one request reads.'),
  tooMuch('case', 'The gates before the first row depend on more CASE frameworks than one request reads.'),
] as const;

type Index = Observed<CandidateAttempts>;
/** Where a page of the index begins, and the rows before it. */
type Place = Pick<IndexRequest, 'after' | 'earlier'> & { readonly earlier: readonly RowPlace[] };

/** A row and its outcome; no outcome if the list does not have the row or is not asked for it. */
interface JudgedRow<Report = ComposedAttempt> {
  readonly row: IndexRow;
  readonly outcome?: Result<Report, Problem> | undefined;
  /** The receipts of its test spec and framework, if they decided. */
  readonly receipts?: readonly SourceRef[];
  /** Whether the owners' versions of it differ. */
  readonly disagrees?: boolean;
}

/** What a page has gathered so far. */
interface Gathered {
  readonly data: ComposedAttempt[];
  readonly withheld: WithheldReason[];
  readonly broken: Map<string, SourceService>;
  readonly indexes: Set<SourceRef>;
  readonly receipts: Set<SourceRef>;
  /** The criteria by the spec and version that rows name, each read once; a failure counts only if a row of the page needs them. */
  readonly criteria: Map<string, Promise<Result<Observed<ReportCriteria>, Problem>>>;
  /** The frameworks of gates by their GUIDs, each read once. */
  readonly frameworks: Map<string, Promise<Result<Observed<Framework>, Problem>>>;
  /** How often the index was read for it. */
  reads: number;
  /** How often a part of the index was read again. */
  secondReadings: number;
  /** The last row that it covers. */
  last: RowPlace | undefined;
}

/** The requested page of a candidate who is on the roster. */
type Sought = PageRequest & Pick<PageContext, 'candidate'>;

/**
 * Reads one page: the candidate together with the index of attempts, then the criteria of the test specs of the rows that can fill the page. A
 * candidate who is not on the roster is a 404, even if the index has attempts. If these rows give no report, the service reads the rest of the index
 * page by page, each together with test specs and frameworks of the previous one, until there is a report or the end. So every page but the last has
 * a row.
 * If the versions of a row differ, or its facts cannot all be true, its page of the index and its criteria are read once more.
 */
export async function readCandidatePage(
  reader: SourceReader,
  request: PageRequest,
): Promise<Result<CandidatePage, Problem>> {
  const page: Gathered = {
    data: [],
    withheld: [],
    broken: new Map(),
    indexes: new Set(),
    receipts: new Set(),
    criteria: new Map(),
    frameworks: new Map(),
    reads: 0,
    secondReadings: 0,
    last: undefined,
  };
  const begun = await together({
    candidate: readCandidate(reader, request.candidateSourcedId, 'caller'),
    index: readIndex(reader, request, page, { after: request.after, earlier: [] }),
  });
  if (!begun.ok) return begun;
  const { candidate, index } = begun.value;
  const walked = await walk(reader, { ...request, candidate }, page, index);
  if (!walked.ok) return walked;
  const withheld = reasons.map((reason) => ({
    reason,
    count: page.withheld.filter((one) => one === reason).length,
  }));
  return ok({
    data: page.data,
    withheld: withheld.filter(({ count }) => count > 0),
    broken: page.broken,
    next: walked.value === 'end' ? undefined : page.last,
    sources: [...page.indexes, ...page.receipts, candidate],
  });
}

/**
 * Gathers rows until the page has one and the rows read for it are used up, or until the end of the list.
 * @param first the first page of the index
 */
async function walk(
  reader: SourceReader,
  request: Sought,
  page: Gathered,
  first: Index,
): Promise<Result<'end' | 'more', Problem>> {
  let index = first;
  let place: Place = { after: request.after, earlier: [] };
  /** Whether these are the rows that can fill the page: the next page of the index is not read ahead, since mostly they do. */
  let isOpening = true;
  let isSecondReading = false;
  for (;;) {
    const { rows, hasMore } = index.value;
    const left = rows.filter((row) => page.last === undefined || isFollowing(row, page.last));
    const part = isOpening ? openingOf(left, request) : left;
    const behind: Place = { after: rows.at(-1), earlier: [...place.earlier, ...rows] };
    const mayRead = hasMore && page.reads < MOST_INDEX_READS;
    const context = { ...request, index: index.receipt };
    const [ahead, judged] = await Promise.all([
      mayRead && !isOpening ? readIndex(reader, request, page, behind) : undefined,
      judgeRows(reader, part, page, context),
    ]);

    const doubtful = isSecondReading ? [] : judged.filter(isDoubtful);
    if (doubtful.length > 0 && page.reads < MOST_INDEX_READS && page.secondReadings < MOST_SECOND_READINGS) {
      page.secondReadings += 1;
      for (const { row } of doubtful) page.criteria.delete(keyOf(row));
      const again = await readIndex(reader, request, page, place);
      if (!again.ok) return again;
      index = again.value;
      isSecondReading = true;
      continue;
    }

    page.indexes.add(index.receipt);
    const gathered = gather(page, judged, request.limit);
    if (!gathered.ok) return gathered;
    const isRead = gathered.value === 'all' && part.length === left.length;
    if (isRead && !hasMore) return ok('end');
    if (page.data.length > 0) return ok('more');
    isOpening = false;
    if (!isRead) continue;
    if (!mayRead) return err(tooManyAttempts);
    const next = ahead ?? (await readIndex(reader, request, page, behind));
    if (!next.ok) return next;
    index = next.value;
    place = behind;
    isSecondReading = false;
  }
}

/** Returns the rows that can fill the page: all before the first that would be one too many. */
function openingOf(rows: readonly IndexRow[], request: PageRequest): readonly IndexRow[] {
  const excess = rows.filter((row) => isPossible(row, request))[request.limit];
  return excess === undefined ? rows : rows.slice(0, rows.indexOf(excess));
}

/** Returns whether the owners may have been writing while a row was read. */
function isDoubtful({ disagrees, outcome }: JudgedRow): boolean {
  return disagrees === true || (outcome?.ok === false && outcome.error.invariant !== undefined);
}

/** Adds rows to a page, in their order; returns `full` before the first one that does not fit. */
function gather(page: Gathered, rows: readonly JudgedRow[], limit: number): Result<'all' | 'full', Problem> {
  for (const { row, outcome, receipts = [] } of rows) {
    const error = outcome?.ok === false ? outcome.error : undefined;
    const withheld = error && withheldFor(error);
    // An error in a row that the page does not cover concerns the next page.
    if (page.data.length === limit && outcome !== undefined && withheld === undefined) return ok('full');
    if (page.data.length > 0 && error === tooManyFrameworks) return ok('full');
    if (outcome?.ok === true) page.data.push(outcome.value);
    if (error !== undefined) {
      if (withheld === undefined) return err(error);
      page.withheld.push(withheld);
      if (error.invariant !== undefined) page.broken.set(error.invariant, error.dependency ?? 'unknown');
    }
    for (const receipt of receipts) page.receipts.add(receipt);
    page.last = row;
  }
  return ok('all');
}

/** Composes rows, then checks their gates against CASE: in two steps, so that a page reads the frameworks of its first rows in any case. */
async function judgeRows(
  reader: SourceReader,
  rows: readonly IndexRow[],
  page: Gathered,
  context: Sought & Pick<PageContext, 'index'>,
): Promise<readonly JudgedRow[]> {
  const composed = await Promise.all(rows.map((row) => composeRow(reader, row, page, context)));
  return Promise.all(composed.map((row) => verifyRow(reader, row, page, context)));
}

/** Composes a row. Only a settled row needs the criteria of its test spec; the rows of one spec and version share one read of them. */
async function composeRow(
  reader: SourceReader,
  row: IndexRow,
  page: Gathered,
  context: Omit<PageContext, 'criteria'>,
): Promise<JudgedRow<PageRow>> {
  if (!isScored(row)) return { row };
  const record = settledRecord(row, context.candidateSourcedId);
  if (!record.ok) return { row, outcome: record };
  const reading = page.criteria.get(keyOf(row)) ?? readReportCriteria(reader, row, 'derived');
  page.criteria.set(keyOf(row), reading);
  const criteria = await reading;
  if (!criteria.ok) return { row, outcome: criteria };
  return {
    row,
    outcome: composePageRow(row, { ...context, criteria: criteria.value }),
    receipts: [criteria.value.receipt],
    disagrees: rowDisagreement(row, record.value, criteria.value) !== undefined,
  };
}

/** Verifies a row. Only a gate needs its framework. Rows that the page is not asked for are verified too: they may have to be counted. */
async function verifyRow(
  reader: SourceReader,
  { outcome: composed, ...judged }: JudgedRow<PageRow>,
  page: Gathered,
  { frameworks, filters }: PageRequest,
): Promise<JudgedRow> {
  if (composed?.ok !== true) return { ...judged, outcome: composed };
  const listed = (report: ComposedAttempt) =>
    isListed(judged.row, report, filters) ? ok(report) : undefined;
  const guid = frameworkOf(composed.value);
  if (guid === undefined) return { ...judged, outcome: listed(composed.value.report) };
  if (!page.frameworks.has(guid) && page.frameworks.size === MAX_FRAMEWORKS)
    return { ...judged, outcome: err(tooManyFrameworks) };
  const reading = page.frameworks.get(guid) ?? readFramework(reader, frameworks, guid);
  page.frameworks.set(guid, reading);
  const framework = await reading;
  if (!framework.ok) return { ...judged, outcome: framework };
  const verified = verifyPageRow(composed.value, framework.value);
  return {
    ...judged,
    outcome: verified.ok ? listed(verified.value) : verified,
    receipts: [...(judged.receipts ?? []), framework.value.receipt],
  };
}

/** Reads a part of the index, and refuses it as a whole if it does not fit the request. */
async function readIndex(
  reader: SourceReader,
  { candidateSourcedId, filters }: PageRequest,
  page: Gathered,
  place: Place,
): Promise<Result<Index, Problem>> {
  page.reads += 1;
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

function keyOf({ contentTestSpecId, contentTestSpecVersion }: SpecVersion): string {
  return JSON.stringify([contentTestSpecId, contentTestSpecVersion]);
}

function tooMuch(dependency: SourceService, detail: string): Problem {
  return problem('reports', 'dependency-unavailable', 503, { dependency, detail });
}
