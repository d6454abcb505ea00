import { CfnOutput, Stack, type App } from 'aws-cdk-lib';
import { sandboxRoutes, serveSandbox } from '#shared/contract/sandbox.ts';
import { restApi } from '../constructs/rest-api.ts';
import { rollout } from '../constructs/rollout.ts';
import type { Stage } from '#shared/stage/stages.ts';
import { stackProps } from '../names.ts';

/**
 * The outputs with the sandbox's address. Host and path have outputs of their own, because CloudFormation does not support `Fn::Split` and
 * `Fn::Select` of an output that another stack reads.
 */
export const sandboxOutputs = { url: 'BaseUrl', host: 'Host', path: 'Path' } as const;

/**
 * Creates the synthetic sandbox: one function without any grant, and its own REST API. It refers to no other stack, so that it cannot reach any data
 * of a tenant, and is the same whether or not gates are open [RP-033].
 * @param assets the folder of the bundles
 */
export function sandbox(app: App, stage: Stage, assets: string): Stack {
  const stack = new Stack(app, 'Sandbox', {
    ...stackProps(stage, 'sandbox'),
    description: 'Mastery reports: the synthetic sandbox of the reports service',
  });
  const live = rollout(stack, stage, 'sandbox', [serveSandbox], assets);
  const built = live(serveSandbox, undefined);
  const { url, host, path } = restApi(
    stack,
    stage,
    'sandbox',
    Object.values(sandboxRoutes).map((route) => ({ operation: route, function: built })),
  );
  new CfnOutput(stack, sandboxOutputs.url, {
    value: url,
    description: 'The {sandbox_url} of the API document: routes follow as /v1/…',
  });
  new CfnOutput(stack, sandboxOutputs.host, { value: host, description: 'The host of that address' });
  new CfnOutput(stack, sandboxOutputs.path, { value: path, description: 'The path of that address' });
  return stack;
}
