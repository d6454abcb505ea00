import type { StackProps } from 'aws-cdk-lib';
import { deployedFunctions, versionCheck } from '#shared/contract/functions.ts';
import type { DeployedFunction, DeploymentName } from '#shared/contract/functions.ts';
import { apiName as nameOfApi, stackName, stackRegion, type StackId } from '#shared/stage/stack-names.ts';
import type { Stage } from '#shared/stage/stages.ts';
import { SITE_REGION, type ApiName } from '#shared/stage/stage.ts';

/* Every physical name of a stage. Constructs, alarms and dashboards take names from here, so that code that looks up a resource finds it. */

/** Returns the first part of every physical name of a stage: two stages can share an account. The dashboard has only this part. */
export function prefix({ name }: Pick<Stage, 'name'>): string {
  return `mastery-reports-${name}`;
}

/** Returns name, place and tags of a stage's stack. */
export function stackProps(stage: Stage, id: StackId): StackProps {
  const { environment, production, terminationProtection = production ?? false } = stage.config;
  return {
    stackName: stackName(stage.name, id),
    ...(environment === 'agnostic'
      ? // Such a template is for reading: a deployment binds every stack to the account and region that it enters.
        id === 'documentation' && { env: { region: SITE_REGION } }
      : { env: { ...environment, region: stackRegion(id, environment.region) } }),
    terminationProtection,
    tags: { product: 'mastery-reports', stage: stage.name },
  };
}

/** The most characters that AWS accepts in the name of a function. These names have the least room among all names of a stage. */
const MAX_FUNCTION_NAME = 64;

/** Returns what is wrong with the name of a stage, if anything: it is a part of every physical name and the first of its parameters' paths. */
export function stageNameDefect(name: string): string | undefined {
  const [longest = ''] = deployedFunctions
    .map(({ operationId }) => operationId)
    .toSorted((a, b) => b.length - a.length);
  const room = MAX_FUNCTION_NAME - `mastery-reports--${longest}`.length;
  if (name.length > room)
    return `stage ${name}: the name has ${name.length} characters, expected at most ${room}: Lambda takes ${MAX_FUNCTION_NAME} for mastery-reports-<stage>-${longest}`;
  return /^(?!aws|ssm)[a-z][a-z0-9-]*$/.test(name)
    ? undefined
    : `stage ${name}: expected lower-case letters, digits and hyphens, beginning with a letter, and not with aws or ssm`;
}

/** The alias that every caller of a function calls. */
export const LIVE = 'live';

export function functionName(stage: Stage, { operationId }: Pick<DeployedFunction, 'operationId'>): string {
  return `${prefix(stage)}-${operationId}`;
}

/** Returns the name of the function that checks the new versions of a stack's functions. */
export function versionCheckName(stage: Stage, deployment: DeploymentName): string {
  return `${prefix(stage)}-${deployment}-${versionCheck.operationId}`;
}

/** Returns the name of an API, and of its firewall. */
export function apiName(stage: Stage, api: ApiName): string {
  return nameOfApi(stage.name, api);
}

/** Returns the name of the firewall of the site's distribution. */
export function siteName(stage: Stage): string {
  return `${prefix(stage)}-site`;
}

/** The header with which the site's distribution proves itself to the sandbox's firewall. */
export const DISTRIBUTION_HEADER = 'x-origin-verify';

/**
 * Returns the name of the secret in that header, and what a template has in its place: CloudFormation reads the secret when it deploys. It does not
 * notice another value under the same name, so to replace the secret, raise the number at the end of the name.
 */
export function distributionSecret(stage: Stage): { readonly name: string; readonly reference: string } {
  const name = `${prefix(stage)}-sandbox-distribution-1`;
  return { name, reference: `{{resolve:secretsmanager:${name}:SecretString}}` };
}

/** Returns the alias by which operators name the key of the stores: `npm run keys`, `aws ssm put-parameter --key-id`. */
export function keyAlias({ name }: Pick<Stage, 'name'>): string {
  return `alias/mastery-reports/${name}`;
}
