import { systemReaders } from '#functions/mastery/records/system-readers.ts';
import { dynamo, ssm } from '#shared/aws/clients.ts';
import { createRecordsTable } from '#shared/aws/records-table.ts';
import { createServiceProfileParameters } from '#shared/aws/service-profile-parameters.ts';
import { defaultProblemsUrl, isProblemsUrl, readEnvironment } from '#shared/http/environment.ts';
import { createServiceProfiles, singleProfileOf } from '#shared/platform/service-profiles.ts';
import { createRecordStore } from '#shared/records/store.ts';
import type { RecordStore } from '#shared/records/store.ts';

/** What the two configuration reads need. */
export interface RecordDependencies {
  readonly store: RecordStore;
  /** The page that explains the headers of a deprecated record. */
  readonly deprecationUrl: string;
}

/** The real dependencies of the configuration reads, once per container. Profiles only say who may read system records; no call is made. */
export function recordDependencies(): RecordDependencies {
  const { STAGE, RECORDS_TABLE } = readEnvironment(['STAGE', 'RECORDS_TABLE']);
  const {
    PROFILES_PATH: profilesPath,
    SYSTEM_RECORD_TENANTS: systemTenants,
    PROBLEMS_URL: problemsUrl,
  } = process.env;
  const profiles = createServiceProfiles({
    reader: profilesPath === undefined ? undefined : createServiceProfileParameters(ssm(), profilesPath),
    single: singleProfileOf(process.env),
    stage: STAGE,
    now: Date.now,
  });
  return {
    store: createRecordStore({
      table: createRecordsTable(dynamo(), RECORDS_TABLE),
      mayReadSystem: systemReaders(systemTenants, profiles),
    }),
    deprecationUrl: `${isProblemsUrl(problemsUrl) ? problemsUrl : defaultProblemsUrl}/deprecation`,
  };
}
