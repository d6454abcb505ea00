import { dynamo } from '#shared/stores/clients.ts';
import { createImprovementTable } from '#shared/stores/improvement-table.ts';
import { openAnalysisPolicies } from '#shared/stores/open-analysis-policies.ts';
import { openKeyRing } from '#shared/stores/open-key-ring.ts';
import { openServiceProfiles } from '#shared/stores/open-service-profiles.ts';
import { readEnvironment } from '#shared/http/environment.ts';
import { platformConnection } from '#shared/platform/connect.ts';
import type { AnalysisPolicyStore } from '#shared/records/analysis-policy-store.ts';
import type { ImprovementDependencies, LinkDependencies } from './open-improvement.ts';

/** The real dependencies of a route of improvement runs, once per container. */
export function improvementDependencies(): ImprovementDependencies {
  const { STAGE, IMPROVEMENT_TABLE } = readEnvironment(['STAGE', 'IMPROVEMENT_TABLE']);
  return {
    profiles: openServiceProfiles(STAGE, process.env),
    connect: platformConnection(),
    runs: createImprovementTable(dynamo(), IMPROVEMENT_TABLE),
    now: Date.now,
  };
}

/** What links to receipts are made with. */
export function linkDependencies(): LinkDependencies {
  const { STAGE, SETTINGS_TABLE, RECEIPTS_URL } = readEnvironment([
    'STAGE',
    'SETTINGS_TABLE',
    'RECEIPTS_URL',
  ]);
  return {
    keys: openKeyRing(STAGE, SETTINGS_TABLE, ['receipt-link'], Date.now),
    receiptsUrl: RECEIPTS_URL,
  };
}

/** Released analysis policies, for functions that may read records. */
export function openPolicies({ profiles }: Pick<ImprovementDependencies, 'profiles'>): AnalysisPolicyStore {
  const { RECORDS_TABLE } = readEnvironment(['RECORDS_TABLE']);
  return openAnalysisPolicies(RECORDS_TABLE, process.env, profiles);
}
