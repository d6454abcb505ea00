import { createRequire } from 'node:module';
import type * as codeDeploySdk from '@aws-sdk/client-codedeploy';
import type * as lambdaSdk from '@aws-sdk/client-lambda';

/** Opens the SDK clients that Lambda's runtime contains: for four calls per deployment the bundle needs none of its own. */
export function openVersionCheckClients(): {
  readonly codeDeploy: codeDeploySdk.CodeDeploy;
  readonly lambda: lambdaSdk.Lambda;
} {
  const load = createRequire(import.meta.url);
  // SAFETY: the runtime's packages have these classes.
  const { CodeDeploy } = load('@aws-sdk/client-codedeploy') as typeof codeDeploySdk;
  const { Lambda } = load('@aws-sdk/client-lambda') as typeof lambdaSdk;
  return { codeDeploy: new CodeDeploy(), lambda: new Lambda() };
}
