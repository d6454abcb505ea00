import { makeSsm } from '#shared/stores/make-clients.ts';
import { createServiceProfileParameters } from '#shared/stores/service-profile-parameters.ts';
import { readEnvironment } from '#shared/http/environment.ts';
import { createServiceProfiles, type ServiceProfiles } from '#shared/platform/service-profiles.ts';
import type { Runtime } from '#shared/runtime/runtime.ts';

/**
 * Opens the service profiles that a function's environment names: below `PROFILES_PATH`, in the single-profile form, or both. Their platform must be
 * one of `APPROVED_HOSTS` (separated by commas); only the stage `local` may use plain http. Throws EnvironmentError.
 */
export function openServiceProfiles({ environment, aws, now }: Runtime): ServiceProfiles {
  const { STAGE } = readEnvironment(['STAGE'], environment);
  const { PROFILES_PATH: profilesPath, APPROVED_HOSTS: approvedHosts = '' } = environment;
  return createServiceProfiles({
    reader:
      profilesPath === undefined ? undefined : createServiceProfileParameters(aws(makeSsm), profilesPath),
    single: environment,
    approvedHosts: approvedHosts.split(','),
    stage: STAGE,
    now,
  });
}
