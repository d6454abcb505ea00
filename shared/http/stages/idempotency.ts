import type { Route, ServiceName } from '#shared/contract/route.ts';
import type { Idempotency, KeyedRequest } from '#shared/idempotency/idempotency.ts';
import { canonicalPath } from '#shared/idempotency/request-identity.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { problem } from '#shared/problems/registry.ts';
import { established, exchangeOf, type Exchange } from '../exchange.ts';
import type { OperationRequest } from '../operation.ts';
import { Refusal } from '../refusal.ts';
import type { Stage } from './stage.ts';

/** The least time that a request that waited for another one keeps for its own work. */
const LEAST_WORK_MS = 2_000;
/** The time that one upstream call of a route's budget counts for. */
const CALL_MS = 400;

/**
 * Returns 409 for a key that was used for another request, before any upstream work [MA-191, RP-332]. Later it runs the operation's work under the
 * key's idempotency record. It marks a repeated response if the route requires it: only if the first request had succeeded, not if this one does the
 * work for the first time [RP-287].
 * @param bind returns the same each time
 */
export function idempotency(route: Route, bind: () => Promise<Idempotency>): Stage {
  return {
    before: async ({ context }) => {
      const exchange = exchangeOf(context);
      const { idempotencyKey, ifMatch, body, sentBody, pathTexts } = established(exchange.request, 'syntax');
      if (idempotencyKey === undefined) return;
      const find = await bind();
      const keyed = await find({
        tenantId: established(exchange.principal, 'token').tenantId,
        method: route.method,
        canonicalPath: canonicalPath(route.path, pathTexts),
        idempotencyKey,
        ifMatch,
        body,
        sentBody,
      });
      exchange.startedOperation = keyed.startedOperation;
      if (keyed.reusedBy !== undefined) throw new Refusal(reusedKey(route.service, keyed.reusedBy));
      exchange.idempotent = runOnce(route, keyed, exchange);
    },
    after: ({ context, response }) => {
      if (exchangeOf(context).control?.completed !== true) return;
      if (!route.success.headers.includes('Idempotent-Replayed')) return;
      response.headers['Idempotent-Replayed'] = 'true';
    },
  };
}

function runOnce(route: Route, keyed: KeyedRequest, exchange: Exchange): OperationRequest['idempotent'] {
  const { deadline, receivedAt, endsAt, log } = exchange;
  let isStarted = false;
  return async (work) => {
    if (isStarted) throw misused();
    isStarted = true;
    return keyed.run(
      (control) => {
        exchange.control = control;
        return work(control);
      },
      {
        successStatus: route.success.status,
        waitUntil: deadline - workTime(route, deadline - receivedAt),
        deadline,
        endsAt,
        conflict: (operationId) => reusedKey(route.service, operationId),
        log,
      },
    );
  };
}

/** `idempotent` on a route without an Idempotency-Key. */
export const notIdempotent: OperationRequest['idempotent'] = () => Promise.reject(misused());

function misused(): TypeError {
  return new TypeError('idempotent is for one call per request, on routes with an Idempotency-Key');
}

function reusedKey(service: ServiceName, operationId: string): Problem {
  return service === 'mastery'
    ? problem('mastery', 'idempotency-key-reused', 409)
    : problem('reports', 'idempotency-conflict', 409, { operationId });
}

/** Returns the part of its time that a request keeps for its own work: the route's budget, but at most half of it. */
function workTime({ budget }: Route, total: number): number {
  return Math.min(Math.max(LEAST_WORK_MS, budget.depth * CALL_MS), total / 2);
}
