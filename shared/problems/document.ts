import type { MasteryProblem } from '#shared/contract/mastery/problem.ts';
import type { ReportsProblem } from '#shared/contract/reports/problem.ts';
import { problemRow } from './registry.ts';
import type { Problem } from './problem.ts';

/** What the pipeline adds to a problem: the address of its page and the id of the request. */
export interface Occurrence {
  /** Base of the `type` URIs, https, without a trailing slash. */
  readonly problemsUrl: string;
  readonly requestId: string;
  readonly traceId: string;
}

/**
 * Returns the body of a problem response, in the envelope of the problem's own service; a member that is undefined has no JSON. Throws for a problem
 * that no row registers.
 */
export function problemDocument(problem: Problem, occurrence: Occurrence): MasteryProblem | ReportsProblem {
  return problem.service === 'mastery'
    ? masteryDocument(problem, occurrence)
    : reportsDocument(problem, occurrence);
}

function masteryDocument(problem: Problem, occurrence: Occurrence): MasteryProblem {
  const { code, retryable, invalidParams, currentEtag, upstream, receiptId } = problem;
  return {
    ...common(problem, occurrence),
    code,
    requestId: occurrence.requestId,
    retryable,
    invalidParams: invalidParams?.map(({ name, reason, message }) => ({ name, reason, message })),
    currentEtag,
    upstream: upstream && {
      service: upstream.service,
      operation: upstream.operation,
      requestId: upstream.requestId,
    },
    receiptId,
  };
}

/** Returns the reports service's document of one of its problems, even for one inside a success [RP-071]. */
export function reportsDocument(problem: Problem, occurrence: Occurrence): ReportsProblem {
  return {
    ...common(problem, occurrence),
    requestId: occurrence.requestId,
    traceId: occurrence.traceId,
    retryable: problem.retryable,
    dependency: problem.dependency ?? null,
    fieldErrors:
      problem.invalidParams?.map(({ name, reason, message }) => ({ pointer: name, code: reason, message })) ??
      null,
    operationId: problem.operationId ?? null,
  };
}

/** Returns the five members of RFC 9457. `instance` names only this occurrence [MA-207, RP-326]. */
function common(
  problem: Problem,
  occurrence: Occurrence,
): { type: string; title: string; status: number; detail: string; instance: string } {
  return {
    type: `${occurrence.problemsUrl}/${problem.code}`,
    title: problemRow(problem.service, `${problem.status} ${problem.code}`).title,
    status: problem.status,
    detail: problem.detail,
    instance: `urn:uuid:${occurrence.requestId}`,
  };
}
