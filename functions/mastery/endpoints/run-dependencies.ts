import { compileModel } from '#functions/mastery/engine/index.ts';
import { createPoolCache } from '#functions/mastery/pool/read-pool.ts';
import { createRunRecords } from '#functions/mastery/records/load.ts';
import type { RunDependencies } from '#functions/mastery/run/dependencies.ts';
import { dynamo, kms } from '#shared/aws/clients.ts';
import { createDataKeyOpener } from '#shared/aws/kms.ts';
import { createKeySettings } from '#shared/aws/settings-table.ts';
import { readEnvironment } from '#shared/http/environment.ts';
import { createKeyRing } from '#shared/keys/create-key-ring.ts';
import { platformConnection } from '#shared/platform/connect.ts';
import { operations } from '#shared/platform/operations.ts';
import { createAnswerMemo } from '#shared/platform/transport/answer-memo.ts';
import { openRecordStore } from './record-store.ts';

/** The real dependencies of start, inspect and advance, once per container. */
export function runDependencies(): RunDependencies {
  const environment = readEnvironment(['STAGE', 'SETTINGS_TABLE']);
  const { store, profiles } = openRecordStore();
  const memo = createAnswerMemo([
    operations.readTestSpec,
    operations.readAdaptivePoolManifest,
    operations.readAdaptivePoolRoot,
  ]);
  return {
    records: createRunRecords({ store, compile: compileModel }),
    profiles,
    keys: createKeyRing({
      settings: createKeySettings(dynamo(), environment.SETTINGS_TABLE),
      kms: createDataKeyOpener(kms()),
      stage: environment.STAGE,
      purposes: ['continuation', 'pseudonym'],
      clock: Date.now,
    }),
    pools: createPoolCache(),
    connect: platformConnection(memo),
  };
}
