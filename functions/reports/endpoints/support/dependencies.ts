import { createFrameworks } from '#functions/reports/sources/case-package.ts';
import { readEnvironment } from '#shared/http/environment.ts';
import { openKeyRing } from '#shared/lambda/open-key-ring.ts';
import { openServiceProfiles } from '#shared/lambda/open-service-profiles.ts';
import { createPlatform } from '#shared/platform/http-platform.ts';
import type { Runtime } from '#shared/runtime/runtime.ts';
import { createImprovementTable } from '#shared/stores/improvement-table.ts';
import { makeDynamo } from '#shared/stores/make-clients.ts';
import type { ImprovementDependencies, LinkDependencies } from './open-improvement.ts';
import { CALLS_AT_ONCE, type ReportDependencies } from './owners.ts';

/** The dependencies of a read route, once per binding. */
export function reportDependencies(runtime: Runtime): ReportDependencies {
  return {
    profiles: openServiceProfiles(runtime),
    connect: createPlatform(runtime, { maxConcurrency: CALLS_AT_ONCE }),
    frameworks: createFrameworks(),
    now: runtime.now,
  };
}

/** Creates the dependencies of a route of improvement runs, once per binding. */
export function improvementDependencies(runtime: Runtime): ImprovementDependencies {
  const { environment, aws, now } = runtime;
  const { IMPROVEMENT_TABLE } = readEnvironment(['IMPROVEMENT_TABLE'], environment);
  return {
    profiles: openServiceProfiles(runtime),
    connect: createPlatform(runtime),
    runs: createImprovementTable(aws(makeDynamo), IMPROVEMENT_TABLE, runtime),
    now,
  };
}

/** Creates the dependencies of links to receipts. */
export function linkDependencies(runtime: Runtime): LinkDependencies {
  const { RECEIPTS_URL } = readEnvironment(['RECEIPTS_URL'], runtime.environment);
  return { keys: openKeyRing(runtime, ['receipt-link']), receiptsUrl: RECEIPTS_URL };
}
