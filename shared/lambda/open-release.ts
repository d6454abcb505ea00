import { makeDynamo } from '#shared/stores/make-clients.ts';
import { createReleaseStateTable } from '#shared/stores/release-state-table.ts';
import { EnvironmentError, readEnvironment, releaseVariables } from '#shared/http/environment.ts';
import { isWithin } from '#shared/kernel/shared-reading.ts';
import { withTimeLimit } from '#shared/kernel/sleep.ts';
import { parseReleaseKey } from '#shared/release/release-key.ts';
import type { IsolationWatch, KnownIsolation } from '#shared/release/release-state.ts';
import { FRESH_MS, READ_MS, watchRelease, type ReleaseWatch } from '#shared/release/watch-release.ts';
import type { Runtime } from '#shared/runtime/runtime.ts';

/** Opens the release for a function with gates, in the item of its stage's settings table. Throws EnvironmentError. */
export function openRelease(runtime: Runtime): ReleaseWatch {
  const { STAGE, RELEASE_KEY } = readEnvironment(releaseVariables, runtime.environment);
  const key = parseReleaseKey(RELEASE_KEY);
  if (key === undefined) throw new EnvironmentError(['RELEASE_KEY']);
  const watch = watchRelease({ stage: STAGE, key, now: runtime.now, read: stateReader(runtime) });
  runtime.prepare?.(watch);
  return watch;
}

/** Opens the proof that `gates apply` writes with the flags; it is read again once it is older than the flags may be. Throws EnvironmentError. */
export function openIsolationProof(runtime: Runtime): IsolationWatch {
  const readState = stateReader(runtime);
  let known: { readonly at: number; readonly proof: Promise<KnownIsolation> } | undefined;

  async function read(): Promise<KnownIsolation> {
    try {
      return (await readState())?.isolationProof ?? { outcome: 'not_proved' };
    } catch {
      return { outcome: 'unreadable' };
    }
  }

  return () => {
    const at = runtime.now();
    if (known === undefined || !isWithin(FRESH_MS, known.at, at)) known = { at, proof: read() };
    return known.proof;
  };
}

/** Reads what `gates apply` has written, within the time that a request has for it. */
function stateReader({ environment, aws, sleep }: Runtime) {
  const { SETTINGS_TABLE } = readEnvironment(['SETTINGS_TABLE'], environment);
  const table = createReleaseStateTable(aws(makeDynamo), SETTINGS_TABLE);
  return () => withTimeLimit(sleep, READ_MS, (signal) => table.read(signal));
}
