import { CfnParameter, Stack, type App } from 'aws-cdk-lib';
import { acknowledge } from './acknowledge.ts';

/**
 * Gives every template of the app a parameter whose default is not among its allowed values. CloudFormation rejects such a template, with
 * the reason in its message, whoever deploys it and with whichever command.
 */
export function makeUndeployable(app: App, reason: string): void {
  for (const stack of app.node.children.filter((child) => Stack.isStack(child))) {
    new CfnParameter(stack, 'NotDeployable', {
      type: 'String',
      default: reason,
      allowedValues: ['a synth of a filled-in stage from its own account'],
      description: 'This template is for reading only.',
    });
    acknowledge(stack, {
      'CloudFormation-Validate::F2012': 'CloudFormation must reject the template for exactly this.',
      'CloudFormation-Validate::W2001': 'Nothing reads the parameter: its default alone has an effect.',
    });
  }
}
