import { Option } from '@commander-js/extra-typings';
import { localStage } from '#shared/stage/local-stage.ts';
import { dynamo, kms } from '#shared/stores/clients.ts';
import { createDataKeyMaker } from '#shared/stores/kms.ts';
import { createWritableKeySettings } from '#shared/stores/settings-table.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { KeyAdministration, KeyAdministrationError, KeyReport } from '#shared/keys/administration.ts';
import { initKeyRing, replaceKey, retireKeyNow, retireKeys, rotateKey } from '#shared/keys/administration.ts';
import type { KeyPurpose } from '#shared/keys/key-ring.ts';
import { keyPurposes } from '#shared/keys/key-ring.ts';
import { scheduledPurposes } from '#shared/keys/key-states.ts';
import { describeError, describeReport, describeRing } from '#ops/keys/report.ts';
import type { KeysCommand } from '#ops/keys/report.ts';
import { enterLocalStack, settingsTable } from './reach-stage.ts';
import { awsFailure } from '#tools/terminal/aws-failure.ts';
import { examples, exits, program, run, text, UsageError } from '#tools/terminal/command.ts';

const command = program('npm run keys --', 'The key ring of a stage (docs/key-ring.md).').addHelpText(
  'after',
  examples(
    'npm run keys -- init --stage staging',
    'npm run keys -- rotate --stage staging',
    'npm run keys -- rotate --stage staging --purpose idempotency --leaked',
    'npm run keys -- retire --stage staging --purpose idempotency --kid k1 --leaked',
  ),
);

/** A subcommand with the options that all of them take. */
function subcommand(name: string, description: string) {
  return command
    .command(name)
    .description(description)
    .option('--stage <S>', 'which deployment; local is the one that npm start runs here', text, localStage)
    .option('--key-alias <A>', 'KMS key that wraps new keys; default alias/mastery-reports/<stage>', text)
    .option('--table <T>', 'name of the settings table; default: that of the deployed stage', text)
    .addOption(new Option('--purpose <P>', 'only this one').choices(keyPurposes));
}
type Values = ReturnType<ReturnType<typeof subcommand>['opts']> & {
  readonly leaked?: boolean | undefined;
  readonly kid?: string | undefined;
};

const leaked = 'at once, without the waiting times';

subcommand('init', 'gives every purpose its first key; does nothing where there is one').action(
  exits((values) => carryOut('init', values)),
);
subcommand(
  'rotate',
  `creates the next key of ${scheduledPurposes.join(', ')}; run again 10 minutes later, it lets that key take over. The other purposes are not rotated by schedule`,
)
  .option('--leaked', leaked)
  .action(exits((values) => carryOut('rotate', values)));
subcommand('list', 'shows keys, states and times').action(exits((values) => carryOut('list', values)));
subcommand('retire', 'ends the keys that stopped sealing more than 24 hours ago')
  .option('--kid <K>', 'with --leaked: which key', text)
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

/** The purposes that a command is about; the options that do not go together are refused before anything is asked. */
function purposesOf(
  action: KeysCommand | 'list',
  { purpose, kid, leaked = false }: Values,
): Result<readonly KeyPurpose[], string> {
  if (leaked && purpose === undefined) return err('--leaked needs --purpose: whose key leaked?');
  if ((leaked && action === 'retire') !== (kid !== undefined)) {
    return err('--kid and --leaked go together with retire: which key leaked?');
  }
  if (purpose === undefined) return ok(action === 'rotate' ? scheduledPurposes : keyPurposes);
  if (action === 'rotate' && !leaked && !scheduledPurposes.some((scheduled) => scheduled === purpose)) {
    return err(
      `${purpose} is not rotated by schedule: what was made with its key must be found again. After a leak: rotate --purpose ${purpose} --leaked`,
    );
  }
  return ok([purpose]);
}

async function connect(values: Values): Promise<Result<KeyAdministration, string>> {
  const { stage } = values;
  if (stage === localStage) {
    const entered = await enterLocalStack();
    if (!entered.ok) return entered;
  }
  const table = await settingsTable(stage, values.table);
  if (!table.ok) return table;
  return ok({
    settings: createWritableKeySettings(dynamo(), table.value),
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

/** Goes through all purposes, also when one of them cannot be done. */
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
      return leaked ? replaceKey(administration, purpose) : rotateKey(administration, purpose);
    case 'retire':
      return kid === undefined
        ? retireKeys(administration, purpose)
        : retireKeyNow(administration, purpose, kid);
  }
}
