import { createServiceProfiles, singleProfileOf } from '#shared/platform/service-profiles.ts';
import type { ServiceProfiles } from '#shared/platform/service-profiles.ts';
import { ssm } from './clients.ts';
import { createServiceProfileParameters } from './service-profile-parameters.ts';

/**
 * The service profiles that a function's environment names: below `PROFILES_PATH`, in the single-profile form, or both.
 * @param stage only `local` may speak plain http
 */
export function openServiceProfiles(
  stage: string,
  environment: Readonly<Record<string, string | undefined>>,
): ServiceProfiles {
  const { PROFILES_PATH: profilesPath } = environment;
  return createServiceProfiles({
    reader: profilesPath === undefined ? undefined : createServiceProfileParameters(ssm(), profilesPath),
    single: singleProfileOf(environment),
    stage,
    now: Date.now,
  });
}
