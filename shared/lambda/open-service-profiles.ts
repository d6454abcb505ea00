import { openCredential } from '#shared/stores/kms.ts';
import { makeDynamo, makeKms } from '#shared/stores/make-clients.ts';
import { readProfileItem } from '#shared/stores/service-profile-items.ts';
import { readEnvironment } from '#shared/http/environment.ts';
import { withTimeLimit } from '#shared/kernel/sleep.ts';
import {
  createServiceProfiles,
  READ_MS,
  type ProfileReader,
  type ServiceProfiles,
} from '#shared/platform/service-profiles.ts';
import type { Runtime } from '#shared/runtime/runtime.ts';

/**
 * Opens the service profiles that a function's environment names: in `SETTINGS_TABLE`, in the single-profile form, or both. Their platform must be
 * one of `APPROVED_HOSTS` (separated by commas); only the stage `local` may use plain http. Throws EnvironmentError.
 */
export function openServiceProfiles(runtime: Runtime): ServiceProfiles {
  const { environment, now, random } = runtime;
  const { STAGE } = readEnvironment(['STAGE'], environment);
  const { SETTINGS_TABLE: table, APPROVED_HOSTS: approvedHosts = '' } = environment;
  return createServiceProfiles({
    reader: table === undefined ? undefined : profileReader(runtime, STAGE, table),
    single: environment,
    approvedHosts: approvedHosts.split(','),
    stage: STAGE,
    now,
    random,
  });
}

function profileReader({ aws, sleep }: Runtime, stage: string, table: string): ProfileReader {
  return {
    read: (tenantId) =>
      withTimeLimit(sleep, READ_MS, (signal) => readProfileItem(aws(makeDynamo), table, tenantId, signal)),
    open: (wrapped, tenantId) =>
      withTimeLimit(sleep, READ_MS, (signal) =>
        openCredential(aws(makeKms), stage, wrapped, tenantId, signal),
      ),
  };
}
