import { makeDynamo } from '#shared/stores/make-clients.ts';
import { createReleaseStateTable } from '#shared/stores/release-state-table.ts';
import { EnvironmentError, readEnvironment, releaseVariables } from '#shared/http/environment.ts';
import { withTimeLimit } from '#shared/kernel/sleep.ts';
import { parseReleaseKey } from '#shared/release/release-key.ts';
import { READ_MS, watchRelease } from '#shared/release/watch-release.ts';
import type { ReleaseWatch } from '#shared/release/watch-release.ts';
import type { Runtime } from './runtime.ts';

/** The release as a function with gates sees it, in the item of its stage's settings table. Throws EnvironmentError. */
export function openRelease({
  environment,
  aws,
  now,
  sleep,
}: Pick<Runtime, 'environment' | 'aws' | 'now' | 'sleep'>): ReleaseWatch {
  const { STAGE, SETTINGS_TABLE, RELEASE_KEY } = readEnvironment(releaseVariables, environment);
  const key = parseReleaseKey(RELEASE_KEY);
  if (key === undefined) throw new EnvironmentError(['RELEASE_KEY']);
  const table = createReleaseStateTable(aws(makeDynamo), SETTINGS_TABLE);
  return watchRelease({
    stage: STAGE,
    key,
    now,
    read: () => withTimeLimit(sleep, READ_MS, (signal) => table.read(signal)),
  });
}
