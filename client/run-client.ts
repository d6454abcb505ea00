import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { repeat, retryAfterOf } from './repeat.ts';
import type { Attempted } from './repeat.ts';
import { problemAnswer, runAnswer } from './run-answers.ts';
import type { ProblemAnswer, RunAnswer } from './run-answers.ts';

/** A run as its last answer showed it. */
export interface RunSnapshot {
  readonly run: RunAnswer;
  /** Strong entity tag of the answer: what the next advance sends as `If-Match`. */
  readonly etag: string;
}

/** Why a call gave no state. `unreachable`: no answer at all; `unexpected`: an answer that is neither a run nor a problem. */
export type RunFailure =
  | { readonly kind: 'problem'; readonly problem: ProblemAnswer }
  | { readonly kind: 'unreachable' | 'unexpected'; readonly message: string };

/** A call that is about to be repeated. */
export interface Retry {
  readonly call: 'start' | 'inspect' | 'advance';
  readonly why: RunFailure;
  readonly waitMilliseconds: number;
}

interface RunClientOptions {
  /** Base URL of the mastery engine, without `/v1`. */
  readonly masteryUrl: string;
  /** The Bearer token of each request, so that a long run can renew it. */
  readonly token: () => Promise<string>;
  readonly fetch: typeof globalThis.fetch;
  /** A key never used before. */
  readonly newKey: () => string;
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** In [0, 1). */
  readonly random: () => number;
  readonly onRetry?: (retry: Retry) => void;
}

/** The three calls of a run. Each repeats what may be repeated, with the same key and the same bytes, within bounds [MA-219, MA-220]. */
export interface RunClient {
  readonly start: (request: object) => Promise<Result<RunSnapshot, RunFailure>>;
  readonly inspect: (continuationToken: string) => Promise<Result<RunSnapshot, RunFailure>>;
  readonly advance: (continuationToken: string, etag: string) => Promise<Result<RunSnapshot, RunFailure>>;
}

export function createRunClient(options: RunClientOptions): RunClient {
  async function once(
    path: string,
    key: string,
    body: string,
    etag?: string,
  ): Promise<Result<RunSnapshot, Attempted<RunFailure>>> {
    let response: Response;
    let text: string;
    try {
      response = await options.fetch(`${options.masteryUrl}/v1/${path}`, {
        method: 'POST',
        redirect: 'error',
        headers: {
          Authorization: `Bearer ${await options.token()}`,
          'Content-Type': 'application/json',
          'Idempotency-Key': key,
          ...(etag === undefined ? {} : { 'If-Match': etag }),
        },
        body,
      });
      text = await response.text();
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return err(attempted({ kind: 'unreachable', message }));
    }
    return readAnswer(response, text);
  }

  async function repeated(
    call: Retry['call'],
    path: string,
    request: object,
    etag?: string,
  ): Promise<Result<RunSnapshot, RunFailure>> {
    const key = options.newKey();
    const body = JSON.stringify(request);
    return repeat(() => once(path, key, body, etag), {
      sleep: options.sleep,
      random: options.random,
      onRetry: (why, waitMilliseconds) => options.onRetry?.({ call, why, waitMilliseconds }),
    });
  }

  return {
    start: (request) => repeated('start', 'adaptive-runs', request),
    inspect: (continuationToken) => repeated('inspect', 'adaptive-runs:inspect', { continuationToken }),
    advance: (continuationToken, etag) =>
      repeated('advance', 'adaptive-runs:advance', { continuationToken }, etag),
  };
}

function attempted(failure: RunFailure, retryAfterSeconds?: number): Attempted<RunFailure> {
  return { failure, mayRepeat: mayRepeat(failure), retryAfterSeconds };
}

/** A stale tag is retryable too, but not with this key: the run has to be looked at first. */
function mayRepeat(failure: RunFailure): boolean {
  if (failure.kind === 'unexpected') return false;
  return failure.kind !== 'problem' || (failure.problem.retryable && failure.problem.status !== 412);
}

function readAnswer(response: Response, text: string): Result<RunSnapshot, Attempted<RunFailure>> {
  const unexpected = (message: string): Result<never, Attempted<RunFailure>> =>
    err(attempted({ kind: 'unexpected', message }));
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return unexpected(`the answer with status ${response.status} is not JSON`);
  }
  if (!response.ok) {
    const problem = problemAnswer.safeParse(json);
    if (!problem.success)
      return unexpected(`the answer with status ${response.status} is no problem document`);
    return err(attempted({ kind: 'problem', problem: problem.data }, retryAfterOf(response.headers)));
  }
  const run = runAnswer.safeParse(json);
  if (!run.success) return unexpected('the answer is no adaptive run');
  const etag = response.headers.get('etag');
  return etag === null ? unexpected('the answer has no ETag') : ok({ run: run.data, etag });
}

/** One sentence for a person. */
export function describeFailure(failure: RunFailure): string {
  switch (failure.kind) {
    case 'unreachable':
      return `no answer from the service (${failure.message})`;
    case 'unexpected':
      return failure.message;
    case 'problem': {
      const { status, code, detail, upstream, requestId } = failure.problem;
      const owner = upstream === undefined ? '' : ` [${upstream.service}: ${upstream.operation}]`;
      return `${status} ${code}: ${detail}${owner} (request ${requestId})`;
    }
  }
}
