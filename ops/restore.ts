import { InvalidArgumentError } from '@commander-js/extra-typings';
import { parseInstant } from '#shared/kernel/instant.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { localStage, localTableName } from '#shared/stage/local-stage.ts';
import { dynamo, kms, s3, ssm } from '#shared/stores/clients.ts';
import { findDeployedTables } from '#shared/stores/deployed-table.ts';
import { createDataKeyOpener } from '#shared/stores/kms.ts';
import { createKeyNotes } from '#shared/stores/key-notes.ts';
import { createCompareImprovement } from '#ops/restore/compare-improvement.ts';
import { compareRecords } from '#ops/restore/compare-records.ts';
import { createCompareSettings } from '#ops/restore/compare-settings.ts';
import { createObjectVersions } from '#shared/stores/object-versions.ts';
import type { ManifestTrust } from '#shared/release/manifest.ts';
import { createTableBackup, type TableBackup } from '#shared/stores/table-backup.ts';
import type { Compare } from '#ops/restore/finding.ts';
import { appliedGates, receiptsBucket } from '#ops/gates/stage-places.ts';
import { checkAppliedManifest } from '#ops/restore/check-applied-manifest.ts';
import { restoreReceipts, type ReceiptRestore } from '#ops/restore/restore-receipts.ts';
import { restoreTable, type TableRestore } from '#ops/restore/restore-table.ts';
import { awsFailure } from '#shared/stage/aws-failure.ts';
import {
  examples,
  exits,
  needs,
  profileOption,
  program,
  run,
  text,
  UsageError,
} from '#tools/terminal/command.ts';
import { reachStage, releaseKeyOf, stageName } from './reach-stage.ts';

const stores = ['records', 'settings', 'improvement', 'receipts'] as const;
type Store = (typeof stores)[number];
type StoreTable = Exclude<Store, 'receipts'>;

const command = program(
  'npm run restore --',
  'Repairs a store of a stage from its backup or former versions (docs/disaster-recovery.md): verifies both, prints what differs, and copies back what is missing or damaged. Never writes over what is valid.',
)
  .requiredOption('--stage <S>', 'the stage; local: the stack that npm start runs', stageName)
  .requiredOption('--store <N>', stores.join(', '), storeName)
  .option('--to <TIME>', 'the time to restore, an instant in UTC such as 2026-01-31T09:30:00Z', instant)
  .option(
    '--from <TABLE>',
    'instead of --to: a table of this account and region, for example from AWS Backup; not for receipts',
    text,
  )
  .option('--dry-run', 'only print what differs')
  .option(...profileOption, text)
  .addHelpText(
    'after',
    examples(
      'npm run restore -- --stage prod --store records --to 2026-01-31T09:30:00Z --dry-run',
      'npm run restore -- --stage prod --store settings --to 2026-01-31T09:30:00Z',
      'npm run restore -- --stage prod --store receipts --to 2026-01-31T09:30:00Z --dry-run',
    ),
  );
command.action(exits(restore));
needs(command, ({ to, from }) => (to === undefined && from === undefined ? ['--to (or --from)'] : []));

await run(command);

async function restore(
  values: ReturnType<typeof command.opts>,
): Promise<Result<undefined, string | UsageError>> {
  const { stage, store, to, from, dryRun = false } = values;
  const source = to === undefined ? from !== undefined && { table: from } : from === undefined && { to };
  if (source === false) return err(new UsageError('use only one of --to and --from'));
  const options = { isDryRun: dryRun, print };
  let work: (trust: ManifestTrust) => Promise<Result<undefined, string>>;
  if (store !== 'receipts') work = () => restoreTableOf(stage, store, { ...options, source });
  else if (to !== undefined) work = (trust) => restoreBucket(trust, { ...options, to });
  else return err(new UsageError('receipts need --to: their former versions are in the bucket itself'));
  try {
    const reached = await reachStage(stage, values.profile);
    if (!reached.ok) return reached;
    const key = await releaseKeyOf(stage);
    if (!key.ok) return key;
    const trust = { stage, key: key.value };
    const restored = await work(trust);
    // A dry run has not brought back the manifest that it may have found.
    const canCheckManifest = store === 'settings' || (store === 'receipts' && !dryRun);
    return restored.ok && canCheckManifest
      ? await checkAppliedManifest({ ...trust, now: Date.now() }, appliedGates(), print)
      : restored;
  } catch (error) {
    const message = awsFailure(error);
    if (message === undefined) throw error;
    return err(message);
  }
}

async function restoreBucket(
  trust: ManifestTrust,
  options: Pick<ReceiptRestore, 'to' | 'isDryRun' | 'print'>,
): Promise<Result<undefined, string>> {
  const bucket = await receiptsBucket(trust.stage);
  return bucket === undefined
    ? err(`no bucket of receipts of stage ${trust.stage} in this account and region: deploy the stage first`)
    : restoreReceipts({ ...options, objects: createObjectVersions(s3(), bucket), bucket, trust });
}

async function restoreTableOf(
  stage: string,
  store: StoreTable,
  options: Pick<TableRestore, 'source' | 'isDryRun' | 'print'>,
): Promise<Result<undefined, string>> {
  const table = await tableOf(stage, store);
  if (!table.ok) return table;
  const backup = createTableBackup(dynamo(), table.value);
  const pause = (milliseconds: number) => processRuntime().sleep(milliseconds);
  return restoreTable({ ...options, backup, table: table.value, pause }, comparisonOf(stage, store, backup));
}

async function tableOf(stage: string, store: StoreTable): Promise<Result<string, string>> {
  if (stage === localStage) return ok(localTableName(store));
  const [found, another] = await findDeployedTables(dynamo(), stage, store);
  if (found !== undefined && another === undefined) return ok(found);
  return err(
    found === undefined
      ? `no ${store} table of stage ${stage} in this account and region: see docs/disaster-recovery.md for a lost table`
      : `several ${store} tables of stage ${stage}: delete the ones that no stack uses`,
  );
}

function comparisonOf(stage: string, store: StoreTable, backup: TableBackup): Compare {
  switch (store) {
    case 'records':
      return compareRecords;
    case 'settings':
      return createCompareSettings({
        kms: createDataKeyOpener(kms()),
        stage,
        notes: createKeyNotes(ssm(), stage),
        now: Date.now(),
      });
    case 'improvement':
      return createCompareImprovement((key) => backup.find(key));
  }
}

function print(line: string): void {
  console.log(line);
}

function storeName(value: string): Store {
  if (value === 'control') {
    throw new InvalidArgumentError(
      'It cannot be restored: idempotency records are valid for 24 hours, and an expired one must not come back.',
    );
  }
  const store = stores.find((known) => known === value);
  if (store === undefined) throw new InvalidArgumentError(`Expected ${stores.join(', ')}.`);
  return store;
}

function instant(value: string): number {
  const time = parseInstant(value);
  if (time === undefined)
    throw new InvalidArgumentError('It must be an instant in UTC, such as 2026-01-31T09:30:00Z.');
  return time;
}
