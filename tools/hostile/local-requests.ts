import type { Stack } from '#local/stack/stack.ts';
import { routes } from '#shared/contract/routes.ts';
import { requestOf, startRuns, tenantsOf } from '../foreign/stack.ts';
import type { Aim } from './cases.ts';

/** Returns a request of the first tenant of the local stack for every route, which the stack serves. */
export async function localRequests(stack: Stack): Promise<readonly Aim[]> {
  const [tenant] = await tenantsOf(stack);
  if (tenant === undefined) throw new Error('the local stack has no tenant');
  const saved = await startRuns(stack, tenant, 'hostile');
  return routes.map((route) => {
    const key = `hostile-${route.operationId}`;
    const { address: url, missing: _, ...request } = requestOf(stack, route, tenant, saved, key);
    const address = new URL(url);
    const target = `${address.pathname}${address.search}`;
    return {
      address,
      base: { operationId: route.operationId, body: undefined, ...request, target, host: address.host },
    };
  });
}
