import { waitOf, type UpstreamFault } from '#shared/platform/fault.ts';
import type { UpstreamService } from '#shared/contract/owners.ts';
import type { UpstreamOperation } from '#shared/platform/operation.ts';
import type { Platform, UpstreamAnswer, UpstreamCall } from '#shared/platform/platform.ts';
import type { ProfileFault } from '#shared/platform/service-profiles.ts';
import { verdicts, type AnswerKind, type Finding } from '#shared/platform/verdicts.ts';
import { err, type Err, type Result } from '#shared/kernel/result.ts';
import type { Problem, UpstreamReference } from '#shared/problems/problem.ts';
import { problem } from '#shared/problems/registry.ts';
import type * as z from 'zod';

/** An answer that cannot be used: a failed call, or an answer that its reader rejects. */
export type Unusable = Omit<UpstreamFault, 'kind' | 'service' | 'operation'> & { readonly kind: AnswerKind };

/** Calls an owner for a fact that a run needs. The problem of an unusable answer depends on its kind and its use. */
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
 * Returns the problem of an unusable answer for the caller of the mastery engine [MA-218, MA-219, MA-223].
 *
 * - 404 `resource-not-found`, 400 `invalid-request`: the owner does not show, or accept, the id that this request names, whether or not it exists
 * - 409, or 422 for CASE: a pinned fact has changed
 * - 502 `qti-adaptive-pool-invalid`: a part of the pool exists and breaks its contract
 * - 424 `finalization-incomplete`: a publication was refused
 * - 424 `upstream-unavailable`: everything else; retryable only while waiting may help
 */
export function answerProblem<Operation extends UpstreamOperation>(
  operation: Operation,
  use: Operation['uses'][number],
  fault: Unusable,
  detail: string = DETAILS[fault.kind],
): Problem {
  const { kind, transient, status = 0, upstreamRequestId } = fault;
  // The owner does not accept our credential: the profile needs repair, not the owner.
  const service = kind === 'unauthorized' ? 'platform_auth' : operation.service;
  const upstream = reference(service, operation.id, upstreamRequestId);
  const wait = waitOf(fault.retryAfterSeconds);
  const verdict = verdicts[use][kind];
  const namedAt = use === 'start' ? operation.namedAt : undefined;
  if (verdict === 'absent' && namedAt !== undefined) return problem('mastery', 'resource-not-found', 404);
  // The same whether or not the id exists.
  if (verdict === 'refused' && namedAt !== undefined)
    return problem('mastery', 'invalid-request', 400, {
      detail: 'The owner of an id in the request does not accept it.',
      invalidParams: [
        { name: namedAt, reason: 'refused_by_owner', message: 'is not an id that its owner accepts' },
      ],
    });
  // A fact that a run or its calibration is pinned to has changed [MA-067, MA-071, MA-217].
  if (verdict === 'drift') {
    if (operation.isPool === true) return problem('mastery', 'adaptive-pool-version-drift', 409, { detail });
    return operation.service === 'case'
      ? invalidCalibration(detail)
      : problem('mastery', 'stream-conflict', 409, { detail });
  }
  if (verdict === 'invalid' && operation.isPool === true)
    return problem('mastery', 'qti-adaptive-pool-invalid', 502, { detail, upstream });
  if (verdict === 'unfinished' || verdict === 'finalizing')
    return problem('mastery', 'finalization-incomplete', 424, {
      upstream,
      // After a final refusal of Results, only a correction of the learner's reference or of Results helps, not waiting.
      ...(service === 'results' && !transient && status >= 400
        ? ({ retryAfterSeconds: 'never' } as const)
        : wait),
    });
  const retryable = (verdict === 'wait' || verdict === 'doubt') && transient;
  return problem('mastery', 'upstream-unavailable', 424, { detail, retryable, upstream, ...wait });
}

/** Returns the problem of an answer that its reader rejects. `detail` is a constant sentence. */
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
  forbidden: 'A required owner refused the call.',
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

/** Returns the 424 of `platform_auth` without a usable service profile, before any call is made [MA-009, MA-010]. */
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

/** Returns a 422: calibration, policy and pool do not fit together. `detail` is a constant sentence. */
export function invalidCalibration(detail: string): Problem {
  return problem('mastery', 'calibration-invalid', 422, { detail });
}

/** Returns that 422 as a result. */
export function refuseCalibration(detail: string): Err<Problem> {
  return err(invalidCalibration(detail));
}

/** Returns a 400: each id exists, but they do not belong together. */
export function mismatchProblem(name: string, message: string): Problem {
  return problem('mastery', 'invalid-request', 400, {
    detail: 'The request names resources that do not belong together.',
    invalidParams: [{ name, reason: 'mismatch', message }],
  });
}

/** Returns the call for `upstream`: only owner, operation and the owner's request id [MA-213]. */
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
