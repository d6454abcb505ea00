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

/** Content answers these for the blueprint that it holds. By id: their rows would bring their schemas into every function of the service. */
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

/** The source that receipts and problems name for an operation [RP-084]; `unknown` for owners that have no name there. */
export function serviceOf({ id, service }: Pick<UpstreamOperation, 'id' | 'service'>): SourceService {
  if (OF_BLUEPRINT.has(id)) return 'blueprint';
  return service === 'anchor' || service === 'administration' ? 'unknown' : service;
}

/**
 * Where the id of a call comes from. `caller`: this request names it, or the whole resource hangs on it, so that one which the owner does
 * not show is the hidden 404. `confirmed`: this request names it and another owner answers for it, so that only its absence is the 404:
 * this owner has never held anything of it. `derived`: from another owner's answer, so that its absence is the owner's gap.
 */
export type IdOrigin = 'caller' | 'confirmed' | 'derived';

/**
 * What a read that gave no answer means for the caller of the reports service.
 *
 * - 404 `not-found`: the caller's own id, hidden by its owner or another tenant's, or nothing is held under it: the same answer as for any
 *   absent resource [RP-316].
 * - 503 `dependency-incomplete`: the owner does not hold what another owner refers to.
 * - 503 `dependency-unavailable`: everything else; the owner is named, and its wish to wait is passed on [RP-017].
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

/** The one 404 of whatever the caller may not see or nobody has. */
export function notFound(): Problem {
  return problem('reports', 'not-found', 404);
}

/** The owner's answer is not one to what it was asked. */
export function unusable(operation: UpstreamOperation): Problem {
  return problem('reports', 'dependency-unavailable', 503, { dependency: serviceOf(operation) });
}

/** The owner's version is not the one that the other owners refer to, also after one more read. */
export function conflicting(dependency: SourceService): Problem {
  return problem('reports', 'source-version-conflict', 409, { dependency });
}

/** How long a caller waits for a profile that an operator has to write, in seconds. */
const UNTIL_PROVISIONED = 300;

/** No service profile of the tenant can be used or read: nothing was asked of any owner. */
export function profileProblem(fault: ProfileFault): Problem {
  return problem('reports', 'dependency-unavailable', 503, {
    dependency: 'unknown',
    ...(fault === 'unreachable' ? {} : { retryAfterSeconds: UNTIL_PROVISIONED }),
  });
}

/**
 * The values of reads that are made side by side, by their names, or the one problem that answers them all: a 404 before everything else,
 * then the owners in the order of `SourceRef.service`, whichever of them was heard first.
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
