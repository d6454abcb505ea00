import type { ServiceProfiles } from '#shared/platform/service-profiles.ts';
import { createAnalysisPolicyStore } from '#shared/records/analysis-policy-store.ts';
import type { AnalysisPolicyStore } from '#shared/records/analysis-policy-store.ts';
import { systemReaders } from '#shared/records/system-readers.ts';
import { dynamo } from './clients.ts';
import { createRecordsTable } from './records-table.ts';

/**
 * The released analysis policies of a function that may read records.
 * @param environment names in `SYSTEM_RECORD_TENANTS` who may read system records; absent: every tenant with a service profile
 */
export function openAnalysisPolicies(
  recordsTable: string,
  environment: Readonly<Record<string, string | undefined>>,
  profiles: Pick<ServiceProfiles, 'resolve'>,
): AnalysisPolicyStore {
  return createAnalysisPolicyStore({
    table: createRecordsTable(dynamo(), recordsTable),
    mayReadSystem: systemReaders(environment['SYSTEM_RECORD_TENANTS'], profiles),
  });
}
