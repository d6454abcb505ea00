import { createKeyRing } from '#shared/keys/create-key-ring.ts';
import type { KeyPurpose, KeyRing } from '#shared/keys/key-ring.ts';
import { dynamo, kms } from './clients.ts';
import { createDataKeyOpener } from './kms.ts';
import { createKeySettings } from './settings-table.ts';

/**
 * The key ring of a function: the stage's keys for the named purposes, which its row's grants cover.
 * @param clock epoch milliseconds
 */
export function openKeyRing(
  stage: string,
  settingsTable: string,
  purposes: readonly KeyPurpose[],
  clock: () => number,
): KeyRing {
  return createKeyRing({
    settings: createKeySettings(dynamo(), settingsTable),
    kms: createDataKeyOpener(kms()),
    stage,
    purposes,
    clock,
  });
}
