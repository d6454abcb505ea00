import * as z from 'zod';
import type { ReportsProblem } from '#shared/contract/reports/problem.ts';
import { problemRow } from './registry.ts';
import type { Problem } from './problem.ts';

/** What the pipeline adds to a problem: where its page is and which request this was. */
export interface Occurrence {
  /** Base of the `type` URIs, https, without a trailing slash. */
  readonly problemsUrl: string;
  readonly requestId: string;
  readonly traceId: string;
}

const upstreamReference = z
  .strictObject({
    service: z.enum(['platform_auth', 'bank', 'content', 'qti', 'case', 'results', 'caliper', 'anchor']),
    operation: z.string().min(1),
    requestId: z.string().min(1).optional(),
  })
  .meta({ id: 'UpstreamReference' });

const invalidParam = z
  .strictObject({ name: z.string(), reason: z.string(), message: z.string() })
  .meta({ id: 'InvalidParam' });

/** The mastery engine's problem document: members that do not apply are absent [MA-019, MA-206]. */
export const masteryProblem = z
  .strictObject({
    type: z.url(),
    title: z.string().min(1),
    status: z.int().min(400).max(599),
    detail: z.string().min(1),
    instance: z.string().min(1),
    code: z.string().regex(/^[a-z]+(-[a-z]+)*$/),
    requestId: z.string().min(1),
    retryable: z.boolean(),
    invalidParams: z.array(invalidParam).max(100).optional(),
    currentEtag: z.string().optional(),
    upstream: upstreamReference.optional(),
    /** Of the logged trace, where a pool was refused [MA-221]. */
    receiptId: z.string().min(1).optional(),
  })
  .meta({ id: 'MasteryProblem' });
export type MasteryProblem = z.infer<typeof masteryProblem>;

/**
 * The body of a problem answer, in the envelope of the problem's own service; a member that is undefined has no JSON. Throws for a problem that
 * no row registers.
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

/** The reports service's document of one of its problems, also for one inside a success [RP-071]. */
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

/** The five members of RFC 9457. `instance` names this occurrence and nothing else [MA-207, RP-326]. */
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
