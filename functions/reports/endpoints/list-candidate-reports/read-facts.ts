import type { Framework, IndexRow, Observed } from '#functions/reports/facts/facts.ts';
import { unavailable } from '#functions/reports/facts/incomplete.ts';
import type { ComposedAttempt } from '#functions/reports/composition/attempt-report.ts';
import {
  checkIndex,
  composePageRow,
  frameworkOf,
  isOrdered,
  isPossible,
  isScored,
  rowDisagreement,
  settledRecord,
  verifyPageRow,
  withheldFor,
} from '#functions/reports/composition/page.ts';
import type { IndexRequest, PageContext, PageRow, RowPlace } from '#functions/reports/composition/page.ts';
import { isSelected, ownerQuery } from '#shared/contract/filters.ts';
import { withheldReason } from '#shared/contract/reports/attempt-report.ts';
import type { AttemptReportPage, WithheldReason } from '#shared/contract/reports/attempt-report.ts';
import { listCandidateReports } from '#shared/contract/reports/routes/list-candidate-reports.ts';
import type { SourceService } from '#shared/contract/reports/problem.ts';
import type { SourceRef } from '#shared/contract/reports/source-ref.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import type { ReportCriteria } from '#shared/platform/owners/content.ts';
import type { CandidateAttempts } from '#shared/platform/owners/results.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { MAX_FRAMEWORKS, readFramework } from '#functions/reports/sources/case-package.ts';
import type { TenantFrameworks } from '#functions/reports/sources/case-package.ts';
import { sourceProblem, together } from '#functions/reports/sources/problems.ts';
import { versioned, type SourceReader } from '#functions/reports/sources/reader.ts';
import { readCandidate } from '#functions/reports/sources/roster.ts';
import { readReportCriteria, type SpecVersion } from '#functions/reports/sources/test-spec.ts';

/** The page that a caller asks for. */
export interface PageRequest extends Pick<PageContext, 'candidateSourcedId' | 'filters' | 'proved'> {
  readonly limit: number;
  readonly frameworks: TenantFrameworks;
  /** The last row that the previous page covers; absent at the beginning of the list. */
  readonly after?: RowPlace | undefined;
}

