import type * as z from 'zod';
import type { AttemptReport } from '#shared/contract/reports/attempt-report.ts';
import { reportsProblem } from '#shared/contract/reports/problem.ts';
import type { ReportsProblem } from '#shared/contract/reports/problem.ts';
import { listCandidateReports, readAttemptReport } from '#shared/contract/reports/routes.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { repeat, retryAfterOf } from './repeat.ts';
import type { Attempted } from './repeat.ts';

/**
 * Why there is no report. `closed`: the service does not have the route, whose gates are closed; `absent`: no report of the learner names
 * the results record; `unexpected`: an answer that breaks the contract; `unreachable`: no whole answer at all.
 */
export type ReportFailure =
  | { readonly kind: 'problem'; readonly problem: ReportsProblem }
  | { readonly kind: 'closed' }
  | { readonly kind: 'absent'; readonly looked: number; readonly hasMore: boolean }
  | { readonly kind: 'unreachable' | 'unexpected'; readonly message: string };

interface ReportClientOptions {
  /** Base URL of the reports service, without `/v1`. */
  readonly reportsUrl: string;
  /** The Bearer token of each request: scope `reports:read`, with the learner in `studentIds`. */
  readonly token: () => Promise<string>;
  readonly fetch: typeof globalThis.fetch;
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** In [0, 1). */
  readonly random: () => number;
  readonly onRetry?: (why: ReportFailure, waitMilliseconds: number) => void;
}

/** What a journey reads of the reports service. Reads are safe, so each is repeated as its problem and `Retry-After` say, within bounds. */
export interface ReportClient {
  /** The summary of the learner's report that stands on a results record, looked for from the newest report on. */
  readonly findReport: (
    candidateSourcedId: string,
    resultRecordId: string,
  ) => Promise<Result<AttemptReport, ReportFailure>>;
  /** A whole report, with the evidence of every row. */
  readonly readReport: (attemptId: string) => Promise<Result<AttemptReport, ReportFailure>>;
}

const PAGE_ROWS = 10;
const MAX_PAGES = 20;
/** Longer than any answer of the gateway may take. */
const TIMEOUT_MILLISECONDS = 35_000;

export function createReportClient(options: ReportClientOptions): ReportClient {
  const { reportsUrl, sleep, random } = options;

  async function send(url: string, headers: Readonly<Record<string, string>>): Promise<Answer> {
    const response = await options.fetch(url, {
      headers,
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  /** Whether the route is there: where it is, a request without a token is refused as such. */
  async function isServed(url: string): Promise<boolean> {
    return (await send(url, {})).status === 401;
  }

  async function once<Body>(
    url: string,
    schema: z.ZodType<Body>,
  ): Promise<Result<Body, Attempted<ReportFailure>>> {
    try {
      const answer = await send(url, { Authorization: `Bearer ${await options.token()}` });
      const read = readAnswer(answer, schema);
      if (read.ok || !isNotFound(read.error.failure)) return read;
      // An absent route and a hidden report answer alike.
      return (await isServed(url)) ? read : err(attempted({ kind: 'closed' }));
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return err(attempted({ kind: 'unreachable', message }));
    }
  }

  function get<Body>(path: string, schema: z.ZodType<Body>): Promise<Result<Body, ReportFailure>> {
    return repeat(() => once(`${reportsUrl}${path}`, schema), {
      sleep,
      random,
      onRetry: (why, waitMilliseconds) => options.onRetry?.(why, waitMilliseconds),
    });
  }

  return {
    async findReport(candidateSourcedId, resultRecordId) {
      const path = listCandidateReports.path.replace(
        '{candidateSourcedId}',
        encodeURIComponent(candidateSourcedId),
      );
      const query = new URLSearchParams({ testKind: 'adaptive_diagnostic', limit: String(PAGE_ROWS) });
      for (let pages = 1, looked = 0; ; pages += 1) {
        const page = await get(`${path}?${query.toString()}`, listCandidateReports.success.schema);
        if (!page.ok) return page;
        const { data, nextCursor } = page.value;
        const found = data.find((report) => report.resultRecordId === resultRecordId);
        if (found !== undefined) return ok(found);
        looked += data.length;
        if (nextCursor === null || pages === MAX_PAGES)
          return err({ kind: 'absent', looked, hasMore: nextCursor !== null });
        query.set('cursor', nextCursor);
      }
    },
    readReport: (attemptId) =>
      get(
        `${readAttemptReport.path.replace('{attemptId}', encodeURIComponent(attemptId))}?view=evidence`,
        readAttemptReport.success.schema,
      ),
  };
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

function attempted(failure: ReportFailure, retryAfterSeconds?: number): Attempted<ReportFailure> {
  const mayRepeat =
    failure.kind === 'unreachable' || (failure.kind === 'problem' && failure.problem.retryable);
  return { failure, mayRepeat, retryAfterSeconds };
}

function readAnswer<Body>(
  { status, headers, text }: Answer,
  schema: z.ZodType<Body>,
): Result<Body, Attempted<ReportFailure>> {
  const unexpected = (message: string): Result<never, Attempted<ReportFailure>> =>
    err(attempted({ kind: 'unexpected', message: `the answer with status ${status} ${message}` }));
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return unexpected('is not JSON');
  }
  if (status !== 200) {
    const problem = reportsProblem.safeParse(json);
    if (!problem.success || problem.data.status !== status) return unexpected('is no problem document');
    return err(attempted({ kind: 'problem', problem: problem.data }, retryAfterOf(headers)));
  }
  const body = schema.safeParse(json);
  if (body.success) return ok(body.data);
  const [issue] = body.error.issues;
  return unexpected(`breaks the contract at /${issue?.path.join('/') ?? ''}: ${issue?.message ?? ''}`);
}

/** What a problem is called: the last segment of its `type`. */
function codeOf({ type }: ReportsProblem): string {
  return new URL(type).pathname.split('/').at(-1) ?? '';
}

function isNotFound(failure: ReportFailure): boolean {
  return failure.kind === 'problem' && codeOf(failure.problem) === 'not-found';
}

/** One sentence for a person. */
export function describeReportFailure(failure: ReportFailure): string {
  switch (failure.kind) {
    case 'unreachable':
      return `no answer from the reports service (${failure.message})`;
    case 'unexpected':
      return failure.message;
    case 'closed':
      return `this stack does not serve the report of an attempt: not all of its gates ${readAttemptReport.gates.join(', ')} are open (npm start without --gates opens every gate)`;
    case 'absent':
      return failure.hasMore
        ? `none of the learner's newest ${failure.looked} diagnostic reports names the results record of this run`
        : `none of the learner's diagnostic reports (${failure.looked}) names the results record of this run`;
    case 'problem': {
      const { status, detail, dependency, requestId } = failure.problem;
      const owner = dependency === null ? '' : ` [${dependency}]`;
      return `${status} ${codeOf(failure.problem)}: ${detail}${owner} (request ${requestId})`;
    }
  }
}
