import { createFrameworks } from '#functions/reports/sources/case-package.ts';
import { openServiceProfiles } from '#shared/lambda/open-service-profiles.ts';
import type { Runtime } from '#shared/lambda/runtime.ts';
import { createPlatform } from '#shared/platform/http-platform.ts';
import { CALLS_AT_ONCE } from './answer-report.ts';
import type { ReportDependencies } from './answer-report.ts';

/** Creates the dependencies of a read route, once per binding. */
export function reportDependencies(runtime: Runtime): ReportDependencies {
  return {
    profiles: openServiceProfiles(runtime),
    connect: (profile, request) =>
      createPlatform(runtime, profile, request, { maxConcurrency: CALLS_AT_ONCE }),
    frameworks: createFrameworks(),
    now: runtime.now,
  };
}
