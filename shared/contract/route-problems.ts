import type { ProblemKey } from './problems.ts';
import type { Route, ServiceName } from './route.ts';

/** Problems that every route of a service can return, even if its row does not list them. */
const everywhere: { readonly [S in ServiceName]: readonly ProblemKey<S>[] } = {
  mastery: [
    '400 invalid-request',
    '401 authentication-required',
    '403 insufficient-scope',
    '404 resource-not-found',
    // The issuer's key set, like the service profile, is the upstream `platform_auth`.
    '424 upstream-unavailable',
    '429 rate-limited',
    '500 internal-error',
  ],
  reports: [
    '400 validation',
    '400 unsupported-parameter',
    '401 authentication-required',
    '403 authorization-denied',
    '404 not-found',
    '429 rate-limited',
    '500 internal-error',
    '503 dependency-incomplete',
    '503 dependency-unavailable',
  ],
};

const onReusedKey: { readonly [S in ServiceName]: ProblemKey<S> } = {
  mastery: '409 idempotency-key-reused',
  reports: '409 idempotency-conflict',
};

/** Returns every problem that a route may return, as keys of the problem registry, sorted by status. */
export function problemKeysOf(route: Route): readonly string[] {
  return [
    ...new Set<ProblemKey>([
      ...everywhere[route.service],
      ...(route.request.idempotencyKey ? [onReusedKey[route.service]] : []),
      ...(route.request.body === undefined ? [] : ['413 payload-too-large' as const]),
      ...(route.request.limit === undefined ? [] : [route.request.limit.problem]),
      ...route.problems,
    ]),
  ].sort();
}
