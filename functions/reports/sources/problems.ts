import { incomplete } from '#functions/reports/facts/incomplete.ts';
import { sourceService, type SourceService } from '#shared/contract/reports/problem.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { waitOf, type UpstreamFault } from '#shared/platform/fault.ts';
import type { UpstreamOperation } from '#shared/platform/operation.ts';
import type * as operations from '#shared/platform/operations.ts';
import type { ProfileFault } from '#shared/platform/service-profiles.ts';
import { verdicts } from '#shared/platform/verdicts.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { problem } from '#shared/problems/registry.ts';

/** Content's operations on a blueprint. By id: their rows would bring their schemas into every function of the service. */
const OF_BLUEPRINT: ReadonlySet<string> = new Set<
  | typeof operations.readReadinessCrosswalks.id
  | typeof operations.readFormEvidence.id
  | typeof operations.readAlignmentSources.id
  | typeof operations.readAlignmentCrosswalk.id
>([
  'content.read_readiness_crosswalks',
  'content.read_form_evidence',
  'content.read_alignment_sources',
  'content.read_alignment_crosswalk',
]);

/** Returns the source that receipts and problems name for an operation [RP-084]; `unknown` for owners that have no name there. */
export function serviceOf({ id, service }: Pick<UpstreamOperation, 'id' | 'service'>): SourceService {
  if (OF_BLUEPRINT.has(id)) return 'blueprint';
  return service === 'anchor' || service === 'administration' ? 'unknown' : service;
}

/**
 * The origin of a call's id. `caller`: this request names it, or the whole resource depends on it, so that the hidden 404 follows if the owner does not
 * show it. `confirmed`: this request names it and another owner confirms it, so that only its absence is the 404: this owner has never had anything on
 * it. `derived`: from another owner's answer, so that its absence is the owner's gap.
 */
export type IdOrigin = 'caller' | 'confirmed' | 'derived';

/**
 * Returns the problem of a read without an answer, for the caller of the reports service.
 *
 * - 404 `not-found`: the caller's own id, which its owner hides, is another tenant's or does not exist: the same as for any absent resource [RP-316]
 * - 503 `dependency-incomplete`: the owner does not have a thing that another owner refers to
 * - 503 `dependency-unavailable`: everything else, with the owner and its own Retry-After [RP-017]
 */
export function sourceProblem(fault: UpstreamFault, origin: IdOrigin): Problem {
  const dependency = serviceOf({ id: fault.operation, service: fault.service });
  const verdict = verdicts.report[fault.kind];
  if (verdict === 'refused' && origin === 'caller') return notFound();
  if (verdict === 'absent')
    return origin === 'derived'
      ? incomplete(dependency, 'An owner does not hold what another owner refers to.')
      : notFound();
  return problem('reports', 'dependency-unavailable', 503, {
    dependency,
    ...waitOf(fault.retryAfterSeconds),
  });
}

/** Returns the one 404, for all that the caller may not see and all that does not exist. */
export function notFound(): Problem {
  return problem('reports', 'not-found', 404);
}

/** Returns the problem of an owner's answer to another question. */
export function unusable(operation: UpstreamOperation): Problem {
  return problem('reports', 'dependency-unavailable', 503, { dependency: serviceOf(operation) });
}

/** Returns the problem of an owner's version that is not the one that the other owners refer to, even after one more read. */
export function conflicting(dependency: SourceService): Problem {
  return problem('reports', 'source-version-conflict', 409, { dependency });
}

/** How long a caller waits for a profile that an operator has to write, in seconds. */
const UNTIL_PROVISIONED = 300;

/** Returns the problem of a tenant whose service profile cannot be used or read: no owner was called. */
export function profileProblem(fault: ProfileFault): Problem {
  return problem('reports', 'dependency-unavailable', 503, {
    dependency: 'unknown',
    ...(fault === 'unreachable' ? {} : { retryAfterSeconds: UNTIL_PROVISIONED }),
  });
}

/**
 * Returns the values of concurrent reads, by their names, or the one problem for all of them: a 404 before everything else, then the owners in the order of
 * `SourceRef.service`, whichever of them responded first.
 */
export async function together<Values extends object>(reads: {
  readonly [Name in keyof Values]: Promise<Result<Values[Name], Problem>>;
}): Promise<Result<Values, Problem>> {
  const names = Object.keys(reads);
  const results = await Promise.all(Object.values<Promise<Result<unknown, Problem>>>(reads));
  const problems = results.flatMap((result) => (result.ok ? [] : [result.error]));
  const [first] = problems.toSorted((a, b) => rankOf(a) - rankOf(b));
  if (first !== undefined) return err(first);
  const values = results.map((result, at) => [names[at], result.ok ? result.value : undefined]);
  // SAFETY: none of the reads has failed, so each name has the value of its own read.
  return ok(Object.fromEntries(values) as Values);
}

function rankOf({ status, dependency }: Problem): number {
  return status === 404 || dependency === undefined ? -1 : sourceService.options.indexOf(dependency);
}
