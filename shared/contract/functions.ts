import { backgroundFunctions, type BackgroundFunction } from './background.ts';
import type { Route, ServiceName } from './route.ts';
import { routes } from './routes.ts';
import { serveSandbox } from './sandbox.ts';

/** A unit that is bundled and deployed as one Lambda function. */
export type DeployedFunction = Route | BackgroundFunction;

/** Every function of every service: bundles, stacks and alarms read this list. */
export const deployedFunctions: readonly DeployedFunction[] = [
  ...routes,
  ...backgroundFunctions,
  serveSandbox,
];

/** A function of each stack that is in no list: it calls a new version of a function before callers do. */
export const versionCheck = {
  operationId: 'checkVersion',
  handler: 'functions/deployment/check-version/handler.ts',
} as const;

/** Every function that is bundled. */
export const bundledFunctions: readonly Pick<DeployedFunction, 'operationId' | 'handler'>[] = [
  ...deployedFunctions,
  versionCheck,
];

/** Returns whether a function serves a route of its service's API. */
export function isRoute(row: DeployedFunction): row is Route {
  return !('trigger' in row);
}

/** A group of functions that are deployed together: those of one service, or the sandbox, which shares nothing with the others. */
export type DeploymentName = ServiceName | 'sandbox';

/** Returns the group that a function is deployed with. */
export function deploymentOf(row: DeployedFunction): DeploymentName {
  return !isRoute(row) && row.trigger === 'sandbox' ? 'sandbox' : row.service;
}
