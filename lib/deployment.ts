import { CfnParameter, Stack, type App } from 'aws-cdk-lib';
import { deployedFunctions } from '#shared/contract/functions.ts';
import { isReleased } from '#shared/release/release-state.ts';
import type { Stage } from '#shared/stage/stages.ts';
import { acknowledge } from './constructs/acknowledge.ts';
import { documentation } from './stacks/documentation.ts';
import { operations } from './stacks/operations.ts';
import { recordsAndKeys } from './stacks/records-and-keys.ts';
import { sandbox } from './stacks/sandbox.ts';
import { service, type ServiceOptions } from './stacks/service.ts';

export interface DeploymentOptions extends Omit<ServiceOptions, 'stores'> {
  readonly stage: Stage;
  /** Why the templates must not be deployed; undefined if they come from the stage itself. */
  readonly undeployable: string | undefined;
  /** The folder of the documentation site, rendered for this release. */
  readonly site: string;
}

export function deployment(
  app: App,
  { stage, release, assets, site: siteFolder, undeployable }: DeploymentOptions,
): void {
  const open = deployedFunctions.filter((row) => isReleased(row, release));
  const stores = recordsAndKeys(app, stage);
  const mastery = service(app, stage, 'mastery', { release, stores, assets });
  const synthetic = sandbox(app, stage, assets);
  const site = documentation(app, stage, siteFolder);
  // The site reads the address of the sandbox, and its secret.
  site.addStackDependency(synthetic);
  const reports = service(app, stage, 'reports', { release, stores, assets });
  // The canary of the reports service calls the sandbox, through the site, and the mastery engine.
  reports.addStackDependency(mastery);
  // With a domain of its own the site has a known address, and an outage of its region stops no deployment of the service.
  if (stage.config.documentation === undefined) reports.addStackDependency(site);
  const watching = operations(app, stage, open, stores, [...release.open]);
  // An alarm without its function has nothing to count, and the sweeper's alarm goes off on silence.
  for (const watched of [mastery, reports, synthetic]) watching.addStackDependency(watched);
  if (undeployable !== undefined) makeUndeployable(app, undeployable);
}

/**
 * Gives every template of the app a parameter whose default is not among its allowed values. CloudFormation rejects such a template, with the reason
 * in its message, for any caller and any command.
 */
function makeUndeployable(app: App, reason: string): void {
  for (const stack of app.node.children.filter((child) => Stack.isStack(child))) {
    new CfnParameter(stack, 'NotDeployable', {
      type: 'String',
      default: reason,
      allowedValues: ['a synth of a filled-in stage from its own account'],
      description: 'This template is for reading only.',
    });
    acknowledge(stack, {
      'CloudFormation-Validate::F2012': 'CloudFormation must reject the template for exactly this.',
      'CloudFormation-Validate::W2001': 'Nothing reads the parameter: only its default has an effect.',
    });
  }
}
