import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  CreateBackupCommand,
  DeleteItemCommand,
  RestoreTableFromBackupCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import { DeleteObjectCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import { instantiateSeed } from '#local/seeds/instantiate.ts';
import { DEFAULT_SEED_DIRECTORY, loadSeed } from '#local/seeds/load.ts';
import { localTenantIds } from '#local/seeds/tenants.ts';
import { formatInstant } from '#shared/kernel/instant.ts';
import { localCredentials, localRegion } from '#shared/stage/local-stage.ts';
import { createClients } from '#shared/stores/clients.ts';
import { findDeployedTables } from '#shared/stores/deployed-table.ts';
import { bucketOf, type Deployed } from './deploy.ts';

/** What an operator does with a deployed stage: releases a record, rotates the keys, and restores a record and an object that were deleted. */
export async function drill(url: string, { stage, folder, command }: Deployed): Promise<readonly string[]> {
  const seed = await loadSeed(DEFAULT_SEED_DIRECTORY);
  if (!seed.ok) throw new Error('the built-in seed is not sound');
  const [policy] = instantiateSeed(seed.value, localTenantIds[0]).policies;
  const file = join(folder, 'policy.json');
  writeFileSync(file, JSON.stringify(policy));
  const differences = [
    ...(await command('release policy', 'ops/release.ts', ['policy', file, '--stage', stage])),
    ...(await command('keys rotate', 'ops/keys.ts', ['rotate', '--stage', stage])),
    ...(await command('keys list', 'ops/keys.ts', ['list', '--stage', stage])),
  ];
  const { dynamo, s3, destroy } = createClients({
    endpoint: url,
    region: localRegion,
    credentials: localCredentials,
  });
  const [TableName = ''] = await findDeployedTables(dynamo, stage, 'records');
  const Bucket = await bucketOf(url);
  const items = async () => (await dynamo.send(new ScanCommand({ TableName }))).Items ?? [];
  const objects = async () => (await s3.send(new ListObjectsV2Command({ Bucket }))).Contents ?? [];
  const before = JSON.stringify([await items(), (await objects()).map(({ Key }) => Key)]);

  const { BackupDetails } = await dynamo.send(new CreateBackupCommand({ TableName, BackupName: 'drill' }));
  const TargetTableName = `${TableName}-drill`;
  await dynamo.send(
    new RestoreTableFromBackupCommand({ BackupArn: BackupDetails?.BackupArn, TargetTableName }),
  );
  // S3 gives times in whole seconds.
  const to = formatInstant(Date.now() - 2000);
  for (const { pk, sk } of await items())
    if (pk !== undefined && sk !== undefined)
      await dynamo.send(new DeleteItemCommand({ TableName, Key: { pk, sk } }));
  for (const { Key } of await objects()) await s3.send(new DeleteObjectCommand({ Bucket, Key }));
  const restore = (store: string, ...from: readonly string[]): Promise<readonly string[]> =>
    command(`restore ${store}`, 'ops/restore.ts', ['--stage', stage, '--store', store, ...from]);
  differences.push(
    ...(await restore('records', '--from', TargetTableName)),
    ...(await restore('receipts', '--to', to)),
  );
  const after = JSON.stringify([await items(), (await objects()).map(({ Key }) => Key)]);
  destroy();
  return after === before ? differences : [...differences, 'restore: what was deleted is not back'];
}
