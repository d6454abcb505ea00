import { compileModel } from '#functions/mastery/engine/index.ts';
import { createPoolCache } from '#functions/mastery/pool/read-pool.ts';
import { createRunRecords } from '#functions/mastery/records/load.ts';
import type { PoolDependencies, RunDependencies } from '#functions/mastery/run/dependencies.ts';
import { openKeyRing } from '#shared/stores/open-key-ring.ts';
import { readEnvironment } from '#shared/http/environment.ts';
import { platformConnection } from '#shared/platform/connect.ts';
import * as operations from '#shared/platform/operations.ts';
import { createAnswerMemo } from '#shared/platform/transport/answer-memo.ts';
import { openRecordStore } from './record-store.ts';

/** The real dependencies of start, inspect and advance, once per container. */
export function runDependencies(): RunDependencies {
  const { STAGE, SETTINGS_TABLE } = readEnvironment(['STAGE', 'SETTINGS_TABLE']);
  return {
    ...poolDependencies(),
    keys: openKeyRing(STAGE, SETTINGS_TABLE, ['continuation', 'pseudonym'], Date.now),
  };
}

/** Of whatever reads a pool, once per container. */
export function poolDependencies(): PoolDependencies {
  const { store, profiles } = openRecordStore();
  const memo = createAnswerMemo([
    operations.readTestSpec,
    operations.readAdaptivePoolManifest,
    operations.readAdaptivePoolRoot,
  ]);
  return {
    records: createRunRecords({ store, compile: compileModel }),
    profiles,
    pools: createPoolCache(),
    connect: platformConnection(memo),
  };
}
