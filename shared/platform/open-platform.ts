import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { Log } from '#shared/observability/logger.ts';
import type { UpstreamFault } from './fault.ts';
import type { Platform } from './platform.ts';
import type { ProfileFault, ServiceProfile, ServiceProfiles } from './service-profiles.ts';

/** The part of a request that the platform needs. Times are epoch milliseconds. */
export interface PlatformRequest {
  readonly principal: { readonly tenantId: string };
  readonly receivedAt: number;
  readonly deadline: number;
  readonly log: Log;
}

/** The part of the container that the platform needs. */
export interface PlatformDependencies {
  readonly profiles: ServiceProfiles;
  /** Opens the platform for the length of one request. */
  readonly connect: (profile: ServiceProfile, request: PlatformRequest) => Platform;
}

/** The platform of one request, and the profile of its calls. */
export interface OpenedPlatform {
  readonly platform: Platform;
  readonly profile: ServiceProfile;
}

/**
 * Opens the platform for the verified tenant with the profile of exactly that tenant, before any call [MA-009]. If the platform refuses a credential
 * that this container had cached, it has probably been rotated: the next request reads it anew, so a retry may succeed.
 */
export async function openPlatform(
  { profiles, connect }: PlatformDependencies,
  request: PlatformRequest,
): Promise<Result<OpenedPlatform, ProfileFault>> {
  const profile = await profiles.resolve(request.principal.tenantId, request.log);
  if (!profile.ok) return profile;
  const platform = connect(profile.value, request);
  const forgetRefused = <T>(answer: Result<T, UpstreamFault>): Result<T, UpstreamFault> => {
    if (answer.ok || answer.error.kind !== 'unauthorized') return answer;
    return err({ ...answer.error, transient: profiles.forget(profile.value, request.receivedAt) });
  };
  return ok({
    profile: profile.value,
    platform: {
      ...platform,
      call: async (operation, call) => forgetRefused(await platform.call(operation, call)),
      revalidate: async (operation, call, etag) =>
        forgetRefused(await platform.revalidate(operation, call, etag)),
    },
  });
}
