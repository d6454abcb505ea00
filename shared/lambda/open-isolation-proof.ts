import { makeDynamo } from '#shared/stores/make-clients.ts';
import { createReleaseStateTable } from '#shared/stores/release-state-table.ts';
import { readEnvironment } from '#shared/http/environment.ts';
import { withTimeLimit } from '#shared/kernel/sleep.ts';
import type { IsolationWatch, KnownIsolation } from '#shared/release/release-state.ts';
import { FRESH_MS, READ_MS } from '#shared/release/watch-release.ts';
import type { Runtime } from './runtime.ts';

/** The proof that `gates apply` has written beside the flags, read again once it is older than the flags may be. Throws EnvironmentError. */
export function openIsolationProof({
  environment,
  aws,
  now,
  sleep,
}: Pick<Runtime, 'environment' | 'aws' | 'now' | 'sleep'>): IsolationWatch {
  const { SETTINGS_TABLE } = readEnvironment(['SETTINGS_TABLE'], environment);
  const table = createReleaseStateTable(aws(makeDynamo), SETTINGS_TABLE);
  let known: { readonly at: number; readonly proof: Promise<KnownIsolation> } | undefined;

  async function read(): Promise<KnownIsolation> {
    try {
      const applied = await withTimeLimit(sleep, READ_MS, (signal) => table.read(signal));
      return applied?.isolationProof ?? { outcome: 'not_proved' };
    } catch {
      return { outcome: 'unreadable' };
    }
  }

  return () => {
    const at = now();
    if (known === undefined || at < known.at || at - known.at >= FRESH_MS) known = { at, proof: read() };
    return known.proof;
  };
}
