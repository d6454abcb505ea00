import type { Context } from 'aws-lambda';
import type { VersionCheckCalls } from '#shared/stores/version-check-calls.ts';
import { versionCheck } from '#shared/contract/functions.ts';
import { describeError } from '#shared/observability/describe-error.ts';
import { createFunctionLog, type LogPorts } from '#shared/observability/logger.ts';

/** What CodeDeploy sends to a lifecycle hook. */
export interface LifecycleEvent {
  readonly DeploymentId: string;
  readonly LifecycleEventHookExecutionId: string;
}

export type VersionCheckFunction = (
  event: LifecycleEvent,
  context: Pick<Context, 'awsRequestId'>,
) => Promise<void>;

/**
 * What a new version is called with: a request without a token, and a batch without messages. It loads the function, reads its variables and passes
 * through its pipeline, which rejects it before anything is read or written. Functions on a schedule take any event for their schedule's; they may
 * run at any time.
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

/** A deployment that goes back must never wait for the version that it leaves. */
const rollbacks: ReadonlySet<string | undefined> = new Set(['codeDeployRollback', 'CloudFormationRollback']);

/**
 * Calls the new version of a deployment before callers reach it, and reports whether it responds. A version that cannot be loaded, runs out of time
 * or memory, or returns 5xx fails its deployment; so does anything that keeps this function from finding out.
 * A deployment group has the name of its function.
 */
export function createVersionCheck(calls: () => VersionCheckCalls, ports: LogPorts): VersionCheckFunction {
  const openLog = createFunctionLog({ service: 'deployment', operationId: versionCheck.operationId }, ports);

  async function faultOf({ DeploymentId }: LifecycleEvent): Promise<string | undefined> {
    const deployment = await calls().readDeployment(DeploymentId);
    if (rollbacks.has(deployment.creator)) return undefined;
    const number = await calls().readTargetVersion(deployment);
    if (number === undefined) return 'the revision names no version';
    const version = `${deployment.deploymentGroupName ?? ''}:${number}`;
    const { functionError, payload } = await calls().invoke(version, JSON.stringify(harmlessEvent));
    if (functionError !== undefined) return `${version}: ${functionError}`;
    const [, status] = /^\{"statusCode":(5\d\d)\b/.exec(payload) ?? [];
    return status === undefined ? undefined : `${version}: status ${status}`;
  }

  return async (event, context) => {
    const log = openLog(context);
    const fault = await faultOf(event).catch(
      (error: unknown) => `the check failed: ${describeError(error).error}`,
    );
    if (fault === undefined) log('VERSION_ACCEPTED', { deployment: event.DeploymentId });
    else log('VERSION_REJECTED', { deployment: event.DeploymentId, reason: fault });
    await calls().report(event, fault === undefined ? 'Succeeded' : 'Failed');
  };
}
