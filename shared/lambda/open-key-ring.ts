import { createDataKeyOpener } from '#shared/stores/kms.ts';
import { makeDynamo, makeKms } from '#shared/stores/make-clients.ts';
import { createKeySettings } from '#shared/stores/settings-table.ts';
import { readEnvironment } from '#shared/http/environment.ts';
import { withTimeLimit } from '#shared/kernel/sleep.ts';
import { createKeyRing } from '#shared/keys/create-key-ring.ts';
import type { KeyPurpose, KeyRing } from '#shared/keys/key-ring.ts';
import { READ_MS } from '#shared/keys/key-states.ts';
import type { Runtime } from '#shared/runtime/runtime.ts';

/** Opens the key ring of a function: the stage's keys for the named purposes, which its row's grants cover. Throws EnvironmentError. */
export function openKeyRing(runtime: Runtime, purposes: readonly [KeyPurpose, ...KeyPurpose[]]): KeyRing {
  const { environment, aws, now, sleep } = runtime;
  const { STAGE, SETTINGS_TABLE } = readEnvironment(['STAGE', 'SETTINGS_TABLE'], environment);
  const settings = createKeySettings(aws(makeDynamo), SETTINGS_TABLE);
  const kms = createDataKeyOpener(aws(makeKms));
  const ring = createKeyRing({
    settings: {
      list: (purpose) => withTimeLimit(sleep, READ_MS, (signal) => settings.list(purpose, signal)),
    },
    kms: {
      open: (wrappedKey, context) =>
        withTimeLimit(sleep, READ_MS, (signal) => kms.open(wrappedKey, context, signal)),
    },
    stage: STAGE,
    purposes,
    clock: now,
  });
  // For one purpose the ring reads the keys of all.
  runtime.prepare?.(() => ring.active(purposes[0]));
  return ring;
}
