import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { Log } from '#shared/observability/logger.ts';
import type { UpstreamFault } from './fault.ts';
import type { Platform } from './platform.ts';
import type { ProfileFault, ServiceProfile, ServiceProfiles } from './service-profiles.ts';

/** What of a request the platform is opened for. Times are epoch milliseconds. */
export interface PlatformRequest {
  readonly principal: { readonly tenantId: string };
  readonly receivedAt: number;
  readonly deadline: number;
  readonly log: Log;
}

/** What opening the platform takes from the container. */
export interface PlatformDependencies {
  readonly profiles: ServiceProfiles;
  /** Opens the platform for the length of one request. */
  readonly connect: (profile: ServiceProfile, request: PlatformRequest) => Platform;
}

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
  { profiles, connect }: PlatformDependencies,
  request: PlatformRequest,
): Promise<Result<OpenedPlatform, ProfileFault>> {
  const profile = await profiles.resolve(request.principal.tenantId);
  if (!profile.ok) return profile;
  const platform = connect(profile.value, request);
  const judge = <T>(answer: Result<T, UpstreamFault>): Result<T, UpstreamFault> => {
    if (answer.ok || answer.error.kind !== 'unauthorized') return answer;
    return err({ ...answer.error, transient: profiles.forget(profile.value, request.receivedAt) });
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
