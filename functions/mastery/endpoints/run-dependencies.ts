import { compileModel } from '#functions/mastery/engine/index.ts';
import { createPoolCache } from '#functions/mastery/pool/read-pool.ts';
import { createRunRecords } from '#functions/mastery/records/load.ts';
import { systemReaders } from '#functions/mastery/records/system-readers.ts';
import type { RunDependencies } from '#functions/mastery/run/dependencies.ts';
import { dynamo, kms, ssm } from '#shared/aws/clients.ts';
import { createDataKeyOpener } from '#shared/aws/kms.ts';
import { createRecordsTable } from '#shared/aws/records-table.ts';
import { createServiceProfileParameters } from '#shared/aws/service-profile-parameters.ts';
import { createKeySettings } from '#shared/aws/settings-table.ts';
import { readEnvironment } from '#shared/http/environment.ts';
import { createKeyRing } from '#shared/keys/create-key-ring.ts';
import { createPlatform } from '#shared/platform/http-platform.ts';
import { operations } from '#shared/platform/operations.ts';
import { createServiceProfiles, singleProfileOf } from '#shared/platform/service-profiles.ts';
import { createRecordStore } from '#shared/records/store.ts';
import { createAnswerMemo } from '#shared/platform/transport/answer-memo.ts';
import { sleep } from '#shared/platform/transport/sleep.ts';

/** The real dependencies of start, inspect and advance, once per container. */
export function runDependencies(): RunDependencies {
  const environment = readEnvironment(['STAGE', 'RECORDS_TABLE', 'SETTINGS_TABLE']);
  const { PROFILES_PATH: profilesPath, SYSTEM_RECORD_TENANTS: systemTenants } = process.env;
  const now = Date.now;
  const profiles = createServiceProfiles({
    reader: profilesPath === undefined ? undefined : createServiceProfileParameters(ssm(), profilesPath),
    single: singleProfileOf(process.env),
    stage: environment.STAGE,
    now,
  });
  const store = createRecordStore({
    table: createRecordsTable(dynamo(), environment.RECORDS_TABLE),
    mayReadSystem: systemReaders(systemTenants, profiles),
  });
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
      clock: now,
    }),
    pools: createPoolCache(),
    connect: (profile, { receivedAt, deadline, log }) =>
      createPlatform({
        profile,
        fetch: globalThis.fetch,
        now,
        sleep,
        random: Math.random,
        startedAt: receivedAt,
        deadline,
        memo,
        log,
      }),
  };
}
