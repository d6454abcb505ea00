import { defaultProblemsUrl, isProblemsUrl } from '#shared/http/environment.ts';
import type { RecordStore } from '#shared/records/store.ts';
import { openRecordStore } from './record-store.ts';

/** What the two configuration reads need. */
export interface RecordDependencies {
  readonly store: RecordStore;
  /** The page that explains the headers of a deprecated record. */
  readonly deprecationUrl: string;
}

/** The real dependencies of the configuration reads, once per container. No call to the platform is made. */
export function recordDependencies(): RecordDependencies {
  const { PROBLEMS_URL: problemsUrl } = process.env;
  return {
    store: openRecordStore().store,
    deprecationUrl: `${isProblemsUrl(problemsUrl) ? problemsUrl : defaultProblemsUrl}/deprecation`,
  };
}
