import type * as z from 'zod';
import type { AttemptReport } from '#shared/contract/reports/attempt-report.ts';
import { reportsProblem } from '#shared/contract/reports/problem.ts';
import type { ReportsProblem } from '#shared/contract/reports/problem.ts';
import {
  listCandidateReports,
  materializeAttemptReport,
  readAttemptReport,
} from '#shared/contract/reports/routes.ts';
import type { Route } from '#shared/contract/route.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { repeat, retryAfterOf } from './repeat.ts';
import type { Attempted } from './repeat.ts';

/**
 * Why there is no answer. `closed`: the service does not have the route, whose gates are closed; `absent`: no report of the learner names
 * the results record; `unexpected`: an answer that breaks the contract; `unreachable`: no whole answer at all.
 */
export type ReportFailure =
  | { readonly kind: 'problem'; readonly problem: ReportsProblem }
  | { readonly kind: 'closed'; readonly route: ClosedRoute }
  | { readonly kind: 'absent'; readonly looked: number; readonly hasMore: boolean }
  | { readonly kind: 'unreachable' | 'unexpected'; readonly message: string };

/** What the failure says of a route that is not there. */
export type ClosedRoute = Pick<Route, 'summary' | 'gates'>;

/** What a request is allowed to do. */
export interface Permission {
  readonly scope: Route['scope'];
  readonly administrationIds: readonly string[];
}

interface ReportClientOptions {
  /** Base URL of the reports service, without `/v1`. */
  readonly reportsUrl: string;
  /** The Bearer token of each request, with the learner in `studentIds`. */
  readonly token: (permission: Permission) => Promise<string>;
  /** The Idempotency-Key of a write, which its repetitions keep. */
  readonly newKey: () => string;
  readonly fetch: typeof globalThis.fetch;
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** In [0, 1). */
  readonly random: () => number;
  readonly onRetry?: (why: ReportFailure, waitMilliseconds: number) => void;
}

/**
 * What a journey asks of the reports service. Reads are safe, and a write keeps its key, so each is repeated as its problem and `Retry-After`
 * say, within bounds.
 */
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
/** Longer than any answer of the gateway may take. */
const TIMEOUT_MILLISECONDS = 35_000;

export function createReportClient(options: ReportClientOptions): ReportClient {
  const { reportsUrl, sleep, random } = options;

  async function send({ url, init }: Asked, headers: Readonly<Record<string, string>>): Promise<Answer> {
    const response = await options.fetch(url, {
      ...init,
      headers: { ...init?.headers, ...headers },
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  /** Whether the route is there: where it is, a request without a token is refused as such. */
  async function isServed(asked: Asked): Promise<boolean> {
    return (await send(asked, {})).status === 401;
  }

  async function once<Body>(
    asked: Asked,
    schema: z.ZodType<Body>,
  ): Promise<Result<Body, Attempted<ReportFailure>>> {
    try {
      const { route, administrationIds = [] } = asked;
      const token = await options.token({ scope: route.scope, administrationIds });
      const answer = await send(asked, { Authorization: `Bearer ${token}` });
      const read = readAnswer(answer, schema);
      if (read.ok || !isNotFound(read.error.failure)) return read;
      // An absent route and a hidden report answer alike.
      return (await isServed(asked)) ? read : err(attempted({ kind: 'closed', route }));
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return err(attempted({ kind: 'unreachable', message }));
    }
  }

  function ask<Body>(asked: Asked, schema: z.ZodType<Body>): Promise<Result<Body, ReportFailure>> {
    return repeat(() => once(asked, schema), {
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
        const url = `${reportsUrl}${path}?${query.toString()}`;
        const page = await ask({ route: listCandidateReports, url }, listCandidateReports.success.schema);
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
    async materialize({ attemptId, administrationId }) {
      const answer = await ask(
        {
          route: materializeAttemptReport,
          url: `${reportsUrl}${materializeAttemptReport.path}`,
          administrationIds: [administrationId],
          init: {
            method: materializeAttemptReport.method,
            headers: { 'Content-Type': 'application/json', 'Idempotency-Key': options.newKey() },
            body: JSON.stringify({ attemptId, administrationId }),
          },
        },
        materializeAttemptReport.success.schema,
      );
      return answer.ok ? ok(answer.value.operationId) : answer;
    },
    readReport: (attemptId) => {
      const path = readAttemptReport.path.replace('{attemptId}', encodeURIComponent(attemptId));
      const url = `${reportsUrl}${path}?view=evidence`;
      return ask({ route: readAttemptReport, url }, readAttemptReport.success.schema);
    },
  };
}

/** One request of a route. */
interface Asked {
  readonly route: Pick<Route, 'scope' | 'summary' | 'gates'>;
  readonly url: string;
  /** That the token has to name. */
  readonly administrationIds?: readonly string[];
  readonly init?: {
    readonly method: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
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
      return `this stack does not serve "${failure.route.summary}": not all of its gates ${failure.route.gates.join(', ')} are open (npm start without --gates opens every gate)`;
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
