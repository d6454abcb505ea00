import { randomBytes } from 'node:crypto';
import { createResponseCache } from '#functions/reports/cache/response-cache.ts';
import type { ClockReading } from '#functions/reports/cache/response-cache.ts';
import { createFrameworks } from '#functions/reports/sources/case-package.ts';
import { openServiceProfiles } from '#shared/stores/open-service-profiles.ts';
import { readEnvironment } from '#shared/http/environment.ts';
import { platformConnection } from '#shared/platform/connect.ts';
import type { ReportDependencies } from './answer-report.ts';

/** The real dependencies of a read route, once per container. */
export function reportDependencies(): ReportDependencies {
  const { STAGE } = readEnvironment(['STAGE']);
  const clock = (): ClockReading => ({ now: Date.now(), monotonic: performance.now() });
  return {
    profiles: openServiceProfiles(STAGE, process.env),
    connect: platformConnection(),
    frameworks: createFrameworks(),
    serving: {
      cache: createResponseCache({ clock, random: randomBytes }),
      clock,
      random: randomBytes,
    },
  };
}
