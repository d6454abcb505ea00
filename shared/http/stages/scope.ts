import type { Route } from '#shared/contract/route.ts';
import { problem } from '#shared/problems/registry.ts';
import { established, exchangeOf } from '../exchange.ts';
import { Refusal } from '../refusal.ts';
import type { Stage } from './stage.ts';

/** Returns 403 for a caller without the route's scope; scopes are compared as a whole [MA-150, MA-158]. */
export function scope({ service, scope: needed }: Pick<Route, 'service' | 'scope'>): Stage {
  return {
    before: ({ context }) => {
      if (established(exchangeOf(context).principal, 'token').scopes.includes(needed)) return;
      throw new Refusal(
        service === 'mastery'
          ? problem('mastery', 'insufficient-scope', 403)
          : problem('reports', 'authorization-denied', 403),
      );
    },
  };
}
