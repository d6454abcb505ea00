import { READ_MS, watchRelease } from '#shared/release/watch-release.ts';
import type { ReleaseWatch, WatchOptions } from '#shared/release/watch-release.ts';
import { dynamo } from './clients.ts';
import { createReleaseStateTable } from './release-state-table.ts';

/** The release as a function of the stage sees it, in the item of its settings table. */
export function openRelease(settingsTable: string, options: Omit<WatchOptions, 'read'>): ReleaseWatch {
  const table = createReleaseStateTable(dynamo(), settingsTable);
  return watchRelease({ ...options, read: () => table.read(AbortSignal.timeout(READ_MS)) });
}
