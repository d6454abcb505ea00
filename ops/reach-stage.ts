import { InvalidArgumentError } from '@commander-js/extra-typings';
import { enterStage } from '#shared/stage/access.ts';
import { stageNamed } from '#shared/stage/stages.ts';
import { awsEnvironment, localStage, localTableName } from '#shared/stage/local-stage.ts';
import { findRunningStack, localFiles, type StackDescription } from '#shared/stage/description.ts';
import { dynamo } from '#shared/stores/clients.ts';
import { findDeployedTables } from '#shared/stores/deployed-table.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { ManifestTrust } from '#shared/release/manifest.ts';

/** Reads `--stage`: a known stage or `local`. Checked before any call to AWS. */
export function stageName(value: string): string {
  const known = value === localStage ? ok(value) : stageNamed(value);
  if (!known.ok) throw new InvalidArgumentError(`${known.error}.`);
  return value;
}

/** Lets every client of this process talk to the local stack of this folder, and describes it; no client may have been made before. */
export async function enterLocalStack(): Promise<Result<StackDescription, string>> {
  const stack = await findRunningStack(localFiles(process.cwd()).stack);
  if (!stack.ok) return err(`${stack.error}, or choose a deployment with --stage`);
  Object.assign(process.env, awsEnvironment(stack.value.awsUrl));
  return stack;
}

/** Lets every client of this process talk to a stage: the local stack, or a deployment through its one door. */
export async function reachStage(
  stage: string,
  profile: string | undefined,
): Promise<Result<undefined, string>> {
  if (stage === localStage) {
    const stack = await enterLocalStack();
    return stack.ok ? ok(undefined) : stack;
  }
  const known = stageNamed(stage);
  if (!known.ok) return known;
  const entered = await enterStage(known.value, profile);
  return entered.ok ? ok(undefined) : entered;
}

/** Finds the key whose signature under a manifest a stage trusts; the local stage trusts the key that its stack was started with. */
export async function releaseKeyOf(stage: string): Promise<Result<ManifestTrust['key'], string>> {
  if (stage === localStage) {
    const stack = await enterLocalStack();
    return stack.ok ? ok(stack.value.releaseKey) : err(`${stack.error}, or give the trusted key with --key`);
  }
  const known = stageNamed(stage);
  return known.ok ? ok({ ...known.value.config.releaseKey }) : known;
}

/** Returns the name of a stage's table: the one that is given, else the only one of the stage in its account and region. */
export async function deployedTable(
  stage: string,
  table: 'records' | 'settings',
  given: string | undefined,
): Promise<Result<string, string>> {
  if (given !== undefined) return ok(given);
  if (stage === localStage) return ok(localTableName(table));
  const [only, ...others] = await findDeployedTables(dynamo(), stage, table);
  if (only === undefined)
    return err(`no ${table} table of stage ${stage} in this account and region: deploy the stage first`);
  return others.length === 0
    ? ok(only)
    : err(
        `several ${table} tables of stage ${stage}: choose one with --table: ${[only, ...others].join(', ')}`,
      );
}
