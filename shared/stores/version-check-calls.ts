import { createRequire } from 'node:module';

/** A deployment, as far as CodeDeploy describes it: its group, what began it, and where its revision is. */
export interface Deployment {
  readonly applicationName?: string;
  readonly deploymentGroupName?: string;
  readonly creator?: string;
  readonly revision?: object;
}

/** What the check of a new version asks of CodeDeploy and Lambda. Each throws what AWS throws. */
export interface VersionCheckCalls {
  readonly readDeployment: (id: string) => Promise<Deployment>;
  /** The number of the version that a deployment brings; undefined where its revision names none. */
  readonly readTargetVersion: (deployment: Deployment) => Promise<string | undefined>;
  /** Calls a version, `<function>:<number>`. `functionError`: it threw, ran out of time or could not be loaded. */
  readonly invoke: (
    version: string,
    event: string,
  ) => Promise<{ readonly functionError: string | undefined; readonly payload: string }>;
  readonly report: (
    hook: { readonly DeploymentId: string; readonly LifecycleEventHookExecutionId: string },
    status: 'Succeeded' | 'Failed',
  ) => Promise<void>;
}

/** One of the SDK's clients, as far as the calls need it. */
interface Client<Answer> {
  readonly send: (command: object) => Promise<Answer>;
}
type Command = new (input: object) => object;

interface CodeDeploySdk {
  readonly CodeDeployClient: new () => Client<{
    readonly deploymentInfo?: Deployment;
    readonly revision?: Readonly<Partial<Record<'string' | 'appSpecContent', { readonly content?: string }>>>;
  }>;
  readonly GetDeploymentCommand: Command;
  readonly GetApplicationRevisionCommand: Command;
  readonly PutLifecycleEventHookExecutionStatusCommand: Command;
}

interface LambdaSdk {
  readonly LambdaClient: new () => Client<{
    readonly FunctionError?: string;
    readonly Payload?: Uint8Array;
  }>;
  readonly InvokeCommand: Command;
}

/** The calls through the SDK that Lambda's runtime contains: four calls per deployment need no clients of their own in the bundle. */
export function openVersionCheckCalls(): VersionCheckCalls {
  const load = createRequire(import.meta.url);
  // SAFETY: the runtime's packages have these classes.
  const deploy = load('@aws-sdk/client-codedeploy') as CodeDeploySdk;
  const lambda = load('@aws-sdk/client-lambda') as LambdaSdk;
  const deployments = new deploy.CodeDeployClient();
  const functions = new lambda.LambdaClient();
  return {
    async readDeployment(deploymentId) {
      const { deploymentInfo } = await deployments.send(new deploy.GetDeploymentCommand({ deploymentId }));
      return deploymentInfo ?? {};
    },
    async readTargetVersion({ applicationName, revision }) {
      // The revision of a deployment comes without its content.
      const found = await deployments.send(
        new deploy.GetApplicationRevisionCommand({ applicationName, revision }),
      );
      const { content = '' } = found.revision?.string ?? found.revision?.appSpecContent ?? {};
      // An AppSpec is JSON or YAML.
      return /TargetVersion['"]?\s*:\s*['"]?(\d+)/.exec(content)?.[1];
    },
    async invoke(version, event) {
      const { FunctionError, Payload } = await functions.send(
        new lambda.InvokeCommand({ FunctionName: version, Payload: event }),
      );
      return { functionError: FunctionError, payload: new TextDecoder().decode(Payload) };
    },
    async report({ DeploymentId, LifecycleEventHookExecutionId }, status) {
      await deployments.send(
        new deploy.PutLifecycleEventHookExecutionStatusCommand({
          deploymentId: DeploymentId,
          lifecycleEventHookExecutionId: LifecycleEventHookExecutionId,
          status,
        }),
      );
    },
  };
}
