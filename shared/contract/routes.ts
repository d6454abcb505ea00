import { masteryRoutes } from './mastery/routes.ts';
import { reportsRoutes } from './reports/routes.ts';
import type { Route, ServiceName } from './route.ts';

/** Every route of every service: stacks, gateway, OpenAPI, sandbox, bundles and the test matrix read this list. */
export const routes: readonly Route[] = [...Object.values(masteryRoutes), ...Object.values(reportsRoutes)];

export type OperationId = keyof typeof masteryRoutes | keyof typeof reportsRoutes;

export function routesOf(service: ServiceName): readonly Route[] {
  return routes.filter((route) => route.service === service);
}
