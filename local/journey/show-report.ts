import { MasteryReportsError, pages, ProblemError } from '#client/index.ts';
import type { AttemptReport, ReportsClient } from '#client/index.ts';
import { routesOf } from '#shared/contract/routes.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { compareReport, describeComparison, type EngineResult } from './compare-report.ts';
import type { LineSpace } from '#tools/terminal/line.ts';
import { rowsByNeed } from '#report-element/speak/rows.ts';
import { renderEvidence, renderReport, type ReportNames } from './report-view.ts';

/** What the journey calls of the reports service. */
export type ReportCalls = Pick<
  ReportsClient,
  'listCandidateReports' | 'materializeAttemptReport' | 'readAttemptReport'
>;

interface ShowReportOptions {
  /** A client whose tokens name the learner and these administrations; `undefined`: one that sends no token. */
  readonly connect: (administrationIds: readonly string[] | undefined) => ReportCalls;
  readonly names: ReportNames;
  readonly space: LineSpace;
  readonly withEvidence: boolean;
  readonly write: (text: string) => void;
}

/**
 * Has the attempt that a run has just made written through, then shows its report, and whether it agrees with the engine's answer. The attempt
 * is the one whose report names the run's results record: none is ever guessed.
 * @returns the report; undefined where the service has no such route, which is reported and is no failure; or a message for the person
 */
export async function showReport(
  engine: EngineResult,
  options: ShowReportOptions,
): Promise<Result<AttemptReport | undefined, string>> {
  try {
    return await shownReport(engine, options);
  } catch (error) {
    if (error instanceof RouteClosed) {
      options.write(`\nno report: ${error.message}\n`);
      return ok(undefined);
    }
    if (error instanceof MasteryReportsError) return err(`there is no report: ${error.message}`);
    throw error;
  }
}

async function shownReport(
  engine: EngineResult,
  { connect, names, space, withEvidence, write }: ShowReportOptions,
): Promise<Result<AttemptReport, string>> {
  const { resultRecordRef } = engine.run;
  if (resultRecordRef === undefined)
    return err('there is no report: the completed run has no results record');
  const found = await findReport(connect, engine.studentId, resultRecordRef);
  if (!found.ok) return found;
  const { attemptId, administrationId } = found.value;
  try {
    const { data } = await served(connect, [administrationId], 'materializeAttemptReport', {
      attemptId,
      administrationId,
    });
    write(`\nmaterialized: Results and Caliper acknowledged the attempt (operation ${data.operationId})\n`);
  } catch (error) {
    if (!(error instanceof RouteClosed)) throw error;
    write(`\nnot materialized: ${error.message}\n`);
  }
  const { data: report } = await served(connect, [], 'readAttemptReport', { attemptId, view: 'evidence' });
  const comparison = compareReport(engine, report);
  const says = describeComparison(comparison);
  const agrees = comparison.differences.length === 0;
  const lines = [
    ...renderReport(report, names, space),
    ...(withEvidence ? rowsByNeed(report).flatMap((row) => ['', ...renderEvidence(row, names, space)]) : []),
    ...(agrees ? ['', ...says] : []),
  ];
  write(`\n${lines.join('\n')}\n`);
  return agrees ? ok(report) : err(says.join('\n'));
}

const PAGE_ROWS = 10;
const MAX_PAGES = 20;

/** Finds the summary of the learner's report on a results record, from the newest report on. */
async function findReport(
  connect: ShowReportOptions['connect'],
  candidateSourcedId: string,
  resultRecordId: string,
): Promise<Result<AttemptReport, string>> {
  const query = { candidateSourcedId, testKind: 'adaptive_diagnostic', limit: PAGE_ROWS } as const;
  const list: ReportCalls['listCandidateReports'] = (input) =>
    served(connect, [], 'listCandidateReports', input);
  let [looked, withheld, count, hasMore] = [0, 0, 0, false];
  for await (const { data: page } of pages(list, query)) {
    const report = page.data.find((one) => one.resultRecordId === resultRecordId);
    if (report !== undefined) return ok(report);
    looked += page.data.length;
    for (const attempts of page.withheld ?? []) withheld += attempts.count;
    count += 1;
    hasMore = page.nextCursor !== null;
    if (count === MAX_PAGES) break;
  }
  const which = hasMore ? `newest ${looked} diagnostic reports` : `diagnostic reports (${looked})`;
  const others = withheld === 0 ? '' : `; ${withheld} attempts cannot be a report`;
  return err(
    `there is no report: none of the learner's ${which} names the results record of this run${others}`,
  );
}

/** The stack does not have the route, because its gates are closed. */
class RouteClosed extends Error {
  constructor(operationId: string) {
    const route = routesOf('reports').find((row) => row.operationId === operationId);
    super(
      `this stack does not serve "${route?.summary ?? operationId}": not all of its gates ${route?.gates.join(', ') ?? ''} are open (npm start without --gates opens every gate)`,
    );
  }
}

/**
 * Calls an operation. A closed route and a hidden resource are the same 404; only a route that is there refuses a request without a token.
 * @throws {RouteClosed}
 */
async function served<Name extends keyof ReportCalls>(
  connect: ShowReportOptions['connect'],
  administrationIds: readonly string[],
  name: Name,
  input: Parameters<ReportCalls[Name]>[0],
): Promise<Awaited<ReturnType<ReportCalls[Name]>>> {
  // SAFETY: input and result are those of the named method.
  type Call = (given: typeof input) => ReturnType<ReportCalls[Name]>;
  try {
    return await (connect(administrationIds)[name] as Call)(input);
  } catch (error) {
    if (!(error instanceof ProblemError) || error.code !== 'not-found') throw error;
    const isServed = await (connect(undefined)[name] as Call)(input).then(
      () => true,
      (refusal: unknown) => refusal instanceof ProblemError && refusal.status === 401,
    );
    throw isServed ? error : new RouteClosed(name);
  }
}
