import { CfnOutput, Stack, type App } from 'aws-cdk-lib';
import { CfnSecret } from 'aws-cdk-lib/aws-secretsmanager';
import { sandboxRoutes, serveSandbox } from '#shared/contract/sandbox.ts';
import { SANDBOX_HOST_OUTPUT } from '#shared/stage/stack-names.ts';
import { SITE_REGION } from '#shared/stage/stage.ts';
import type { Stage } from '#shared/stage/stages.ts';
import { acknowledge } from '../constructs/acknowledge.ts';
import { restApi } from '../constructs/rest-api.ts';
import { rollout } from '../constructs/rollout.ts';
import { distributionSecret, stackProps } from '../names.ts';

/**
 * Creates the synthetic sandbox: one function without any grant, and its own REST API. It refers to no other stack, so that it cannot reach any data
 * of a tenant, and is the same whether or not gates are open [RP-033]. Its API serves only what comes through the site's distribution.
 * @param assets the folder of the bundles
 */
export function sandbox(app: App, stage: Stage, assets: string): Stack {
  const stack = new Stack(app, 'Sandbox', {
    ...stackProps(stage, 'sandbox'),
    description: 'Mastery reports: the synthetic sandbox of the reports service',
  });
  const live = rollout(stack, stage, 'sandbox', [serveSandbox], assets);
  const built = live(serveSandbox, undefined);
  const secret = originSecret(stack, stage);
  const { host } = restApi(
    stack,
    stage,
    'sandbox',
    Object.values(sandboxRoutes).map((route) => ({ operation: route, function: built })),
  );
  // The firewall names the secret without a reference to it.
  stack.node.findChild('WebAcl').node.addDependency(secret);
  new CfnOutput(stack, SANDBOX_HOST_OUTPUT, {
    value: host,
    description: 'The host of the API, which the site’s distribution alone may call',
  });
  return stack;
}

/** Creates the secret that the site's distribution sends, also in the region of the site. */
function originSecret(stack: Stack, stage: Stage): CfnSecret {
  const { environment } = stage.config;
  const secret = new CfnSecret(stack, 'DistributionSecret', {
    name: distributionSecret(stage).name,
    description: `By it the sandbox of ${stage.name} knows the distribution of the documentation site`,
    generateSecretString: { passwordLength: 64, excludePunctuation: true },
    ...(environment !== 'agnostic' &&
      environment.region !== SITE_REGION && { replicaRegions: [{ region: SITE_REGION }] }),
  });
  acknowledge(secret, {
    'AwsSolutions-SMG4':
      'It opens public, synthetic data to a caller who avoids the limit per address. A rotation would take two deployments; the page on deployments has the way.',
  });
  return secret;
}
