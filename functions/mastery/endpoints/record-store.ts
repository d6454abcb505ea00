import { systemReaders } from '#functions/mastery/records/system-readers.ts';
import { dynamo, ssm } from '#shared/aws/clients.ts';
import { createRecordsTable } from '#shared/aws/records-table.ts';
import { createServiceProfileParameters } from '#shared/aws/service-profile-parameters.ts';
import { readEnvironment } from '#shared/http/environment.ts';
import { createServiceProfiles, singleProfileOf } from '#shared/platform/service-profiles.ts';
import type { ServiceProfiles } from '#shared/platform/service-profiles.ts';
import { createRecordStore } from '#shared/records/store.ts';
import type { RecordStore } from '#shared/records/store.ts';

/** Released records, and the service profiles, which also say who may read system records; what every endpoint stands on. */
export function openRecordStore(): { readonly store: RecordStore; readonly profiles: ServiceProfiles } {
  const { STAGE, RECORDS_TABLE } = readEnvironment(['STAGE', 'RECORDS_TABLE']);
  const { PROFILES_PATH: profilesPath, SYSTEM_RECORD_TENANTS: systemTenants } = process.env;
  const profiles = createServiceProfiles({
    reader: profilesPath === undefined ? undefined : createServiceProfileParameters(ssm(), profilesPath),
    single: singleProfileOf(process.env),
    stage: STAGE,
    now: Date.now,
  });
  const store = createRecordStore({
    table: createRecordsTable(dynamo(), RECORDS_TABLE),
    mayReadSystem: systemReaders(systemTenants, profiles),
  });
  return { store, profiles };
}
