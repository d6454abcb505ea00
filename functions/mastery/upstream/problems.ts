import { hidesId, waitOf } from '#shared/platform/fault.ts';
import type { UpstreamFault } from '#shared/platform/fault.ts';
import type { UpstreamOperation, UpstreamService } from '#shared/platform/operation.ts';
import type { ProfileFault } from '#shared/platform/service-profiles.ts';
import type { Problem, UpstreamReference } from '#shared/problems/problem.ts';
import { problem } from '#shared/problems/registry.ts';

/**
 * Where the id of a call comes from. `caller`: this request names it, so that one which the owner does not show is the hidden 404.
 * `derived`: from a token, a record or another owner's answer, so that its absence is the owner's gap, 424.
 */
export type IdOrigin = 'caller' | 'derived';

/**
 * What a failed call means for the caller of the mastery engine [MA-218, MA-223].
 *
 * - 404 `resource-not-found`: the caller's own id, hidden by its owner. It is the same answer as for any absent resource.
 * - 502 `qti-adaptive-pool-invalid`: Bank or QTI answered with something that is not its contract, also with another tenant's data.
 * - 424 `upstream-unavailable`: everything else; retryable only when the fault is transient.
 */
export function upstreamProblem(fault: UpstreamFault, origin: IdOrigin = 'derived'): Problem {
  if (origin === 'caller' && hidesId(fault)) return problem('mastery', 'resource-not-found', 404);
  if (
    (fault.kind === 'malformed' || fault.kind === 'wrong-tenant') &&
    (fault.service === 'bank' || fault.service === 'qti')
  ) {
    return problem('mastery', 'qti-adaptive-pool-invalid', 502, {
      detail: DETAILS[fault.kind],
      upstream: referenceOf(fault),
    });
  }
  return problem('mastery', 'upstream-unavailable', 424, {
    detail: DETAILS[fault.kind],
    retryable: fault.transient,
    upstream: referenceOf(fault),
    ...waitOf(fault),
  });
}

const DETAILS: Readonly<Record<UpstreamFault['kind'], string>> = {
  unavailable: 'A required owner did not answer in time.',
  'not-found': 'A required owner does not hold what this run refers to.',
  conflict: 'A required owner refused the call because of its present state.',
  rejected: 'A required owner refused the call.',
  malformed: 'A required owner’s answer does not have the form that its contract promises.',
  'wrong-tenant': 'A required owner’s answer is not about this tenant.',
};

/**
 * A finalization write or read-back that was refused or not answered: 424 `finalization-incomplete` [MA-219]. Where Results refuses for good,
 * only mending the learner's reference or Results itself helps, so that no time to wait can be given.
 */
export function finalizationProblem(fault: UpstreamFault): Problem {
  const { status = 0 } = fault;
  const refused = fault.service === 'results' && !fault.transient && status >= 400 && status !== 401;
  return problem('mastery', 'finalization-incomplete', 424, {
    upstream: referenceOf(fault),
    ...(refused ? ({ retryAfterSeconds: 'never' } as const) : waitOf(fault)),
  });
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

/**
 * An owner's data is there and breaks an invariant: 424, retryable only where waiting may repair it. `detail` is a constant sentence.
 */
export function invalidOwnerData(
  operation: UpstreamOperation,
  upstreamRequestId: string | undefined,
  detail: string,
  retryable = false,
): Problem {
  return problem('mastery', 'upstream-unavailable', 424, {
    detail,
    retryable,
    upstream: reference(operation.service, operation.id, upstreamRequestId),
  });
}

/** Bank or QTI data is there and breaks an invariant of the pool: 502 [MA-221]. `detail` is a constant sentence. */
export function invalidPool(
  operation: UpstreamOperation,
  upstreamRequestId: string | undefined,
  detail?: string,
): Problem {
  return problem('mastery', 'qti-adaptive-pool-invalid', 502, {
    upstream: reference(operation.service, operation.id, upstreamRequestId),
    ...(detail === undefined ? {} : { detail }),
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

/** 409: Content no longer says what the run is pinned to [MA-067]. */
export function contentDriftProblem(detail: string): Problem {
  return problem('mastery', 'stream-conflict', 409, { detail });
}

/** 409: the pool is not, or no longer, the version that was read before [MA-071, MA-217]. */
export function driftProblem(detail?: string): Problem {
  return problem('mastery', 'adaptive-pool-version-drift', 409, detail === undefined ? {} : { detail });
}

function referenceOf(fault: UpstreamFault): UpstreamReference {
  // The owner does not accept our credential: what needs repair is the profile, not the owner.
  const service = fault.status === 401 ? 'platform_auth' : fault.service;
  return reference(service, fault.operation, fault.upstreamRequestId);
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
