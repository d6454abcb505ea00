import { rotateKeys } from '#shared/contract/background.ts';
import type { ScheduledHandler } from '#functions/reports/background/invocation.ts';
import { readEnvironment } from '#shared/http/environment.ts';
import { proveStores } from '#shared/lambda/prove-stores.ts';
import { checkable, type Checkable } from '#shared/lambda/version-check.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import type { Runtime } from '#shared/runtime/runtime.ts';
import { createKeyNotes, noteChanges } from '#shared/stores/key-notes.ts';
import { createDataKeyMaker } from '#shared/stores/kms.ts';
import { makeDynamo, makeKms, makeSsm } from '#shared/stores/make-clients.ts';
import { createWritableKeySettings } from '#shared/stores/settings-table.ts';
import { createRotateFunction, type Rotation } from './rotate-keys.ts';

/** Rotates the keys of tokens, bound to a runtime. */
export function bind(runtime: Runtime): Checkable<ScheduledHandler> {
  const rotate = createRotateFunction(() => openRotation(runtime), runtime);
  return checkable(runtime, (tenantId) => proveStores(rotateKeys, runtime, tenantId), rotate);
}

export const handler = bind(processRuntime());

const DAY_MS = 24 * 3_600_000;

function openRotation({ environment, aws, now }: Runtime): Rotation {
  const { STAGE, SETTINGS_TABLE, KEY_ARN, KEY_ROTATION_DAYS } = readEnvironment(
    ['STAGE', 'SETTINGS_TABLE', 'KEY_ARN', 'KEY_ROTATION_DAYS'],
    environment,
  );
  return {
    settings: noteChanges(
      createWritableKeySettings(aws(makeDynamo), SETTINGS_TABLE),
      createKeyNotes(aws(makeSsm), STAGE),
    ),
    kms: createDataKeyMaker(aws(makeKms), KEY_ARN),
    stage: STAGE,
    clock: now,
    period: Number(KEY_ROTATION_DAYS) * DAY_MS,
  };
}
