import type { App, Stack } from 'aws-cdk-lib';
import type { Route, ServiceName } from '#shared/contract/route.ts';
import { isOpen, type OpenGates } from './gates.ts';
import type { Stage } from './stage-config/stages.ts';
import { operations } from './stacks/operations.ts';
import { recordsAndKeys } from './stacks/records-and-keys.ts';
import { service } from './stacks/service.ts';

export interface DeploymentOptions {
  readonly stage: Stage;
  readonly gates: OpenGates;
  readonly routes: readonly Route[];
  /** The folder with `<operationId>/index.mjs`. */
  readonly assets: string;
}

export interface Deployment {
  readonly stores: Stack;
  /** A service without an open route has no stack. */
  readonly services: ReadonlyMap<ServiceName, Stack>;
  readonly operations: Stack;
}

/** Every stack of a stage. */
export function deployment(app: App, { stage, gates, routes, assets }: DeploymentOptions): Deployment {
  const open = routes.filter((route) => isOpen(route, gates));
  const stores = recordsAndKeys(app, stage);
  const services = new Map<ServiceName, Stack>();
  for (const name of ['mastery', 'reports'] as const) {
    const ofService = open.filter((route) => route.service === name);
    if (ofService.length > 0) services.set(name, service(app, stage, name, ofService, stores, assets));
  }
  return { stores, services, operations: operations(app, stage, open, stores) };
}
