import { makeDynamo } from '#shared/stores/make-clients.ts';
import { createRecordsTable } from '#shared/stores/records-table.ts';
import { readEnvironment } from '#shared/http/environment.ts';
import type { ServiceProfiles } from '#shared/platform/service-profiles.ts';
import { createAnalysisPolicyStore } from '#shared/records/analysis-policy-store.ts';
import type { AnalysisPolicyStore } from '#shared/records/analysis-policy-store.ts';
import { systemReaders } from '#shared/records/system-readers.ts';
import type { Runtime } from '#shared/runtime/runtime.ts';

/**
 * Opens the released analysis policies of a function that may read records. `SYSTEM_RECORD_TENANTS` names the tenants that may read system records;
 * if absent, every tenant with a service profile may. Throws EnvironmentError.
 */
export function openAnalysisPolicies(
  { environment, aws, now }: Pick<Runtime, 'environment' | 'aws' | 'now'>,
  profiles: Pick<ServiceProfiles, 'resolve'>,
): AnalysisPolicyStore {
  const { RECORDS_TABLE } = readEnvironment(['RECORDS_TABLE'], environment);
  return createAnalysisPolicyStore({
    table: createRecordsTable(aws(makeDynamo), RECORDS_TABLE),
    now,
    mayReadSystem: systemReaders(environment['SYSTEM_RECORD_TENANTS'], profiles),
  });
}
