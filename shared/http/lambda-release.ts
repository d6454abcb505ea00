import { openRelease } from '#shared/stores/open-release.ts';
import { parseReleaseKey } from '#shared/release/release-key.ts';
import type { ReleaseWatch } from '#shared/release/watch-release.ts';
import { EnvironmentError, readEnvironment, releaseVariables } from './environment.ts';
import type { Surroundings } from './surroundings.ts';

/** The release as the environment of a function with gates names it. Throws EnvironmentError. */
export function lambdaRelease({ environment, now }: Pick<Surroundings, 'environment' | 'now'>): ReleaseWatch {
  const { STAGE, SETTINGS_TABLE, RELEASE_KEY } = readEnvironment(releaseVariables, environment);
  const key = parseReleaseKey(RELEASE_KEY);
  if (key === undefined) throw new EnvironmentError(['RELEASE_KEY']);
  return openRelease(SETTINGS_TABLE, { stage: STAGE, key, now });
}
