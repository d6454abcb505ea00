import { randomUUID } from 'node:crypto';
import type { Route, ServiceName } from '#shared/contract/route.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { Outcome } from './check.ts';
import { describeReply, refusalFindings } from './replies.ts';
import { titleOf } from './suite.ts';
import type { Ask, Reply, Target } from './target.ts';
import { compareResponses } from './compare-responses.ts';

/** A route of the service, and whether this deployment has it. */
export interface FoundRoute {
  readonly route: Route;
  readonly open: boolean;
  readonly outcome: Outcome;
}

/**
 * Returns the routes that a deployment has. Closed routes and hidden resources both return 404. A request without a token distinguishes them: an open
 * route returns 401, a closed one the response of an unknown path, byte for byte [RP-016].
 * @returns err: why the deployment cannot be tested
 */
export async function discoverRoutes(
  target: Target,
  service: ServiceName,
  routes: readonly Route[],
  token: string,
): Promise<Result<readonly FoundRoute[], string>> {
  const unknown = await target.get(`/v1/proof-${randomUUID()}`);
  if (unknown.status === 0) return err(`cannot reach ${target.url}: ${unknown.text}`);
  const [strange] = refusalFindings(service, 'hidden', unknown);
  if (strange !== undefined)
    return err(
      `${target.url} is not the ${service} service (unknown path: ${strange}). Give the base URL, without /v1`,
    );
  const found: FoundRoute[] = [];
  for (const route of routes) {
    const ask = askOf(route);
    const anonymous = await target.send(ask, {});
    if (anonymous.status === 0) return err(`cannot reach ${target.url} any more: ${anonymous.text}`);
    found.push(await probe(target, ask, anonymous, unknown, token));
  }
  if (found.some(({ open }) => open)) return ok(found);
  return err(
    `no route of the ${service} service is open at ${target.url}: all ${found.length} return the response of an unknown path`,
  );
}

async function probe(
  target: Target,
  ask: Ask,
  anonymous: Reply,
  unknown: Reply,
  token: string,
): Promise<FoundRoute> {
  const { route } = ask;
  const { service } = route;
  if (anonymous.status !== 404) {
    const outcome: Outcome =
      anonymous.status === 401
        ? { result: 'passed' }
        : {
            result: 'failed',
            findings: [`returned ${describeReply(service, anonymous)} instead of 401 without a token`],
          };
    return { route, open: true, outcome };
  }
  const known = await target.send(ask, { token });
  const differences = [...compareResponses(anonymous, unknown), ...compareResponses(known, unknown)];
  if (differences.length === 0) {
    // The engine's routes need no gate [MA-016].
    const outcome: Outcome =
      service === 'mastery'
        ? {
            result: 'failed',
            findings: [`${titleOf(ask)} does not exist, but every route of the engine must`],
          }
        : { result: 'not_open', why: 'returns the response of an unknown path, with and without a token' };
    return { route, open: false, outcome };
  }
  return {
    route,
    open: true,
    outcome: {
      result: 'failed',
      findings: [
        'returned 404 instead of 401 without a token, but not the response of an unknown path',
        ...differences.map((difference) => `compared with an unknown path: ${difference}`),
      ],
    },
  };
}

/** Returns a request that reaches the route with random ids. */
function askOf(route: Route): Ask {
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');
  const path = Object.fromEntries(
    names.map((name) => [name, name === 'grade' ? '05' : `proof-${randomUUID()}`]),
  );
  return { route, path, ...(route.request.body === undefined ? {} : { body: {} }) };
}
