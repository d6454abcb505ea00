import type { Context } from 'aws-lambda';
import { versionCheck } from '#shared/contract/functions.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { describeError } from '#shared/observability/describe-error.ts';
import { createFunctionLog } from '#shared/observability/logger.ts';
import { openVersionCheckClients } from '#shared/stores/version-check-clients.ts';

/** What CodeDeploy sends to a lifecycle hook. */
interface LifecycleEvent {
  readonly DeploymentId: string;
  readonly LifecycleEventHookExecutionId: string;
}

/**
 * The event for a new version: a request without a token, and a batch without messages. The function loads, reads its variables, and its pipeline
 * rejects the event before anything is read or written. Functions on a schedule treat any event as their schedule's: they may run at any time.
 */
const harmlessEvent = {
  resource: '/',
  path: '/',
  httpMethod: 'GET',
  headers: {},
  multiValueHeaders: {},
  queryStringParameters: null,
  multiValueQueryStringParameters: null,
  pathParameters: null,
  stageVariables: null,
  requestContext: { requestId: 'version-check', httpMethod: 'GET', path: '/', resourcePath: '/' },
  body: null,
  isBase64Encoded: false,
  Records: [],
};

/** A rollback must never wait for the version that it leaves. */
const rollbacks: ReadonlySet<string | undefined> = new Set(['codeDeployRollback', 'CloudFormationRollback']);

const openLog = createFunctionLog(
  { service: 'deployment', operationId: versionCheck.operationId },
  processRuntime(),
);

/**
 * Calls the new version of a deployment before callers reach it, and reports whether it responds. A version that cannot be loaded, runs out of time
 * or memory, or returns 5xx fails its deployment; a deployment also fails if this function cannot find out. A deployment group is named after its
 * function.
 */
export async function handler(
  { DeploymentId: deploymentId, LifecycleEventHookExecutionId }: LifecycleEvent,
  context: Pick<Context, 'awsRequestId'>,
): Promise<void> {
  const log = openLog(context);
  const fault = await faultOf(deploymentId).catch(
    (error: unknown) => `the check failed: ${describeError(error).error}`,
  );
  if (fault === undefined) log('VERSION_ACCEPTED', { deployment: deploymentId });
  else log('VERSION_REJECTED', { deployment: deploymentId, reason: fault });
  await openVersionCheckClients().codeDeploy.putLifecycleEventHookExecutionStatus({
    deploymentId,
    lifecycleEventHookExecutionId: LifecycleEventHookExecutionId,
    status: fault === undefined ? 'Succeeded' : 'Failed',
  });
}

/** Returns what is wrong with the version that a deployment brings; undefined if nothing is. */
async function faultOf(deploymentId: string): Promise<string | undefined> {
  const { codeDeploy, lambda } = openVersionCheckClients();
  const { deploymentInfo = {} } = await codeDeploy.getDeployment({ deploymentId });
  const { applicationName, creator, deploymentGroupName = '', revision } = deploymentInfo;
  if (rollbacks.has(creator)) return undefined;
  // The revision of a deployment comes without its content.
  const found = await codeDeploy.getApplicationRevision({ applicationName, revision });
  // oxlint-disable-next-line typescript/no-deprecated -- CloudFormation's deployments may still have this form
  const { content = '' } = found.revision?.string ?? found.revision?.appSpecContent ?? {};
  // An AppSpec is JSON or YAML.
  const [, number] = /TargetVersion['"]?\s*:\s*['"]?(\d+)/.exec(content) ?? [];
  if (number === undefined) return 'the revision names no version';
  const version = `${deploymentGroupName}:${number}`;
  const { FunctionError, Payload } = await lambda.invoke({
    FunctionName: version,
    Payload: JSON.stringify(harmlessEvent),
  });
  if (FunctionError !== undefined) return `${version}: ${FunctionError}`;
  const [, status] = /^\{"statusCode":(5\d\d)\b/.exec(new TextDecoder().decode(Payload)) ?? [];
  return status === undefined ? undefined : `${version}: status ${status}`;
}
