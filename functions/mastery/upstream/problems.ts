import { waitOf, type UpstreamFault } from '#shared/platform/fault.ts';
import type { UpstreamOperation, UpstreamService } from '#shared/platform/operation.ts';
import type { Platform, UpstreamAnswer, UpstreamCall } from '#shared/platform/platform.ts';
import type { ProfileFault } from '#shared/platform/service-profiles.ts';
import { verdicts, type AnswerKind, type Finding } from '#shared/platform/verdicts.ts';
import { err, type Result } from '#shared/kernel/result.ts';
import type { Problem, UpstreamReference } from '#shared/problems/problem.ts';
import { problem } from '#shared/problems/registry.ts';
import type * as z from 'zod';

/** An answer that cannot be used: a failed call, or one that its reader refuses. */
export type Unusable = Omit<UpstreamFault, 'kind' | 'service' | 'operation'> & { readonly kind: AnswerKind };

/** Asks an owner for what a run needs. An answer that cannot be used is the problem that its kind and use make it. */
export async function ask<Operation extends UpstreamOperation>(
  platform: Platform,
  use: Operation['uses'][number],
  operation: Operation,
  call: UpstreamCall<Operation>,
): Promise<Result<UpstreamAnswer<z.output<Operation['answer']>>, Problem>> {
  const answer = await platform.call(operation, call);
  return answer.ok ? answer : err(answerProblem(operation, use, answer.error));
}

/**
 * What an unusable answer means for the caller of the mastery engine [MA-218, MA-219, MA-223].
 *
 * - 404 `resource-not-found`, 400 `invalid-request`: the owner does not show, or take, the id that this request names. Each is the same
 *   answer whatever exists.
 * - 409, or 422 of CASE: what was pinned has changed.
 * - 502 `qti-adaptive-pool-invalid`: a part of the pool is there and is not what its contract promises.
 * - 424 `finalization-incomplete`: a publication was refused.
 * - 424 `upstream-unavailable`: everything else; retryable only while waiting may help.
 */
export function answerProblem<Operation extends UpstreamOperation>(
  operation: Operation,
  use: Operation['uses'][number],
  fault: Unusable,
  detail: string = DETAILS[fault.kind],
): Problem {
  const { kind, transient, upstreamRequestId } = fault;
  // The owner does not accept our credential: what needs repair is the profile, not the owner.
  const service = kind === 'unauthorized' ? 'platform_auth' : operation.service;
  const upstream = reference(service, operation.id, upstreamRequestId);
  const wait = waitOf(fault.retryAfterSeconds);
  const verdict = verdicts[use][kind];
  const namedAt = use === 'start' ? operation.namedAt : undefined;
  if (verdict === 'absent' && namedAt !== undefined) return problem('mastery', 'resource-not-found', 404);
  if (verdict === 'refused' && namedAt !== undefined) return refusedByOwner(namedAt);
  if (verdict === 'drift') return driftProblem(operation, detail);
  if (verdict === 'invalid' && operation.isPool === true)
    return problem('mastery', 'qti-adaptive-pool-invalid', 502, { detail, upstream });
  if (verdict === 'unfinished' || verdict === 'finalizing')
    return problem('mastery', 'finalization-incomplete', 424, {
      upstream,
      // Where Results refuses for good, only mending the learner's reference or Results itself helps: there is no time to wait.
      ...(isRefusalOfResults(fault, service) ? ({ retryAfterSeconds: 'never' } as const) : wait),
    });
  const retryable = (verdict === 'wait' || verdict === 'doubt') && transient;
  return problem('mastery', 'upstream-unavailable', 424, { detail, retryable, upstream, ...wait });
}

/** The problem of an answer that its reader refuses. `detail` is a constant sentence. */
export function found(
  kind: Finding,
  operation: UpstreamOperation,
  upstreamRequestId: string | undefined,
  detail?: string,
): Problem {
  const transient = kind === 'pending' || kind === 'older';
  return answerProblem(operation, 'run', { kind, transient, upstreamRequestId }, detail);
}

