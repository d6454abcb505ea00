import { createPoolCache } from '#functions/mastery/pool/read-pool.ts';
import { createRunRecords } from '#functions/mastery/records/load.ts';
import type { PoolDependencies, RunDependencies } from '#functions/mastery/run/dependencies.ts';
import { openIsolationProof } from '#shared/lambda/open-release.ts';
import { openKeyRing } from '#shared/lambda/open-key-ring.ts';
import type { Runtime } from '#shared/lambda/runtime.ts';
import { createPlatform } from '#shared/platform/http-platform.ts';
import * as operations from '#shared/platform/operations.ts';
import { createAnswerMemo } from '#shared/platform/transport/answer-memo.ts';
import { openRecordStore } from './record-dependencies.ts';

/** The dependencies of start, inspect and advance, once per binding. */
export function runDependencies(runtime: Runtime): RunDependencies {
  return {
    ...poolDependencies(runtime),
    keys: openKeyRing(runtime, ['continuation', 'pseudonym']),
  };
}

/** Of whatever reads a pool, once per binding. */
export function poolDependencies(runtime: Runtime): PoolDependencies {
  const { store, profiles } = openRecordStore(runtime);
  const memo = createAnswerMemo([
    operations.readTestSpec,
    operations.readAdaptivePoolManifest,
    operations.readAdaptivePoolRoot,
  ]);
  return {
    records: createRunRecords(store),
    profiles,
    isolationProof: openIsolationProof(runtime),
    pools: createPoolCache(),
    connect: (profile, request) => createPlatform(runtime, profile, request, { memo }),
    now: runtime.now,
  };
}
