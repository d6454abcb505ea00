import { profileProblem } from '#functions/mastery/upstream/problems.ts';
import type { OperationRequest } from '#shared/http/operation.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { UpstreamFault } from '#shared/platform/fault.ts';
import type { Platform } from '#shared/platform/platform.ts';
import type { ServiceProfile } from '#shared/platform/service-profiles.ts';
import type { Problem } from '#shared/problems/problem.ts';
import type { RunDependencies } from './dependencies.ts';

/** What of a request the platform is opened for. */
export type PlatformRequest = Pick<OperationRequest, 'principal' | 'receivedAt' | 'deadline' | 'log'>;

/** The platform of one request, and the profile that it is spoken to with. */
export interface OpenedPlatform {
  readonly platform: Platform;
  readonly profile: ServiceProfile;
}

/**
 * The platform for the verified tenant, with a profile of exactly that tenant; no call is made before [MA-009]. When the platform refuses a
 * credential that this container had kept, it has probably been rotated: the next request reads it anew, so a retry may succeed.
 */
export async function openPlatform(
  dependencies: RunDependencies,
  request: PlatformRequest,
): Promise<Result<OpenedPlatform, Problem>> {
  const profile = await dependencies.profiles.resolve(request.principal.tenantId);
  if (!profile.ok) return err(profileProblem(profile.error));
  const platform = dependencies.connect(profile.value, request);
  /** One answer for all calls of the request: those side by side are refused together, whichever of them is heard first. */
  let wasKept: boolean | undefined;
  const judge = <T>(answer: Result<T, UpstreamFault>): Result<T, UpstreamFault> => {
    if (answer.ok || answer.error.status !== 401) return answer;
    wasKept ??= dependencies.profiles.forget(profile.value.tenantId, request.receivedAt);
    return err({ ...answer.error, transient: wasKept });
  };
  return ok({
    profile: profile.value,
    platform: {
      ...platform,
      call: async (operation, call) => judge(await platform.call(operation, call)),
      revalidate: async (operation, call, etag) => judge(await platform.revalidate(operation, call, etag)),
    },
  });
}
