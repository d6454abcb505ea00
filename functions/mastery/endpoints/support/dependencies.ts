import type { PoolDependencies, RunDependencies } from '#functions/mastery/run/dependencies.ts';
import { problemsUrlOf, readEnvironment } from '#shared/http/environment.ts';
import { openIsolationProof } from '#shared/lambda/open-release.ts';
import { openKeyRing } from '#shared/lambda/open-key-ring.ts';
import { openServiceProfiles } from '#shared/lambda/open-service-profiles.ts';
import type { Runtime } from '#shared/runtime/runtime.ts';
import { createPlatform } from '#shared/platform/http-platform.ts';
import * as operations from '#shared/platform/operations.ts';
import { createAnswerMemo } from '#shared/platform/transport/answer-memo.ts';
import { createRecordStore, type RecordStore } from '#shared/records/store.ts';
import { systemReaders } from '#shared/records/system-readers.ts';
import { makeDynamo } from '#shared/stores/make-clients.ts';
import { createRecordsTable } from '#shared/stores/records-table.ts';

/** Opens the released records and the service profiles, which every endpoint needs. The profiles also state who may read system records. */
function openRecords(runtime: Runtime): Pick<PoolDependencies, 'store' | 'profiles'> {
  const { environment, aws } = runtime;
  const { RECORDS_TABLE } = readEnvironment(['RECORDS_TABLE'], environment);
  const profiles = openServiceProfiles(runtime);
  const store = createRecordStore({
    table: createRecordsTable(aws(makeDynamo), RECORDS_TABLE),
    now: runtime.now,
    mayReadSystem: systemReaders(environment['SYSTEM_RECORD_TENANTS'], profiles),
  });
  return { store, profiles };
}

/** The dependencies of the two configuration reads. */
export interface RecordDependencies {
  readonly store: RecordStore;
  /** The page that explains the headers of a deprecated record. */
  readonly deprecationUrl: string;
}

/** Creates the dependencies of the configuration reads, once per binding. They call no owner. */
export function recordDependencies(runtime: Runtime): RecordDependencies {
  return {
    store: openRecords(runtime).store,
    deprecationUrl: `${problemsUrlOf(runtime.environment)}/deprecation`,
  };
}

/** Creates the dependencies of every operation that reads a pool, once per binding. */
export function poolDependencies(runtime: Runtime): PoolDependencies {
  const memo = createAnswerMemo([
    operations.readTestSpec,
    operations.validateAdaptiveBankIdentity,
    operations.readAdaptivePoolManifest,
    operations.readAdaptivePoolRoot,
    operations.readCfItem,
    operations.verifyAnchor,
  ]);
  return {
    ...openRecords(runtime),
    isolationProof: openIsolationProof(runtime),
    connect: createPlatform(runtime, { memo }),
    now: runtime.now,
  };
}

/** Creates the dependencies of start, inspect and advance, once per binding. */
export function runDependencies(runtime: Runtime): RunDependencies {
  return {
    ...poolDependencies(runtime),
    keys: openKeyRing(runtime, ['continuation', 'pseudonym']),
  };
}
