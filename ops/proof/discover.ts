import { randomUUID } from 'node:crypto';
import type { Route, ServiceName } from '#shared/contract/route.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { Outcome } from './check.ts';
import { describeReply, refusalFindings } from './replies.ts';
import { titleOf } from './suite.ts';
import type { Ask, Reply, Target } from './target.ts';
import { tellApart } from './tell-apart.ts';

/** A route of the service, and whether this deployment has it. */
export interface FoundRoute {
  readonly route: Route;
  readonly open: boolean;
  readonly outcome: Outcome;
}

/**
 * Which routes a deployment has. A closed route and a hidden resource are both a 404; they are told apart by who asks: where a route is open,
 * somebody without a token is refused as such, and where it is closed, everybody gets what an unknown path gets, byte for byte [RP-016].
 * @returns err: why nothing can be proved there at all
 */
export async function discoverRoutes(
  target: Target,
  service: ServiceName,
  routes: readonly Route[],
  token: string,
): Promise<Result<readonly FoundRoute[], string>> {
  const unknown = await target.get(`/v1/proof-${randomUUID()}`);
  if (unknown.status === 0) return err(`${target.url} cannot be reached: ${unknown.text}`);
  const [strange] = refusalFindings(service, 'hidden', unknown);
  if (strange !== undefined)
    return err(
      `${target.url} does not answer like the ${service} service: for an unknown path it ${strange}. Its address is the base URL, without /v1`,
    );
  const found: FoundRoute[] = [];
  for (const route of routes) {
    const ask = askOf(route);
    const anonymous = await target.send(ask, {});
    if (anonymous.status === 0) return err(`${target.url} cannot be reached any more: ${anonymous.text}`);
    found.push(await judge(target, ask, anonymous, unknown, token));
  }
  if (found.some(({ open }) => open)) return ok(found);
  return err(
    `no route of the ${service} service is open at ${target.url}: all ${found.length} of them are as unknown as any other path`,
  );
}

async function judge(
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
            findings: [`nobody is answered ${describeReply(service, anonymous)} in place of 401`],
          };
    return { route, open: true, outcome };
  }
  const known = await target.send(ask, { token });
  const differences = [...tellApart(anonymous, unknown), ...tellApart(known, unknown)];
  if (differences.length === 0) {
    // The engine's routes wait for no gate [MA-016].
    const outcome: Outcome =
      service === 'mastery'
        ? {
            result: 'failed',
            findings: [`${titleOf(ask)} is not there, and every route of the engine has to be`],
          }
        : { result: 'not_open', why: 'answers like an unknown path, with and without a token' };
    return { route, open: false, outcome };
  }
  return {
    route,
    open: true,
    outcome: {
      result: 'failed',
      findings: [
        'nobody is answered 404 in place of 401, and yet it is no unknown path',
        ...differences.map((difference) => `to an unknown path: ${difference}`),
      ],
    },
  };
}

/** A request that reaches the route and names nothing. */
function askOf(route: Route): Ask {
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');
  const path = Object.fromEntries(
    names.map((name) => [name, name === 'grade' ? '05' : `proof-${randomUUID()}`]),
  );
  return { route, path, ...(route.request.body === undefined ? {} : { body: {} }) };
}
