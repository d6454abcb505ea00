import { createDataKeyOpener } from '#shared/stores/kms.ts';
import { makeDynamo, makeKms } from '#shared/stores/make-clients.ts';
import { createKeySettings } from '#shared/stores/settings-table.ts';
import { readEnvironment } from '#shared/http/environment.ts';
import { createKeyRing } from '#shared/keys/create-key-ring.ts';
import type { KeyPurpose, KeyRing } from '#shared/keys/key-ring.ts';
import type { Runtime } from './runtime.ts';

/**
 * The key ring of a function: the stage's keys for the named purposes, which its row's grants cover.
 * Throws EnvironmentError.
 */
export function openKeyRing(
  { environment, aws, now }: Pick<Runtime, 'environment' | 'aws' | 'now'>,
  purposes: readonly KeyPurpose[],
): KeyRing {
  const { STAGE, SETTINGS_TABLE } = readEnvironment(['STAGE', 'SETTINGS_TABLE'], environment);
  return createKeyRing({
    settings: createKeySettings(aws(makeDynamo), SETTINGS_TABLE),
    kms: createDataKeyOpener(aws(makeKms)),
    stage: STAGE,
    purposes,
    clock: now,
  });
}
