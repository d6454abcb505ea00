import type { Route } from '#shared/contract/route.ts';
import { problem } from '#shared/problems/registry.ts';
import type { Principal } from '../operation.ts';
import { Refusal } from '../refusal.ts';
import type { FactReader, Stage } from './stage.ts';

export interface ScopeOptions {
  readonly route: Pick<Route, 'service' | 'scope'>;
  readonly principalOf: FactReader<Pick<Principal, 'scopes'>>;
}

/** 403 for a caller without the route's scope; scopes are compared whole [MA-150, MA-158]. */
export function scope({ route, principalOf }: ScopeOptions): Stage {
  return {
    before: ({ context }) => {
      if (principalOf(context).scopes.includes(route.scope)) return;
      throw new Refusal(
        route.service === 'mastery'
          ? problem('mastery', 'insufficient-scope', 403)
          : problem('reports', 'authorization-denied', 403),
      );
    },
  };
}
