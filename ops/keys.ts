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
import { flag, runCommand, text } from '#tools/terminal/command.ts';
import type { OptionValues } from '#tools/terminal/command.ts';

const commands = ['init', 'rotate', 'list', 'retire'] as const;

const options = {
  stage: text('which deployment; local is the one that npm start runs here', 'S', localStage),
  'key-alias': text('KMS key that wraps new keys; default alias/mastery-reports/<stage>', 'A'),
  table: text('name of the settings table; default: that of the deployed stage', 'T'),
  purpose: text(`only this one: ${keyPurposes.join(', ')}`, 'P'),
  kid: text('with retire --leaked: which key', 'K'),
  leaked: flag('with rotate or retire: at once, without the waiting times'),
};

await runCommand(
  {
    usage: 'npm run keys --',
    summary: [
      'The key ring of a stage (docs/key-ring.md).',
      '',
      '  init    gives every purpose its first key; does nothing where there is one',
      '  rotate  creates the next key; run again 10 minutes later, it lets that key take over',
      '  list    shows keys, states and times',
      '  retire  ends the keys that stopped sealing more than 24 hours ago',
    ].join('\n'),
    options,
    positionals: ['init|rotate|list|retire'],
    examples: [
      'npm run keys -- init --stage staging',
      'npm run keys -- rotate --stage staging',
      'npm run keys -- rotate --stage staging --purpose idempotency --leaked',
      'npm run keys -- retire --stage staging --purpose idempotency --kid k1 --leaked',
    ],
  },
  async (values, [word = '']) => {
    const command = commands.find((candidate) => candidate === word);
    if (command === undefined) return err(`unknown command "${word}"; known are ${commands.join(', ')}`);
    const purposes = purposesOf(command, values);
    if (!purposes.ok) return purposes;
    try {
      const administration = await connect(values);
      if (!administration.ok) return administration;
      return command === 'list'
        ? await list(administration.value, purposes.value)
        : await change(command, administration.value, purposes.value, values);
    } catch (error) {
      const message = awsFailure(error);
      if (message === undefined) throw error;
      return err(message);
    }
  },
);

/** The purposes that a command is about; the options that do not go together are refused before anything is asked. */
function purposesOf(
  command: (typeof commands)[number],
  { purpose: name, kid, leaked }: OptionValues<typeof options>,
): Result<readonly KeyPurpose[], string> {
  const purpose = keyPurposes.find((candidate) => candidate === name);
  if (name !== undefined && purpose === undefined) {
    return err(`--purpose must be one of ${keyPurposes.join(', ')}`);
  }
  if (leaked && command !== 'rotate' && command !== 'retire')
    return err('--leaked goes with rotate or retire');
  if (leaked && purpose === undefined) return err('--leaked needs --purpose: whose key leaked?');
  if ((leaked && command === 'retire') !== (kid !== undefined)) {
    return err('--kid and --leaked go together with retire: which key leaked?');
  }
  if (purpose === undefined) return ok(command === 'rotate' ? scheduledPurposes : keyPurposes);
  if (command === 'rotate' && !leaked && !scheduledPurposes.some((scheduled) => scheduled === purpose)) {
    return err(
      `${purpose} is not rotated by schedule: what was made with its key must be found again. After a leak: rotate --purpose ${purpose} --leaked`,
    );
  }
  return ok([purpose]);
}

async function connect(values: OptionValues<typeof options>): Promise<Result<KeyAdministration, string>> {
  const { stage } = values;
  if (stage === localStage) {
    const entered = await enterLocalStack();
    if (!entered.ok) return entered;
  }
  const table = await settingsTable(stage, values.table);
  if (!table.ok) return table;
  return ok({
    settings: createWritableKeySettings(dynamo(), table.value),
    kms: createDataKeyMaker(kms(), values['key-alias'] ?? `alias/mastery-reports/${stage}`),
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
  values: OptionValues<typeof options>,
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
  { leaked, kid }: OptionValues<typeof options>,
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
