import type { Context } from 'aws-lambda';
import type { Route, ServiceName } from '#shared/contract/route.ts';
import type { Idempotency } from '#shared/idempotency/idempotency.ts';
import type { KeyedRequest } from '#shared/idempotency/keyed-request.ts';
import { canonicalPath } from '#shared/idempotency/request-identity.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { problem } from '#shared/problems/registry.ts';
import type { Exchange } from '../exchange.ts';
import { once } from '../once.ts';
import type { Control, OperationRequest, Principal } from '../operation.ts';
import { Refusal } from '../refusal.ts';
import type { CheckedRequest } from '../syntax/read-request.ts';
import { createFact, httpAnswer } from './stage.ts';
import type { FactReader, Stage } from './stage.ts';

export interface IdempotencyOptions {
  readonly route: Route;
  /** Runs once per binding. */
  readonly bind: () => Idempotency | Promise<Idempotency>;
  readonly exchangeOf: FactReader<Exchange>;
  readonly principalOf: FactReader<Pick<Principal, 'tenantId'>>;
  readonly requestOf: FactReader<CheckedRequest>;
}

export interface IdempotencyStage extends Stage {
  /** `idempotent` of the operation's request. */
  readonly idempotentOf: FactReader<OperationRequest['idempotent']>;
  /**
   * The operation that a problem belongs to, on the service that names it: from the moment when its work has begun, in whichever request of
   * its key that was [RP-330]. A repetition that is not allowed to see the resource gets the one 404, which says nothing of an operation.
   */
  readonly operationIdOf: (context: Context, problem: Problem) => string | undefined;
}

/** A request under its key. */
interface KeyedWork {
  readonly keyed: KeyedRequest;
  /** Set once the work has begun. */
  control?: Control;
  begun: boolean;
}

/**
 * How long a run of the work is taken to be alive. Nearly all are done long before; one that is not may run beside the one that took over,
 * since upstream writes are deterministic. It bounds how long a retry waits for a function that crashed.
 */
const LONGEST_LEASE_MS = 10_000;
/** The least time that a request which waited for another one keeps for its own work. */
const LEAST_WORK_MS = 2_000;
/** What one upstream call of a route's budget counts for. */
const CALL_MS = 400;

/**
 * 409 for a key that stands for another request, before any upstream work [MA-191, RP-332]. Later it runs the operation's work under the
 * key's control record, and marks the answer of a repetition where the route says so: one of a request that had succeeded, not one that
 * does the work for the first time [RP-287].
 */
export function idempotency({
  route,
  bind,
  exchangeOf,
  principalOf,
  requestOf,
}: IdempotencyOptions): IdempotencyStage {
  const works = createFact<KeyedWork>('idempotency');
  const bound = once(bind);
  return {
    before: async ({ context }) => {
      const { idempotencyKey, ifMatch, body, sentBody, pathTexts } = requestOf(context);
      if (idempotencyKey === undefined) return;
      const find = await bound();
      const keyed = await find({
        tenantId: principalOf(context).tenantId,
        method: route.method,
        canonicalPath: canonicalPath(route.path, pathTexts),
        idempotencyKey,
        ifMatch,
        body,
        sentBody,
      });
      works.set(context, { keyed, begun: false });
      if (keyed.reusedBy !== undefined) throw new Refusal(reusedKey(route.service, keyed.reusedBy));
    },
    after: ({ context, response }) => {
      if (works.find(context)?.control?.completed !== true) return;
      if (!route.success.headers.includes('Idempotent-Replayed')) return;
      httpAnswer(response).headers['Idempotent-Replayed'] = 'true';
    },
    idempotentOf: (context) => async (run) => {
      const work = works.find(context);
      if (work === undefined || work.begun) throw misused();
      work.begun = true;
      const { deadline, receivedAt, endsAt, log } = exchangeOf(context);
      return work.keyed.run(
        (control) => {
          work.control = control;
          return run(control);
        },
        {
          successStatus: route.success.status,
          waitUntil: deadline - workTime(route, deadline - receivedAt),
          leaseUntil: Math.min(endsAt, receivedAt + LONGEST_LEASE_MS),
          conflict: (operationId) => reusedKey(route.service, operationId),
          log,
        },
      );
    },
    operationIdOf: (context, { service, status }) => {
      if (service !== 'reports') return undefined;
      const work = works.find(context);
      return work?.control?.operationId ?? (status === 404 ? undefined : work?.keyed.begun);
    },
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

/** What a request keeps of its time for its own work: the route's budget, but at most half of it. */
function workTime({ budget }: Route, total: number): number {
  return Math.min(Math.max(LEAST_WORK_MS, budget.depth * CALL_MS), total / 2);
}
