import { CfnOutput, Stack, type App } from 'aws-cdk-lib';
import { sandboxRoutes, serveSandbox } from '#shared/contract/sandbox.ts';
import { restApi } from '../constructs/rest-api.ts';
import { rollout } from '../constructs/rollout.ts';
import type { Stage } from '#shared/stage/stages.ts';
import { stackProps } from '../names.ts';

/** The output that holds the sandbox's address. */
export const SANDBOX_URL_OUTPUT = 'BaseUrl';

/**
 * The synthetic sandbox: one function without any grant, and a REST API of its own before it. It refers to nothing of another stack, so
 * that nothing of a tenant is in its reach, and is the same whatever the gates [RP-033].
 * @param assets the folder of the bundles
 */
export function sandbox(app: App, stage: Stage, assets: string): Stack {
  const stack = new Stack(app, 'Sandbox', {
    ...stackProps(stage, 'sandbox'),
    description: 'Mastery reports: the synthetic sandbox of the reports service',
  });
  const live = rollout(stack, stage, 'sandbox', [serveSandbox], assets);
  const built = live(serveSandbox, undefined);
  const url = restApi(
    stack,
    stage,
    'sandbox',
    Object.values(sandboxRoutes).map((route) => ({ operation: route, function: built })),
  );
  new CfnOutput(stack, SANDBOX_URL_OUTPUT, {
    value: url,
    description: 'The {sandbox_url} of the API document: routes follow as /v1/…',
  });
  return stack;
}
