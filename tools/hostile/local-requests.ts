import { addressOf, headersOf } from '#local/call/curl.ts';
import { exampleRequest } from '#local/call/example-request.ts';
import type { Stack } from '#local/stack/stack.ts';
import { routes } from '#shared/contract/routes.ts';
import { startRuns, tenantsOf } from '../foreign/stack.ts';
import type { Aim } from './cases.ts';

/** Returns a request of the first tenant of the local stack for every route, which the stack serves. */
export async function localRequests(stack: Stack): Promise<readonly Aim[]> {
  const [tenant] = await tenantsOf(stack);
  if (tenant === undefined) throw new Error('the local stack has no tenant');
  const saved = await startRuns(stack, tenant, 'hostile');
  return routes.map((route) => {
    const request = exampleRequest(route, tenant.fixtures, saved);
    const address = new URL(addressOf(request, stack.urls));
    const base = {
      ...{ operationId: route.operationId, method: route.method, body: request.body },
      ...{ target: `${address.pathname}${address.search}`, host: address.host },
      headers: {
        Authorization: `Bearer ${tenant.token}`,
        ...headersOf(request, `hostile-${route.operationId}`),
      },
    };
    return { address, base };
  });
}
