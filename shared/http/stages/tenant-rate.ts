import type { Route } from '#shared/contract/route.ts';
import { problem } from '#shared/problems/registry.ts';
import { established, exchangeOf } from '../exchange.ts';
import { Refusal } from '../refusal.ts';
import type { TenantRate } from '../tenant-rate.ts';
import type { Stage } from './stage.ts';

/**
 * Returns 429 for a tenant that has used up its requests. The first stage begins to count, the second waits for the result: the reads of the stages
 * between them go on meanwhile. Before any work, so that the same request succeeds later as if it were new.
 * @param bind returns the same each time
 */
export function tenantRate(
  { service }: Pick<Route, 'service'>,
  bind: () => Promise<TenantRate>,
): readonly [count: Stage, admit: Stage] {
  const refuseUntil = (retryAfterSeconds: number): never => {
    throw new Refusal(problem(service, 'rate-limited', 429, { retryAfterSeconds }));
  };
  return [
    {
      before: async ({ context }) => {
        const exchange = exchangeOf(context);
        const rate = await bind();
        const found = rate(established(exchange.principal, 'token').tenantId, exchange.log);
        if (typeof found === 'number') refuseUntil(found);
        else exchange.waitSeconds = found;
      },
    },
    {
      before: async ({ context }) => {
        const wait = await exchangeOf(context).waitSeconds;
        if (wait !== undefined) refuseUntil(wait);
      },
    },
  ];
}
