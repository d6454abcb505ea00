import type { RecordStore } from '#shared/records/store.ts';
import type { Runtime } from '#shared/lambda/runtime.ts';
import type { ServiceProfiles } from '#shared/platform/service-profiles.ts';
import { createRecordStore } from '#shared/records/store.ts';
import { createRecordsTable } from '#shared/stores/records-table.ts';
import { problemsUrlOf, readEnvironment } from '#shared/http/environment.ts';
import { makeDynamo } from '#shared/stores/make-clients.ts';
import { openServiceProfiles } from '#shared/lambda/open-service-profiles.ts';
import { systemReaders } from '#shared/records/system-readers.ts';

/** Released records, and the service profiles, which also say who may read system records; every endpoint needs both. */
export function openRecordStore(runtime: Runtime): {
  readonly store: RecordStore;
  readonly profiles: ServiceProfiles;
} {
  const { environment, aws } = runtime;
  const { RECORDS_TABLE } = readEnvironment(['RECORDS_TABLE'], environment);
  const profiles = openServiceProfiles(runtime);
  const store = createRecordStore({
    table: createRecordsTable(aws(makeDynamo), RECORDS_TABLE),
    mayReadSystem: systemReaders(environment['SYSTEM_RECORD_TENANTS'], profiles),
  });
  return { store, profiles };
}

/** What the two configuration reads need. */
export interface RecordDependencies {
  readonly store: RecordStore;
  /** The page that explains the headers of a deprecated record. */
  readonly deprecationUrl: string;
}

/** The dependencies of the configuration reads, once per binding. No call to the platform is made. */
export function recordDependencies(runtime: Runtime): RecordDependencies {
  return {
    store: openRecordStore(runtime).store,
    deprecationUrl: `${problemsUrlOf(runtime.environment)}/deprecation`,
  };
}
