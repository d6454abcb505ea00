import { InvalidArgumentError } from '@commander-js/extra-typings';
import { parseInstant } from '#shared/kernel/instant.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { keyPurposes } from '#shared/keys/key-ring.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { localStage, localTableName } from '#shared/stage/local-stage.ts';
import { dynamo, kms, ssm } from '#shared/stores/clients.ts';
import { findDeployedTables } from '#shared/stores/deployed-table.ts';
import { createDataKeyOpener } from '#shared/stores/kms.ts';
import { createRetiredKeys } from '#shared/stores/retired-keys.ts';
import { createCompareImprovement } from '#ops/restore/compare-improvement.ts';
import { compareRecords } from '#ops/restore/compare-records.ts';
import { createCompareSettings } from '#ops/restore/compare-settings.ts';
import { createTableBackup } from '#shared/stores/table-backup.ts';
import type { TableBackup } from '#shared/stores/table-backup.ts';
import type { Compare } from '#ops/restore/finding.ts';
import { restoreTable } from '#ops/restore/restore-table.ts';
import { awsFailure } from '#shared/stage/aws-failure.ts';
import { examples, exits, program, run, text } from '#tools/terminal/command.ts';
import { profileOption, reachStage, stageName } from './reach-stage.ts';

const stores = ['records', 'settings', 'improvement'] as const;
type Store = (typeof stores)[number];

const command = program(
  'npm run restore --',
  'Repairs a store of a stage from its backup (docs/disaster-recovery.md): restores it beside the damaged one, verifies it, prints what differs, and copies back what is missing or damaged. Never writes over what is valid.',
)
  .requiredOption('--stage <S>', 'the stage; local: the stack that npm start runs', stageName)
  .requiredOption('--store <N>', stores.join(', '), storeName)
  .requiredOption(
    '--to <TIME>',
    'the time to restore, an instant in UTC such as 2026-01-31T09:30:00Z',
    instant,
  )
  .option('--dry-run', 'only print what differs')
  .option(...profileOption, text)
  .addHelpText(
    'after',
    examples(
      'npm run restore -- --stage prod --store records --to 2026-01-31T09:30:00Z --dry-run',
      'npm run restore -- --stage prod --store settings --to 2026-01-31T09:30:00Z',
    ),
  )
  .action(exits(restore));

await run(command);

async function restore(values: {
  readonly stage: string;
  readonly store: Store;
  readonly to: number;
  readonly dryRun?: true | undefined;
  readonly profile?: string | undefined;
}): Promise<Result<undefined, string>> {
  const { stage, store, to, dryRun = false } = values;
  try {
    const reached = await reachStage(stage, values.profile);
    if (!reached.ok) return reached;
    const table = await tableOf(stage, store);
    if (!table.ok) return table;
    const backup = createTableBackup(dynamo(), table.value);
    return await restoreTable(
      {
        backup,
        table: table.value,
        to,
        isDryRun: dryRun,
        print: (line) => {
          console.log(line);
        },
        pause: (milliseconds) => processRuntime().sleep(milliseconds),
      },
      await comparisonOf(stage, store, backup),
    );
  } catch (error) {
    const message = awsFailure(error);
    if (message === undefined) throw error;
    return err(message);
  }
}

async function tableOf(stage: string, store: Store): Promise<Result<string, string>> {
  if (stage === localStage) return ok(localTableName(store));
  const [found, another] = await findDeployedTables(dynamo(), stage, store);
  if (found !== undefined && another === undefined) return ok(found);
  return err(
    found === undefined
      ? `no ${store} table of stage ${stage} in this account and region: see docs/disaster-recovery.md for a lost table`
      : `several ${store} tables of stage ${stage}: delete the ones that no stack uses`,
  );
}

async function comparisonOf(stage: string, store: Store, backup: TableBackup): Promise<Compare> {
  switch (store) {
    case 'records':
      return compareRecords;
    case 'settings': {
      const notes = createRetiredKeys(ssm(), stage);
      const retired = new Map(
        await Promise.all(keyPurposes.map(async (purpose) => [purpose, await notes.list(purpose)] as const)),
      );
      return createCompareSettings({ kms: createDataKeyOpener(kms()), stage, retired, now: Date.now() });
    }
    case 'improvement':
      return createCompareImprovement((key) => backup.find(key));
  }
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
