import type { Route } from '#shared/contract/route.ts';
import { deploymentOutage, problem } from '#shared/problems/registry.ts';
import { createKeySet, type KeySet } from '../auth/key-set.ts';
import { verifyToken, type TokenRules } from '../auth/verify-token.ts';
import { readEnvironment, variablesOf } from '../environment.ts';
import { exchangeOf, type PipelineRuntime } from '../exchange.ts';
import { once } from '../once.ts';
import { Refusal } from '../refusal.ts';
import { headerValues } from '../syntax/headers.ts';
import type { Stage } from './stage.ts';

/** Returns 401 for a caller that cannot be authenticated, the same for every reason; an unreachable key set is an outage. */
export function token(route: Route, { environment, fetch, now, sleep, prepare }: PipelineRuntime): Stage {
  const bind = once((): { readonly rules: TokenRules; readonly keySet: KeySet } => {
    const variables = readEnvironment([...variablesOf(route)], environment);
    return {
      rules: {
        issuer: variables.TOKEN_ISSUER,
        audience: variables.TOKEN_AUDIENCE,
        algorithms: variables.TOKEN_ALGORITHMS.split(','),
        issuedAtRequired: route.service === 'reports',
      },
      keySet: createKeySet({
        url: variables.TOKEN_JWKS_URL,
        fetch,
        now,
        sleep,
        prepare,
        outage: deploymentOutage(route.service, 'platform_auth.read_key_set'),
      }),
    };
  });
  prepare?.(bind);
  return {
    before: async ({ context }) => {
      const { rules, keySet } = await bind();
      const exchange = exchangeOf(context);
      const { headers, log } = exchange;
      const verified = await verifyToken(headerValues(headers, 'authorization'), rules, { keySet, now, log });
      if (verified.ok) {
        exchange.principal = verified.value;
        return;
      }
      log('TOKEN_REFUSED', { reason: verified.error });
      throw new Refusal(problem(route.service, 'authentication-required', 401));
    },
  };
}
