import { Option } from '@commander-js/extra-typings';
import { localStage } from '#shared/stage/local-stage.ts';
import { dynamo, kms, ssm } from '#shared/stores/clients.ts';
import { createDataKeyMaker } from '#shared/stores/kms.ts';
import { createKeyNotes, noteChanges } from '#shared/stores/key-notes.ts';
import { createWritableKeySettings } from '#shared/stores/settings-table.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { KeyAdministration, KeyAdministrationError, KeyReport } from '#shared/keys/administration.ts';
import { changeKeys, initKeyRing } from '#shared/keys/administration.ts';
import { planReplace, planRetire, planRetireNow, planRotate } from '#shared/keys/key-states.ts';
import { keyPurposes, scheduledPurposes, type KeyPurpose } from '#shared/keys/key-ring.ts';
import { describeError, describeReport, describeRing, type KeysCommand } from '#ops/keys/report.ts';
import { deployedTable, reachStage, stageName } from './reach-stage.ts';
import { awsFailure } from '#shared/stage/aws-failure.ts';
import { examples, exits, profileOption, program, run, text, UsageError } from '#tools/terminal/command.ts';

const command = program('npm run keys --', 'Manages the key ring of a stage (docs/key-ring.md).').addHelpText(
  'after',
  examples(
    'npm run keys -- init --stage staging',
    'npm run keys -- rotate --stage staging',
    'npm run keys -- rotate --stage staging --purpose idempotency --leaked',
    'npm run keys -- retire --stage staging --purpose idempotency --kid k1 --leaked',
  ),
);

/** Returns a subcommand with the common options. */
function subcommand(name: string, description: string) {
  return command
    .command(name)
    .description(description)
    .option('--stage <S>', 'the stage; local: the stack that npm start runs', stageName, localStage)
    .option(
      '--key-alias <A>',
      'the KMS key that wraps new keys; default: alias/mastery-reports/<stage>',
      text,
    )
    .option(...profileOption, text)
    .option('--table <T>', 'the settings table; default: the table of the stage', text)
    .addOption(new Option('--purpose <P>', 'only the keys of this purpose').choices(keyPurposes));
}
type Values = ReturnType<ReturnType<typeof subcommand>['opts']> & {
  readonly leaked?: boolean | undefined;
  readonly kid?: string | undefined;
};

const leaked = 'replace a leaked key at once, without the waiting times';

subcommand('init', 'Create the first key of every purpose that has none').action(
  exits((values) => carryOut('init', values)),
);
subcommand(
  'rotate',
  `Create the next key of ${scheduledPurposes.join(', ')}. Run it again 10 minutes later to activate that key. The other purposes are not rotated on a schedule`,
)
  .option('--leaked', leaked)
  .action(exits((values) => carryOut('rotate', values)));
subcommand('list', 'List keys, states and times').action(exits((values) => carryOut('list', values)));
subcommand('retire', 'Retire the keys that stopped sealing more than 24 hours ago')
  .option('--kid <K>', 'the leaked key; with --leaked', text)
  .option('--leaked', leaked)
  .action(exits((values) => carryOut('retire', values)));

await run(command);

async function carryOut(
  action: KeysCommand | 'list',
  values: Values,
): Promise<Result<undefined, string | UsageError>> {
  const purposes = purposesOf(action, values);
  if (!purposes.ok) return err(new UsageError(purposes.error));
  try {
    const administration = await connect(values);
    if (!administration.ok) return administration;
    return action === 'list'
      ? await list(administration.value, purposes.value)
      : await change(action, administration.value, purposes.value, values);
  } catch (error) {
    const message = awsFailure(error);
    if (message === undefined) throw error;
    return err(message);
  }
}

/** Returns the purposes of a command. Options that do not go together are rejected before any call. */
function purposesOf(
  action: KeysCommand | 'list',
  { purpose, kid, leaked = false }: Values,
): Result<readonly KeyPurpose[], string> {
  const missing = [
    ...(leaked && purpose === undefined ? ['--purpose'] : []),
    ...(leaked && action === 'retire' && kid === undefined ? ['--kid'] : []),
    ...(!leaked && kid !== undefined ? ['--leaked'] : []),
  ];
  if (missing.length > 0) return err(`missing: ${missing.join(', ')}`);
  if (purpose === undefined) return ok(action === 'rotate' ? scheduledPurposes : keyPurposes);
  if (action === 'rotate' && !leaked && !scheduledPurposes.some((scheduled) => scheduled === purpose)) {
    return err(
      `${purpose} is not rotated on a schedule, because its values must be found again later. After a leak: rotate --purpose ${purpose} --leaked`,
    );
  }
  return ok([purpose]);
}

async function connect(values: Values): Promise<Result<KeyAdministration, string>> {
  const { stage } = values;
  const reached = await reachStage(stage, values.profile);
  if (!reached.ok) return reached;
  const table = await deployedTable(stage, 'settings', values.table);
  if (!table.ok) return table;
  return ok({
    settings: noteChanges(createWritableKeySettings(dynamo(), table.value), createKeyNotes(ssm(), stage)),
    kms: createDataKeyMaker(kms(), values.keyAlias ?? `alias/mastery-reports/${stage}`),
    stage,
    clock: Date.now,
  });
}

async function list(
  { settings }: KeyAdministration,
  purposes: readonly KeyPurpose[],
): Promise<Result<undefined, string>> {
  const records = await Promise.all(purposes.map((purpose) => settings.list(purpose)));
  console.log(describeRing(records));
  return ok(undefined);
}

/** Handles every purpose, even if one of them fails. */
async function change(
  command: KeysCommand,
  administration: KeyAdministration,
  purposes: readonly KeyPurpose[],
  values: Values,
): Promise<Result<undefined, string>> {
  const failures: string[] = [];
  for (const purpose of purposes) {
    const report = await work(command, administration, purpose, values);
    if (report.ok) console.log(describeReport(command, report.value, Date.now()));
    else failures.push(describeError(purpose, report.error));
  }
  return failures.length === 0 ? ok(undefined) : err(failures.join('\n'));
}

async function work(
  command: KeysCommand,
  administration: KeyAdministration,
  purpose: KeyPurpose,
  { leaked = false, kid }: Values,
): Promise<Result<KeyReport, KeyAdministrationError>> {
  switch (command) {
    case 'init': {
      const [report] = await initKeyRing(administration, [purpose]);
      return ok(report ?? { purpose, done: [], waiting: [] });
    }
    case 'rotate':
      return changeKeys(administration, purpose, leaked ? planReplace : planRotate);
    case 'retire':
      return changeKeys(administration, purpose, kid === undefined ? planRetire : planRetireNow(kid));
  }
}
