import type { Context } from 'aws-lambda';
import { versionCheck } from '#shared/contract/functions.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { describeError } from '#shared/observability/describe-error.ts';
import { createFunctionLog } from '#shared/observability/logger.ts';
import type { Runtime } from '#shared/runtime/runtime.ts';
import { openVersionCheckClients } from '#shared/stores/version-check-clients.ts';
import { checkDeployment, type Verdict } from './check-deployment.ts';

/** What CodeDeploy sends to a lifecycle hook. */
interface LifecycleEvent {
  readonly DeploymentId: string;
  readonly LifecycleEventHookExecutionId: string;
}

type VersionChecker = (event: LifecycleEvent, context: Pick<Context, 'awsRequestId'>) => Promise<void>;

/**
 * Checks the new version of a deployment before callers reach it, and reports to CodeDeploy whether it works, bound to a runtime. A deployment also fails
 * if this function cannot find out.
 */
export function bind(runtime: Runtime): VersionChecker {
  const openLog = createFunctionLog(
    { service: 'deployment', operationId: versionCheck.operationId },
    runtime,
  );
  return async ({ DeploymentId: deploymentId, LifecycleEventHookExecutionId }, context) => {
    const log = openLog(context);
    const clients = openVersionCheckClients();
    const { kind, reason } = await checkDeployment(deploymentId, clients, runtime).catch(
      (error: unknown): Verdict => ({
        kind: 'broken',
        reason: `the check failed: ${describeError(error).error}`,
      }),
    );
    const fields = { deployment: deploymentId, reason: reason?.slice(0, 200) };
    if (kind === 'works') log('VERSION_ACCEPTED', fields);
    else if (kind === 'broken') log('VERSION_REJECTED', fields);
    else log('VERSION_UNPROVED', fields);
    await clients.codeDeploy.putLifecycleEventHookExecutionStatus({
      deploymentId,
      lifecycleEventHookExecutionId: LifecycleEventHookExecutionId,
      status: kind === 'broken' ? 'Failed' : 'Succeeded',
    });
  };
}

export const handler = bind(processRuntime());
