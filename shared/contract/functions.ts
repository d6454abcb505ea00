import { backgroundFunctions, type BackgroundFunction } from './background.ts';
import type { Route, ServiceName } from './route.ts';
import { routes } from './routes.ts';
import { serveSandbox } from './sandbox.ts';

/** What is bundled and deployed as one Lambda function. */
export type DeployedFunction = Route | BackgroundFunction;

/** Every function of every service: bundles, stacks and alarms read this list. */
export const deployedFunctions: readonly DeployedFunction[] = [
  ...routes,
  ...backgroundFunctions,
  serveSandbox,
];

/** What each stack has beside its functions: it calls a new version of one of them before callers do. */
export const versionCheck = {
  operationId: 'checkVersion',
  handler: 'functions/deployment/check-version/handler.ts',
} as const;

/** Every function that is bundled. */
export const bundledFunctions: readonly Pick<DeployedFunction, 'operationId' | 'handler'>[] = [
  ...deployedFunctions,
  versionCheck,
];

/** Whether a function serves a route of its service's API. */
export function isRoute(row: DeployedFunction): row is Route {
  return !('trigger' in row);
}

/** What functions are deployed together: those of one service, and the sandbox, which shares nothing with any of them. */
export type DeploymentName = ServiceName | 'sandbox';

/** What a function is deployed with. */
export function deploymentOf(row: DeployedFunction): DeploymentName {
  return !isRoute(row) && row.trigger === 'sandbox' ? 'sandbox' : row.service;
}
