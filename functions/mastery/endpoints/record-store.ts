import { systemReaders } from '#shared/records/system-readers.ts';
import { dynamo } from '#shared/stores/clients.ts';
import { openServiceProfiles } from '#shared/stores/open-service-profiles.ts';
import { createRecordsTable } from '#shared/stores/records-table.ts';
import { readEnvironment } from '#shared/http/environment.ts';
import type { ServiceProfiles } from '#shared/platform/service-profiles.ts';
import { createRecordStore } from '#shared/records/store.ts';
import type { RecordStore } from '#shared/records/store.ts';

/** Released records, and the service profiles, which also say who may read system records; what every endpoint stands on. */
export function openRecordStore(): { readonly store: RecordStore; readonly profiles: ServiceProfiles } {
  const { STAGE, RECORDS_TABLE } = readEnvironment(['STAGE', 'RECORDS_TABLE']);
  const profiles = openServiceProfiles(STAGE, process.env);
  const store = createRecordStore({
    table: createRecordsTable(dynamo(), RECORDS_TABLE),
    mayReadSystem: systemReaders(process.env['SYSTEM_RECORD_TENANTS'], profiles),
  });
  return { store, profiles };
}
