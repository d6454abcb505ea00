import { readFile } from 'node:fs/promises';
import { Argument, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { checkModel } from '#functions/mastery/records/check-model.ts';
import { dynamo, kms, ssm, useSettings } from '#shared/stores/clients.ts';
import { createRecordsTable, RecordTooLargeError } from '#shared/stores/records-table.ts';
import { selectionPolicy } from '#shared/contract/mastery/selection-policy.ts';
import { pointer, schemaDefects, valueAt, type Defect } from '#shared/kernel/defect.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { parseInstant } from '#shared/kernel/instant.ts';
import { isStoreOutage } from '#shared/kernel/store-calls.ts';
import { parseStrictJson, type StrictJsonError } from '#shared/kernel/strict-json.ts';
import { checkCalibration } from '#shared/records/check-calibration.ts';
import { fitDefects, fittedTable, type FittedTable } from '#shared/records/fitted-table.ts';
import type { RecordKey } from '#shared/records/record-key.ts';
import { INSISTED, exposureTable } from '#shared/records/records.ts';
import type { CalibrationParameters, ExposureTable } from '#shared/records/records.ts';
import {
  blockRecord,
  deprecateRecord,
  prepareAnalysisPolicy,
  prepareCalibration,
  preparePolicy,
  writeRecord,
} from '#shared/records/release.ts';
import type { PreparedRecord, Released, ReleaseFailure } from '#shared/records/release.ts';
import { createRecordStore } from '#shared/records/store.ts';
import type { RecordsTable } from '#shared/records/table.ts';
import { stageNamed } from '#shared/stage/stages.ts';
import { deployedTable, reachStage, stageName } from './reach-stage.ts';
import { checkFeasibility } from './release/feasibility.ts';
import { openProfiles } from './release/profiles.ts';
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
import { readFrom } from '#tools/terminal/file-failure.ts';

type Kind = RecordKey['kind'];

const kinds: readonly Kind[] = ['policy', 'calibration', 'analysis-policy'];

/** Checks a record of a kind, with or without its digests, and writes it once. `npm start` seeds with this as well. */
export async function releaseRecord(
  table: RecordsTable,
  kind: Kind,
  file: unknown,
): Promise<Result<Released, ReleaseFailure>> {
  const prepared = prepare(kind, file);
  return prepared.ok ? writeRecord(table, prepared.value) : err({ kind: 'defects', defects: prepared.error });
}

function prepare(
  kind: Kind,
  file: unknown,
  table?: ExposureTable,
): Result<PreparedRecord, readonly Defect[]> {
  switch (kind) {
    case 'policy':
      return preparePolicy(file, table);
    case 'calibration':
      return prepareCalibration(file, checkModel);
    case 'analysis-policy':
      return prepareAnalysisPolicy(file);
  }
}

const DESTINATION = '--stage or --table';

export interface Destination {
  readonly stage?: string | undefined;
  readonly table?: string | undefined;
  readonly profile?: string | undefined;
}

export interface ReleaseRuntime {
  readonly readFile: (path: string) => Promise<string>;
  readonly openTable: (destination: Destination) => Promise<Result<RecordsTable, string | UsageError>>;
  readonly print: (line: string) => void;
  readonly warn: (line: string) => void;
}

export interface ReleaseOptions extends Destination {
  readonly dryRun?: boolean | undefined;
  /** A calibration to hold a policy's demands against: a file's name, which ends in `.json`, or the id of a released one. */
  readonly calibration?: string | undefined;
  /** The file with the item parameters of a `sympson_hetter` policy. */
  readonly exposureTable?: string | undefined;
}

/**
 * `release KIND FILE`: one line on success, every defect with its pointer otherwise. With `dryRun` nothing is written, and nothing looked up
 * but a calibration that is named by its id.
 */
export async function releaseFile(
  runtime: ReleaseRuntime,
  kind: Kind,
  path: string,
  options: ReleaseOptions,
): Promise<Result<undefined, string | UsageError>> {
  const file = await readJson(runtime, path);
  if (!file.ok) return file;
  const exposure = await readExposureTable(runtime, options.exposureTable);
  if (!exposure.ok) return exposure;
  const prepared = prepare(kind, file.value, exposure.value?.probabilities);
  if (!prepared.ok) return err(refusal(path, prepared.error));
  const fit = checkFit(runtime, exposure.value?.fit, prepared.value.stored, options.exposureTable);
  if (!fit.ok) return fit;
  if (options.calibration !== undefined) {
    const feasible = await checkAgainst(
      runtime,
      options.calibration,
      prepared.value,
      path,
      options,
      exposure.value?.fit,
    );
    if (!feasible.ok) return feasible;
  }
  if (kind === 'policy') warnOfRules(runtime, prepared.value.stored);
  if (kind === 'calibration' && prepared.value.stored.document.includes(INSISTED))
    runtime.warn(
      'warning: /document/limitations: the checks of npm run calibrate forbid this calibration, and it was written with --insist. Release it only if you know that they are wrong',
    );
  if (options.dryRun === true) {
    runtime.print(`${describe(prepared.value.key)} can be released, checksum ${prepared.value.checksum}`);
    return ok(undefined);
  }
  const table = await runtime.openTable(options);
  if (!table.ok) return table;
  const released = await writeRecord(table.value, prepared.value);
  if (!released.ok) return err(failure(path, released.error));
  const { key, checksum, already } = released.value;
  runtime.print(`${describe(key)} ${already ? 'was already released' : 'released'}, checksum ${checksum}`);
  if (kind === 'analysis-policy') runtime.print(howToChoose(key));
  return ok(undefined);
}

/** The item parameters that are released with a policy, with what they were fitted for if their file states it. */
interface GivenTable {
  readonly probabilities: ExposureTable;
  readonly fit: FittedTable | undefined;
}

/** Returns the table of item parameters that is released with a policy, if one is named: a fitted table, or the probabilities by themselves. */
async function readExposureTable(
  runtime: ReleaseRuntime,
  path: string | undefined,
): Promise<Result<GivenTable | undefined, string>> {
  if (path === undefined) return ok(undefined);
  const file = await readJson(runtime, path);
  if (!file.ok) return file;
  if (typeof valueAt(file.value, ['fittedFor']) === 'object') {
    const fitted = fittedTable.safeParse(file.value);
    return fitted.success
      ? ok({ probabilities: fitted.data.probabilities, fit: fitted.data })
      : err(refusal(path, schemaDefects(fitted.error, file.value)));
  }
  const parsed = exposureTable.safeParse(file.value);
  return parsed.success
    ? ok({ probabilities: parsed.data, fit: undefined })
    : err(refusal(path, schemaDefects(parsed.error)));
}

/** Refuses a table that was fitted for another selection of items than the policy's. */
function checkFit(
  { warn }: ReleaseRuntime,
  fit: FittedTable | undefined,
  { document }: PreparedRecord['stored'],
  path: string | undefined,
): Result<undefined, string> {
  if (path === undefined) return ok(undefined);
  if (fit !== undefined) {
    const defects = fitDefects(fit, selectionPolicy.parse(JSON.parse(document)));
    return defects.length === 0 ? ok(undefined) : err(refusal(path, defects));
  }
  warn(
    `warning: ${path} does not state what it was fitted for: nothing shows that it limits exposure under this policy. npm run recovery -- --exposure sympson_hetter writes tables that do`,
  );
  return ok(undefined);
}

/** Holds a prepared policy against a calibration; what cannot be checked is reported and stops nothing. */
async function checkAgainst(
  runtime: ReleaseRuntime,
  calibration: string,
  { key, stored }: PreparedRecord,
  path: string,
  destination: Destination,
  fit: FittedTable | undefined,
): Promise<Result<undefined, string | UsageError>> {
  const parameters = calibration.endsWith('.json')
    ? await readCalibration(runtime, calibration)
    : await findCalibration(runtime, calibration, key.tenantId, destination);
  if (!parameters.ok) return parameters;
  const policy = selectionPolicy.parse(JSON.parse(stored.document));
  const { defects, unchecked } = checkFeasibility(policy, parameters.value);
  if (defects.length > 0) return err(refusal(path, defects, ` with calibration ${calibration}`));
  warnOfPopulation(runtime, fit, parameters.value);
  for (const line of unchecked) runtime.print(`not checked: ${line}`);
  runtime.print(`calibration ${calibration} can meet every checked requirement of the policy`);
  return ok(undefined);
}

function warnOfPopulation(
  { warn }: ReleaseRuntime,
  fit: FittedTable | undefined,
  { theta }: CalibrationParameters,
): void {
  const { mean = theta.mean, sd = theta.sd } = fit?.fittedFor.population ?? {};
  if (mean !== theta.mean || sd !== theta.sd)
    warn(
      `warning: the exposure table was fitted for learners with mean ${mean} and SD ${sd}; the calibration has mean ${theta.mean} and SD ${theta.sd}. Among other learners, more can be given the same item`,
    );
}

/** Returns the parameters of a calibration file, which must be one that could be released. */
async function readCalibration(
  runtime: ReleaseRuntime,
  path: string,
): Promise<Result<CalibrationParameters, string | UsageError>> {
  const file = await readJson(runtime, path);
  if (!file.ok) return file;
  const checked = checkCalibration(file.value, checkModel);
  return checked.ok ? ok(checked.value.parameters) : err(refusal(path, checked.error));
}

/** Returns the parameters of a released calibration, as a run of the policy's tenant would find them: its own before a system one. */
async function findCalibration(
  runtime: ReleaseRuntime,
  id: string,
  tenantId: string | undefined,
  destination: Destination,
): Promise<Result<CalibrationParameters, string | UsageError>> {
  const table = await runtime.openTable(destination);
  if (!table.ok) return table;
  const store = createRecordStore({ table: table.value, mayReadSystem: () => true, now: Date.now });
  // No tenant has an empty name: for a system policy only system calibrations are found.
  const found = await store.calibration(tenantId ?? '', id);
  if (found.ok && found.value === undefined)
    return err(`calibration ${id} was never released here (a file name must end in .json)`);
  const parameters = found.ok ? await found.value?.parameters() : found;
  return parameters?.ok === true
    ? parameters
    : err(`cannot use calibration ${id}: it is damaged, or of a later version`);
}

/** Rules that are legal and seldom meant: they wear a bank out, or leave a learner nothing to be offered. */
function warnOfRules({ warn }: ReleaseRuntime, { document }: PreparedRecord['stored']): void {
  const { exposure, priorUse } = selectionPolicy.parse(JSON.parse(document)).eligibilityRules;
  const rules = '/document/eligibilityRules';
  if (exposure === undefined)
    warn(
      `warning: ${rules}/exposure is missing: most learners are offered the same few items. Add a rule, for example {"method":"randomesque","size":3}`,
    );
  if (priorUse === 'exclude')
    warn(
      `warning: ${rules}/priorUse is "exclude": a learner who has met too many items of a bank in earlier runs cannot start another (422). Use "avoid" to offer such items only when no other is eligible`,
    );
  else if (priorUse !== 'avoid')
    warn(
      `warning: ${rules}/priorUse is ${priorUse === undefined ? 'missing' : `"${priorUse}"`}: a learner can be offered the same item again in the next run. Use "avoid" to offer such items only when no other is eligible`,
    );
}

/** A released policy has no effect until a tenant's service profile names it. */
function howToChoose({ id, tenantId }: RecordKey): string {
  const whose = tenantId === undefined ? 'a tenant’s' : `${tenantId}’s`;
  return `To analyze ${whose} new runs with it, set ANALYSIS_POLICY_ID to ${id} in the service profile (docs/deploy.md). npm run release -- profile makes functions use it.`;
}

/** `release deprecate KIND ID`: sets or moves the deprecation of a released record. */
export async function deprecate(
  runtime: ReleaseRuntime,
  kind: Kind,
  id: string,
  options: Destination & {
    readonly at: string;
    readonly sunset?: string | undefined;
    readonly tenant?: string | undefined;
  },
): Promise<Result<undefined, string | UsageError>> {
  const table = await runtime.openTable(options);
  if (!table.ok) return table;
  const key: RecordKey = { kind, id, ...(options.tenant === undefined ? {} : { tenantId: options.tenant }) };
  const changed = await deprecateRecord(table.value, key, {
    deprecatedAt: options.at,
    ...(options.sunset === undefined ? {} : { sunsetAt: options.sunset }),
  });
  if (!changed.ok) {
    return err(
      changed.error.kind === 'not-found'
        ? `${describe(key)} was never released here`
        : new UsageError(
            changed.error.defects
              .map(({ pointer, message }) => `${pointer === '/sunsetAt' ? '--sunset' : '--at'} ${message}`)
              .join('\n'),
          ),
    );
  }
  const { deprecatedAt, sunsetAt } = changed.value;
  runtime.print(
    `${describe(key)} is deprecated as of ${deprecatedAt ?? ''}${sunsetAt === undefined ? '' : `, sunset ${sunsetAt}`}`,
  );
  return ok(undefined);
}

const blockable = ['policy', 'calibration'] as const;

/** `release block ID` and `unblock ID`: takes a wrong policy or calibration out of use, or lifts that. The record itself stays as it is. */
export async function block(
  runtime: ReleaseRuntime,
  id: string,
  options: Destination & {
    /** Why it is blocked, for operators; without it, a block is lifted. */
    readonly why?: string | undefined;
    readonly kind?: (typeof blockable)[number] | undefined;
    readonly tenant?: string | undefined;
  },
  now: Date,
): Promise<Result<undefined, string | UsageError>> {
  const table = await runtime.openTable(options);
  if (!table.ok) return table;
  const tenant = options.tenant === undefined ? {} : { tenantId: options.tenant };
  const keys = (options.kind === undefined ? blockable : [options.kind]).map((kind): RecordKey => ({
    kind,
    id,
    ...tenant,
  }));
  const stored = await Promise.all(keys.map((key) => table.value.read(key)));
  const [key, other] = keys.filter((_, at) => stored[at] !== undefined);
  if (key === undefined)
    return err(
      `${keys.map(describe).join(' and ')} ${keys.length === 1 ? 'was' : 'were'} never released here${options.tenant === undefined ? '; a tenant’s own record needs --tenant' : ''}`,
    );
  if (other !== undefined)
    return err(new UsageError(`both a policy and a calibration are named ${id}: give --kind`));
  const { why } = options;
  await blockRecord(
    table.value,
    key,
    why === undefined ? undefined : { blockedAt: now.toISOString(), blockedBecause: why },
  );
  runtime.print(
    why !== undefined
      ? `${describe(key)} is blocked. Within a minute, starts, simulations and advances that use it are 422 calibration-invalid; npm run release -- unblock lifts it`
      : `${describe(key)} is no longer blocked; functions use it again within a minute`,
  );
  return ok(undefined);
}

function describe({ kind, id, tenantId }: RecordKey): string {
  return `${kind} ${id} (${tenantId === undefined ? 'system' : `tenant ${tenantId}`})`;
}

function refusal(path: string, defects: readonly Defect[], given = ''): string {
  const lines = defects.map(
    ({ pointer, message }) => `  ${pointer === '' ? '(the whole file)' : pointer}: ${message}`,
  );
  const count = defects.length === 1 ? 'one defect' : `${defects.length} defects`;
  return [`${path} cannot be released${given}, ${count}:`, ...lines].join('\n');
}

function failure(path: string, problem: ReleaseFailure): string {
  if (problem.kind === 'defects') return refusal(path, problem.defects);
  return `${describe(problem.key)} is already released with other content: give the correction a new id`;
}

async function readJson(runtime: ReleaseRuntime, path: string): Promise<Result<unknown, string>> {
  const content = await readFrom(path, runtime.readFile);
  if (!content.ok) return content;
  const parsed = parseStrictJson(content.value);
  return parsed.ok ? parsed : err(`${path} ${jsonDefect(parsed.error)}`);
}

function jsonDefect(error: StrictJsonError): string {
  switch (error.kind) {
    case 'malformed':
      return 'is not JSON';
    case 'too-deep':
      return 'is nested too deeply';
    case 'not-i-json':
      return `contains a number or a character that is not interoperable (RFC 7493), at ${pointer(...error.path)}`;
    case 'duplicate-key':
      return `repeats the member ${pointer(...error.path)}`;
  }
}

/** Returns the table that is named, or the one that the stage's stack made. Without a stage it is in the account and region of the credentials. */
async function openTable({
  stage,
  table,
  profile,
}: Destination): Promise<Result<RecordsTable, string | UsageError>> {
  if (stage === undefined) {
    if (profile !== undefined) useSettings({ profile });
    const name = table ?? process.env['RECORDS_TABLE'];
    return name === undefined
      ? err(new UsageError(`missing: ${DESTINATION}`))
      : ok(createRecordsTable(dynamo(), name));
  }
  const reached = await reachStage(stage, profile);
  if (!reached.ok) return reached;
  const name = await deployedTable(stage, 'records', table);
  return name.ok ? ok(createRecordsTable(dynamo(), name.value)) : name;
}

/** `release profile`: stores service profiles where the functions read them, or removes one. */
async function releaseProfiles(options: {
  readonly stage: string;
  readonly tenant?: string | undefined;
  readonly all?: true | undefined;
  readonly remove?: true | undefined;
  readonly profile?: string | undefined;
}): Promise<Result<undefined, string | UsageError>> {
  const { stage, tenant, all, remove } = options;
  if ((tenant === undefined) === (all === undefined)) return err(new UsageError('give --tenant or --all'));
  if (remove === true && tenant === undefined) return err(new UsageError('--remove needs --tenant'));
  const reached = await reachStage(stage, options.profile);
  if (!reached.ok) return reached;
  const table = await deployedTable(stage, 'settings', undefined);
  if (!table.ok) return table;
  const profiles = openProfiles({
    ...{ dynamo: dynamo(), kms: kms(), ssm: ssm(), now: Date.now },
    ...{ stage, settingsTable: table.value, keyId: `alias/mastery-reports/${stage}` },
    approvedHosts: approvedHostsOf(stage),
  });
  if (tenant !== undefined && remove === true) {
    const removed = await profiles.remove(tenant);
    if (!removed.ok) return removed;
    runtime.print(removed.value);
    return ok(undefined);
  }
  const tenants = tenant === undefined ? await profiles.provisionedTenants() : [tenant];
  const refused: string[] = [];
  for (const each of tenants) {
    const moved = await attemptMove(() => profiles.move(each, all), each);
    if (moved.ok) runtime.print(moved.value);
    else refused.push(moved.error);
  }
  if (tenants.length === 0) return err(`no tenant has a service profile in stage ${stage}`);
  return refused.length === 0 ? ok(undefined) : err(refused.join('\n'));
}

/** One tenant's failure must not keep the others from being stored. */
async function attemptMove(
  move: () => Promise<Result<string, string>>,
  tenant: string,
): Promise<Result<string, string>> {
  try {
    return await move();
  } catch (error) {
    return err(`profile of ${tenant}: not stored. ${operationalFailure(error)}`);
  }
}

function approvedHostsOf(stage: string): readonly string[] {
  const known = stageNamed(stage);
  return known.ok ? known.value.config.approvedHosts : [];
}

/** Returns a sentence for what an operator can mend: credentials, region, permissions, network, size. Anything else is a defect and is thrown. */
function operationalFailure(error: unknown): string {
  if (error instanceof RecordTooLargeError) return error.message;
  if (error instanceof Error && (isOfAws(error) || isStoreOutage(error)))
    return `AWS: ${error.message || error.name}`;
  throw error;
}

function isOfAws(error: Error): boolean {
  return (
    '$metadata' in error ||
    ('code' in error && error.code === 'ECONNREFUSED') ||
    ['CredentialsProviderError', 'TimeoutError'].includes(error.name) ||
    error.message === 'Region is missing'
  );
}

const runtime: ReleaseRuntime = {
  readFile: (path) => readFile(path, 'utf8'),
  openTable,
  print: (line) => {
    console.log(line);
  },
  warn: (line) => {
    console.error(line);
  },
};

if (import.meta.main) {
  const command = program(
    'npm run release --',
    'Checks a selection policy, a scale calibration or an analysis policy and releases it. A released record never changes (docs/records.md). Stores service profiles, which change (docs/deploy.md).',
  ).addHelpText(
    'after',
    examples(
      'npm run release -- policy kc-gaps-v5.json --dry-run',
      'npm run release -- policy kc-gaps-v5.json --calibration fractions-2026-01.json --dry-run',
      'npm run release -- calibration fractions-2026-01.json --stage staging',
      'npm run release -- analysis-policy revision-thresholds-3.json --stage staging',
      'npm run release -- deprecate policy kc-gaps-v4 --at 2026-09-01T00:00:00Z --stage staging',
      'npm run release -- block fractions-2026-01 --why "key of item 7" --stage staging',
      'npm run release -- profile --tenant north-school --stage staging',
    ),
  );
  /** A subcommand with the options that all of them take. */
  const subcommand = (name: string, description: string) =>
    command
      .command(name)
      .description(description)
      .option('--stage <STAGE>', 'the stage to write to; local: the stack that npm start runs', stageName)
      .option(
        '--table <NAME>',
        'the records table to write to; default: RECORDS_TABLE of the environment',
        text,
      )
      .option(...profileOption, text);
  const dryRun = 'only checks the file and writes nothing; looks up only a calibration that is given by id';
  const toStageOrTable = (options: Readonly<Record<string, unknown>>): readonly string[] =>
    [options['stage'], options['table'], options['dryRun'], process.env['RECORDS_TABLE']].every(
      (given) => given === undefined,
    )
      ? [DESTINATION]
      : [];
  const explained = (
    work: Promise<Result<undefined, string | UsageError>>,
  ): Promise<Result<undefined, string | UsageError>> =>
    work.catch((error: unknown) => err(operationalFailure(error)));

  subcommand('policy', 'Release a selection policy')
    .argument('<FILE>')
    .option(
      '--calibration <ID|FILE>',
      'also checks that the items of this calibration can meet the policy; a file name ends in .json',
      text,
    )
    .option(
      '--exposure-table <FILE>',
      'item parameters of exposure control sympson_hetter, released with the policy: a table of npm run recovery, or {"QTI identifier": probability, …}',
      text,
    )
    .option('--dry-run', dryRun)
    .action(exits((file, options) => explained(releaseFile(runtime, 'policy', file, options))));
  for (const [kind, description] of [
    ['calibration', 'Release a scale calibration'],
    ['analysis-policy', 'Release an analysis policy'],
  ] as const) {
    subcommand(kind, description)
      .argument('<FILE>')
      .option('--dry-run', dryRun)
      .action(exits((file, options) => explained(releaseFile(runtime, kind, file, options))));
  }
  subcommand(
    'deprecate',
    'Deprecate a released record: its responses then have the headers Deprecation and Sunset',
  )
    .addArgument(new Argument('<KIND>').choices(kinds))
    .argument('<ID>')
    .requiredOption('--at <INSTANT>', 'when the record is deprecated, past or future (required)', instant)
    .option('--sunset <INSTANT>', 'when the record is withdrawn, not before --at', instant)
    .option('--tenant <TENANT>', 'the tenant of a tenant record; default: a system record', text)
    .action(exits((kind, id, options) => explained(deprecate(runtime, kind, id, options))));

  const blocking = (name: string, description: string) =>
    subcommand(name, description)
      .argument('<ID>')
      .addOption(
        new Option('--kind <KIND>', 'needed if a policy and a calibration have this id').choices(blockable),
      )
      .option('--tenant <TENANT>', 'the tenant of a tenant record; default: a system record', text);
  blocking('block', 'Stop every use of a policy or calibration that turned out to be wrong')
    .requiredOption('--why <TEXT>', 'the reason, which only operators read (required)', text)
    .action(exits((id, options) => explained(block(runtime, id, options, new Date()))));
  blocking('unblock', 'Lift the block of a policy or calibration').action(
    exits((id, options) => explained(block(runtime, id, options, new Date()))),
  );

  for (const each of command.commands) needs(each, toStageOrTable);
  command
    .command('profile')
    .description(
      'Store the service profile of a tenant, as Systems Manager has it, where the functions read it',
    )
    .requiredOption('--stage <STAGE>', 'the stage; local: the stack that npm start runs', stageName)
    .option('--tenant <TENANT>', 'the tenant', text)
    .option('--all', 'every tenant with parameters')
    .option('--remove', 'remove the profile of --tenant, and its parameters')
    .option(...profileOption, text)
    .action(exits((options) => explained(releaseProfiles(options))));
  await run(command);
}

function instant(value: string): string {
  if (parseInstant(value) === undefined)
    throw new InvalidArgumentError('It must be an instant such as 2026-09-01T00:00:00Z.');
  return value;
}
