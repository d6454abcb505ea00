import type { App, Stack } from 'aws-cdk-lib';
import { deploymentOf, type DeployedFunction, type DeploymentName } from '#shared/contract/functions.ts';
import { serviceNames, type ServiceName } from '#shared/contract/route.ts';
import { isReleased, type ReleaseState } from '#shared/release/release-state.ts';
import type { Stage } from '#shared/stage/stages.ts';
import { makeUndeployable } from './constructs/undeployable.ts';
import { documentation } from './stacks/documentation.ts';
import { operations } from './stacks/operations.ts';
import { recordsAndKeys } from './stacks/records-and-keys.ts';
import { sandbox } from './stacks/sandbox.ts';
import { service } from './stacks/service.ts';

export interface DeploymentOptions {
  readonly stage: Stage;
  /** What is open; everything else is absent. */
  readonly release: ReleaseState;
  readonly functions: readonly DeployedFunction[];
  /** Why the templates must not be deployed; undefined: they come from the stage itself. */
  readonly undeployable: string | undefined;
  /** The folder with `<operationId>/index.mjs`. */
  readonly assets: string;
  /** The folder of the documentation site, rendered for this release. */
  readonly site: string;
}

export interface Deployment {
  readonly stores: Stack;
  /** A service has a stack whatever is open, so that its addresses stay. */
  readonly services: ReadonlyMap<ServiceName, Stack>;
  /** Undefined where its function is not among those of the stage. */
  readonly sandbox: Stack | undefined;
  readonly operations: Stack;
  readonly documentation: Stack;
}

/** Every stack of a stage. */
export function deployment(
  app: App,
  { stage, release, functions, assets, site: siteFolder, undeployable }: DeploymentOptions,
): Deployment {
  const open = functions.filter((row) => isReleased(row, release));
  const ofDeployment = (name: DeploymentName) => functions.filter((row) => deploymentOf(row) === name);
  const stores = recordsAndKeys(app, stage);
  const services = new Map<ServiceName, Stack>();
  for (const name of serviceNames) {
    const rows = ofDeployment(name);
    if (rows.length > 0) services.set(name, service(app, stage, name, { rows, release, stores, assets }));
  }
  const [row] = ofDeployment('sandbox');
  const synthetic = row && sandbox(app, stage, row, assets);
  const watching = operations(app, stage, open, stores);
  // An alarm that exists before its function has nothing to count, and silence raises the one of the sweeper.
  for (const watched of [...services.values(), ...(synthetic ? [synthetic] : [])])
    watching.addStackDependency(watched);
  const site = documentation(app, stage, siteFolder, synthetic);
  // It reads the address of the sandbox.
  if (synthetic) site.addStackDependency(synthetic);
  const deployed = {
    stores,
    services,
    sandbox: synthetic,
    operations: watching,
    documentation: site,
  };
  if (undeployable !== undefined) makeUndeployable(app, undeployable);
  return deployed;
}
