import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import type { Provable } from '#shared/contract/gates.ts';
import type { Route } from '#shared/contract/route.ts';
import { problemKeysOf } from '#shared/contract/route-problems.ts';
import type { Exchange } from './exchange.ts';
import { once } from './once.ts';
import type { Operation, OperationAnswer, OperationRequest, Principal } from './operation.ts';
import { Refusal } from './refusal.ts';
import type { FactReader } from './stages/stage.ts';
import type { CheckedRequest } from './syntax/read-request.ts';

export interface OperateOptions<R extends Route> {
  readonly route: R;
  /** Runs once per binding, when its first request has passed every stage; a failure is not kept. */
  readonly bind: () => Operation<R> | Promise<Operation<R>>;
  readonly exchangeOf: FactReader<Exchange>;
  readonly principalOf: FactReader<Principal>;
  readonly requestOf: FactReader<CheckedRequest>;
  readonly provedOf: FactReader<ReadonlySet<Provable>>;
  readonly idempotentOf: FactReader<OperationRequest['idempotent']>;
}

/** The handler at the foot of the ladder: runs the operation with what the stages have established, and throws its problem as a Refusal. */
export function operate<R extends Route>({
  route,
  bind,
  exchangeOf,
  principalOf,
  requestOf,
  provedOf,
  idempotentOf,
}: OperateOptions<R>): (event: APIGatewayProxyEvent, context: Context) => Promise<OperationAnswer> {
  const bound = once(bind);
  return async (_event, context) => {
    const { requestId, traceId, problemsUrl, receivedAt, deadline, log } = exchangeOf(context);
    const { path, query, body, ifMatch } = requestOf(context);
    const operation = await bound();
    const outcome = await operation({
      requestId,
      traceId,
      problemsUrl,
      principal: principalOf(context),
      // SAFETY: these are the outputs of the same row's schemas, which the operation's types are made of.
      path: path as OperationRequest<R>['path'],
      query: query as OperationRequest<R>['query'],
      body: body as OperationRequest<R>['body'],
      ifMatch,
      proved: provedOf(context),
      receivedAt,
      deadline,
      log,
      idempotent: idempotentOf(context),
    });
    if (outcome.ok) return outcome.value;
    const { service, status, code } = outcome.error;
    if (service !== route.service) throw new TypeError('the operation returned a problem of another service');
    if (!problemKeysOf(route).includes(`${status} ${code}`))
      log('PROBLEM_UNDECLARED', { problem: `${status} ${code}` });
    throw new Refusal(outcome.error);
  };
}