const DETAILS: Readonly<Record<AnswerKind, string>> = {
  unavailable: 'A required owner did not answer in time.',
  unauthorized: 'A required owner refused the call.',
  rejected: 'A required owner refused the call.',
  'not-found': 'A required owner does not hold what this run refers to.',
  'refused-id': 'A required owner refused the call.',
  conflict: 'A required owner refused the call because of its present state.',
  malformed: 'A required owner’s answer does not have the form that its contract promises.',
  invalid: 'A required owner’s answer does not have the form that its contract promises.',
  'wrong-tenant': 'A required owner’s answer is not about this tenant.',
  'wrong-entity': 'A required owner’s answer is not about what it was asked for.',
  pending: 'A required owner has not finished its work yet.',
  older: 'QTI does not show a part of this run that it has shown before.',
  differs: 'An owner’s answer differs from what this run is pinned to.',
  broken: 'A required owner’s data breaks a rule of its contract.',
};

function isRefusalOfResults({ kind, transient, status = 0 }: Unusable, service: string): boolean {
  return service === 'results' && !transient && kind !== 'unauthorized' && status >= 400;
}

/** 400: the owner takes the id for none of its own, whether or not there is anything under it. */
function refusedByOwner(name: string): Problem {
  return problem('mastery', 'invalid-request', 400, {
    detail: 'The owner of an id in the request does not accept it.',
    invalidParams: [{ name, reason: 'refused_by_owner', message: 'is not an id that its owner accepts' }],
  });
}

/** 409, or 422 of CASE: what a run or its calibration is pinned to has changed [MA-067, MA-071, MA-217]. */
function driftProblem({ isPool, service }: UpstreamOperation, detail: string): Problem {
  if (isPool === true) return problem('mastery', 'adaptive-pool-version-drift', 409, { detail });
  return service === 'case'
    ? invalidCalibration(detail)
    : problem('mastery', 'stream-conflict', 409, { detail });
}

/** Whether a finalization has failed for good, unless somebody mends something. */
export function isFinalRefusal({ code, retryAfterSeconds }: Problem): boolean {
  return code === 'finalization-incomplete' && retryAfterSeconds === undefined;
}

/** No usable service profile: 424 of `platform_auth`, before any call is made [MA-009, MA-010]. */
export function profileProblem(fault: ProfileFault): Problem {
  const isTransient = fault === 'unreachable';
  return problem('mastery', 'upstream-unavailable', 424, {
    detail: isTransient
      ? 'The service profile of this tenant cannot be read at present.'
      : 'No usable service profile is provisioned for this tenant.',
    retryable: isTransient,
    upstream: { service: 'platform_auth', operation: 'platform.service_profile' },
  });
}

/** 422: calibration, policy and pool do not make a test. `detail` is a constant sentence. */
export function invalidCalibration(detail: string): Problem {
  return problem('mastery', 'calibration-invalid', 422, { detail });
}

/** 400: ids that exist, each for itself, but do not belong together. */
export function mismatchProblem(name: string, message: string): Problem {
  return problem('mastery', 'invalid-request', 400, {
    detail: 'The request names resources that do not belong together.',
    invalidParams: [{ name, reason: 'mismatch', message }],
  });
}

/** Names the call in `upstream`: owner, operation and the owner's request id, and nothing else [MA-213]. */
export function reference(
  service: UpstreamService | 'platform_auth',
  operation: string,
  requestId: string | undefined,
): UpstreamReference {
  if (
    service === 'oneroster' ||
    service === 'analytics' ||
    service === 'administration' ||
    service === 'blueprint'
  )
    throw new TypeError(`${operation} is no operation of the mastery engine`);
  return { service, operation, ...(requestId === undefined ? {} : { requestId }) };
}
