import { defaultProblemsUrl, isProblemsUrl } from '#shared/http/environment.ts';
import type { Runtime } from '#shared/lambda/runtime.ts';
import type { RecordStore } from '#shared/records/store.ts';
import { openRecordStore } from './record-store.ts';

/** What the two configuration reads need. */
export interface RecordDependencies {
  readonly store: RecordStore;
  /** The page that explains the headers of a deprecated record. */
  readonly deprecationUrl: string;
}

/** The dependencies of the configuration reads, once per binding. No call to the platform is made. */
export function recordDependencies(runtime: Runtime): RecordDependencies {
  const { PROBLEMS_URL: problemsUrl } = runtime.environment;
  return {
    store: openRecordStore(runtime).store,
    deprecationUrl: `${isProblemsUrl(problemsUrl) ? problemsUrl : defaultProblemsUrl}/deprecation`,
  };
}
