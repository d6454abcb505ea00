import type { AttemptReport } from '#shared/contract/reports/attempt-report.ts';
import {
  listCandidateReports,
  materializeAttemptReport,
  readAttemptReport,
} from '#shared/contract/reports/routes.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { createCalls, describeCallFailure } from './calls.ts';
import type { CallFailure, CallOptions } from './calls.ts';

/** Why there is no report. `absent`: no report of the learner names the results record; `withheld` counts attempts that have none yet. */
export type ReportFailure =
  | CallFailure
  | {
      readonly kind: 'absent';
      readonly looked: number;
      readonly withheld: number;
      readonly hasMore: boolean;
    };

/** What a journey asks of the reports service. */
export interface ReportClient {
  /** The summary of the learner's report that stands on a results record, looked for from the newest report on. */
  readonly findReport: (
    candidateSourcedId: string,
    resultRecordId: string,
  ) => Promise<Result<AttemptReport, ReportFailure>>;
  /** Has an attempt written through to Results and Caliper; answers the operation. */
  readonly materialize: (
    attempt: Pick<AttemptReport, 'attemptId' | 'administrationId'>,
  ) => Promise<Result<string, ReportFailure>>;
  /** A whole report, with the evidence of every row. */
  readonly readReport: (attemptId: string) => Promise<Result<AttemptReport, ReportFailure>>;
}

const PAGE_ROWS = 10;
const MAX_PAGES = 20;

/** @param options `token` has to name the learner in `studentIds` */
export function createReportClient(options: CallOptions): ReportClient {
  const ask = createCalls(options);
  return {
    async findReport(candidateSourcedId, resultRecordId) {
      let query: Readonly<Record<string, string>> = {
        testKind: 'adaptive_diagnostic',
        limit: String(PAGE_ROWS),
      };
      for (let pages = 1, looked = 0, withheld = 0; ; pages += 1) {
        const page = await ask({ route: listCandidateReports, path: { candidateSourcedId }, query });
        if (!page.ok) return page;
        const { data, nextCursor } = page.value;
        const found = data.find((report) => report.resultRecordId === resultRecordId);
        if (found !== undefined) return ok(found);
        looked += data.length;
        for (const { count } of page.value.withheld ?? []) withheld += count;
        if (nextCursor === null || pages === MAX_PAGES)
          return err({ kind: 'absent', looked, withheld, hasMore: nextCursor !== null });
        query = { ...query, cursor: nextCursor };
      }
    },
    async materialize({ attemptId, administrationId }) {
      const answer = await ask({
        route: materializeAttemptReport,
        administrationIds: [administrationId],
        idempotencyKey: options.newKey(),
        body: { attemptId, administrationId },
      });
      return answer.ok ? ok(answer.value.operationId) : answer;
    },
    readReport: (attemptId) =>
      ask({ route: readAttemptReport, path: { attemptId }, query: { view: 'evidence' } }),
  };
}

/** One sentence for a person. */
export function describeReportFailure(failure: ReportFailure): string {
  if (failure.kind !== 'absent') return describeCallFailure(failure);
  const reports = failure.hasMore
    ? `newest ${failure.looked} diagnostic reports`
    : `diagnostic reports (${failure.looked})`;
  const withheld = failure.withheld === 0 ? '' : `; ${failure.withheld} attempts cannot be a report yet`;
  return `none of the learner's ${reports} names the results record of this run${withheld}`;
}