/** A page of the list. */
export interface CandidatePage extends Pick<Gathered, 'data' | 'broken'> {
  readonly withheld: NonNullable<AttemptReportPage['withheld']>;
  readonly next: RowPlace | undefined;
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

const { filters: pageFilters } = listCandidateReports.request;
const reasons = withheldReason.options;

/** The problems of a candidate with more attempts without a row, or gates on more frameworks before the first row, than one request reads. */
const [tooManyAttempts, tooManyFrameworks] = [
  unavailable('results', 'The candidate has more attempts outside the list than one request reads.'),
  unavailable(
    'case',
    'The gates before the first row depend on more CASE frameworks than one request reads.',
  ),
] as const;

type Index = Observed<CandidateAttempts>;
/** Where a page of the index begins, and the rows before it. */
type Place = Pick<IndexRequest, 'after' | 'earlier'> & { readonly earlier: readonly RowPlace[] };

/** A row with what becomes of it: no outcome, where the list does not have it or is not asked for it. */
interface CheckedRow<Report = ComposedAttempt> {
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
  /** Why the attempts that the page skips cannot be reports. */
  readonly withheld: WithheldReason[];
  /** The owners of facts that cannot be true, by the invariant that they violate. */
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

/** What a walk looks at next: a page of the index, or what is left of it. */
interface Turn {
  readonly index: Index;
  readonly place: Place;
  /** Whether its rows are those that can fill the page: they are not read ahead of, since mostly they do. */
  readonly isOpening: boolean;
  readonly isSecondReading: boolean;
}

/** The reading of a page: its request, and everything that it has gathered. */
interface Walk {
  readonly reader: SourceReader;
  readonly request: PageRequest & Pick<PageContext, 'candidate'>;
  readonly page: Gathered;
}

/**
 * Reads one page: the candidate together with the index of attempts, then the criteria of the test specs of the rows that can fill the page. A
 * candidate who is not on the roster is a 404, even if the index has attempts. If these rows give no report, the service reads the rest of the index
 * page by page, each together with test specs and frameworks of the previous one, until there is a report or the end. So every page but the last has
 * a row. If the versions of a row differ, or its facts cannot all be true, its page of the index and its criteria are read once more.
 * @returns `next`: the last row of the index that the page covers; undefined at the end of the list
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
  const place: Place = { after: request.after, earlier: [] };
  const start = await together({
    candidate: readCandidate(reader, request.candidateSourcedId, 'caller'),
    index: readIndex(reader, request, page, place),
  });
  if (!start.ok) return start;
  const { candidate, index } = start.value;
  const walk: Walk = { reader, request: { ...request, candidate }, page };
  let turn: Turn | 'end' | 'more' = { index, place, isOpening: true, isSecondReading: false };
  while (typeof turn === 'object') {
    const taken = await takeTurn(walk, turn);
    if (!taken.ok) return taken;
    turn = taken.value;
  }
  const withheld = reasons.map((reason) => ({
    reason,
    count: page.withheld.filter((one) => one === reason).length,
  }));
  return ok({
    data: page.data,
    withheld: withheld.filter(({ count }) => count > 0),
    broken: page.broken,
    next: turn === 'end' ? undefined : page.last,
    sources: [...page.indexes, ...page.receipts, candidate],
  });
}

/**
 * Checks the rows of one page of the index and gathers them. Returns another turn until the page has a row and the rows that were read for it are used up,
 * or until the end of the list.
 */
async function takeTurn(walk: Walk, turn: Turn): Promise<Result<'end' | 'more' | Turn, Problem>> {
  const { reader, request, page } = walk;
  const { index, place, isOpening } = turn;
  const { rows, hasMore } = index.value;
  const left = rows.filter((row) => page.last === undefined || isOrdered([page.last, row]));
  const part = isOpening ? openingOf(left, request) : left;
  const behind: Place = { after: rows.at(-1), earlier: [...place.earlier, ...rows] };
  const mayRead = hasMore && page.reads < MOST_INDEX_READS;
  const [ahead, checked] = await Promise.all([
    mayRead && !isOpening ? readIndex(reader, request, page, behind) : undefined,
    // In two steps, so that the page reads the frameworks of its first rows, whichever criteria arrive first.
    Promise.all(part.map((row) => composeRow(walk, row, index.receipt))).then((composed) =>
      Promise.all(composed.map((row) => verifyRow(walk, row))),
    ),
  ]);
  const doubtful = turn.isSecondReading ? [] : checked.filter(needsSecondReading);
  if (doubtful.length > 0 && page.reads < MOST_INDEX_READS && page.secondReadings < MOST_SECOND_READINGS) {
    page.secondReadings += 1;
    for (const { row } of doubtful) page.criteria.delete(keyOf(row));
    const again = await readIndex(reader, request, page, place);
    return again.ok ? ok({ ...turn, index: again.value, isSecondReading: true }) : again;
  }

  page.indexes.add(index.receipt);
  const gathered = gather(page, checked, request.limit);
  if (!gathered.ok) return gathered;
  const isRead = gathered.value === 'all' && part.length === left.length;
  if (isRead && !hasMore) return ok('end');
  if (page.data.length > 0) return ok('more');
  if (!isRead) return ok({ ...turn, isOpening: false });
  if (!mayRead) return err(tooManyAttempts);
  const next = ahead ?? (await readIndex(reader, request, page, behind));
  if (!next.ok) return next;
  return ok({ index: next.value, place: behind, isOpening: false, isSecondReading: false });
}

/** The rows that can fill the page: all before the first that would be one too many. */
function openingOf(rows: readonly IndexRow[], request: PageRequest): readonly IndexRow[] {
  const excess = rows.filter((row) => isPossible(row, request))[request.limit];
  return excess === undefined ? rows : rows.slice(0, rows.indexOf(excess));
}

/** Whether the owners may have been writing while a row was read. */
function needsSecondReading({ disagrees, outcome }: CheckedRow): boolean {
  return disagrees === true || (outcome?.ok === false && outcome.error.invariant !== undefined);
}

/** Adds rows to a page, in their order; `full` before the first one that it has no room for. */
function gather(page: Gathered, rows: readonly CheckedRow[], limit: number): Result<'all' | 'full', Problem> {
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

/** Only a settled row needs the criteria of its test spec; the rows of one spec and version share one read of them. */
async function composeRow(walk: Walk, row: IndexRow, index: SourceRef): Promise<CheckedRow<PageRow>> {
  const { reader, request, page } = walk;
  if (!isScored(row)) return { row };
  const record = settledRecord(row, request.candidateSourcedId);
  if (!record.ok) return { row, outcome: record };
  const reading = page.criteria.get(keyOf(row)) ?? readReportCriteria(reader, row, 'derived');
  page.criteria.set(keyOf(row), reading);
  const criteria = await reading;
  if (!criteria.ok) return { row, outcome: criteria };
  return {
    row,
    outcome: composePageRow(row, { ...request, index, criteria: criteria.value }),
    receipts: [criteria.value.receipt],
    disagrees: rowDisagreement(row, record.value, criteria.value) !== undefined,
  };
}

/** Only a gate needs its framework. What the page is not asked for is verified too: it may have to be counted. */
async function verifyRow(walk: Walk, row: CheckedRow<PageRow>): Promise<CheckedRow> {
  const { reader, request, page } = walk;
  const { outcome: composed, ...checked } = row;
  if (composed?.ok !== true) return { ...checked, outcome: composed };
  const listed = (report: ComposedAttempt) =>
    isSelected(pageFilters, request.filters, { ...checked.row, ...report.header }) ? ok(report) : undefined;
  const guid = frameworkOf(composed.value);
  if (guid === undefined) return { ...checked, outcome: listed(composed.value.report) };
  if (!page.frameworks.has(guid) && page.frameworks.size === MAX_FRAMEWORKS)
    return { ...checked, outcome: err(tooManyFrameworks) };
  const reading = page.frameworks.get(guid) ?? readFramework(reader, request.frameworks, guid);
  page.frameworks.set(guid, reading);
  const framework = await reading;
  if (!framework.ok) return { ...checked, outcome: framework };
  const verified = verifyPageRow(composed.value, framework.value);
  return {
    ...checked,
    outcome: verified.ok ? listed(verified.value) : verified,
    receipts: [...(checked.receipts ?? []), framework.value.receipt],
  };
}

/** One read of the index, which is refused as a whole when it is not one to what it was asked. */
async function readIndex(
  reader: SourceReader,
  { candidateSourcedId, filters }: PageRequest,
  page: Gathered,
  place: Place,
): Promise<Result<Index, Problem>> {
  const { after } = place;
  page.reads += 1;
  const query = {
    limit: String(INDEX_PAGE),
    ...ownerQuery(pageFilters, filters),
    ...(after === undefined ? {} : { afterModifiedAt: after.modifiedAt, afterAttemptId: after.attemptId }),
  };
  const answer = await reader.read(
    operations.listCandidateAttempts,
    { path: { candidateSourcedId }, query },
    (index) => versioned(candidateSourcedId, index),
  );
  if (!answer.ok) return err(sourceProblem(answer.error, 'derived'));
  const asked = { candidateSourcedId, filters, limit: INDEX_PAGE, ...place };
  const refused = checkIndex(answer.value.value, asked);
  return refused === undefined ? answer : err(refused);
}

function keyOf({ contentTestSpecId, contentTestSpecVersion }: SpecVersion): string {
  return JSON.stringify([contentTestSpecId, contentTestSpecVersion]);
}
