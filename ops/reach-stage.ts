import { InvalidArgumentError } from '@commander-js/extra-typings';
import { stageNamed } from '#shared/stage/stages.ts';
import { awsEnvironment, localStage, localTableName } from '#shared/stage/local-stage.ts';
import { describeNoStack, findRunningStack, localFiles } from '#shared/stage/description.ts';
import { dynamo } from '#shared/stores/clients.ts';
import { findDeployedTables } from '#shared/stores/deployed-table.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { StackDescription } from '#shared/stage/description.ts';

/** Reads `--stage`: a known stage or `local`. Checked before any call to AWS. */
export function stageName(value: string): string {
  const known = value === localStage ? ok(value) : stageNamed(value);
  if (!known.ok) throw new InvalidArgumentError(`${known.error}.`);
  return value;
}

/** Lets every client of this process talk to the local stack of this folder, and describes it; no client may have been made before. */
export async function enterLocalStack(): Promise<Result<StackDescription, string>> {
  const stack = await findRunningStack(localFiles(process.cwd()).stack);
  if (!stack.ok) return err(`${describeNoStack(stack.error)}, or choose a deployment with --stage`);
  Object.assign(process.env, awsEnvironment(stack.value.awsUrl));
  return stack;
}

/** The name of a stage's settings table: the one that is given, else the only one of the stage in the caller's account and region. */
export async function settingsTable(
  stage: string,
  given: string | undefined,
): Promise<Result<string, string>> {
  if (given !== undefined) return ok(given);
  if (stage === localStage) return ok(localTableName('settings'));
  const [found, another] = await findDeployedTables(dynamo(), stage, 'settings');
  if (found !== undefined && another === undefined) return ok(found);
  return err(
    found === undefined
      ? `no settings table of stage ${stage} in this account and region: deploy the stage first, or use its credentials`
      : `several settings tables of stage ${stage}: choose one with --table`,
  );
}
