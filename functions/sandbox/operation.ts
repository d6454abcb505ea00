import type { APIGatewayProxyEvent } from 'aws-lambda';
import { serveSandbox } from '#shared/contract/sandbox.ts';
import type { PipelineAnswer } from '#shared/http/answers.ts';
import { checkResponse } from '#shared/http/check-response.ts';
import { exchangeOf, type BaseRuntime, type Exchange } from '#shared/http/exchange.ts';
import { baseMiddleware, type Pipeline } from '#shared/http/base-middleware.ts';
import { Refusal } from '#shared/http/refusal.ts';
import { checkSyntax } from '#shared/http/stages/syntax.ts';
import { readPath } from '#shared/http/syntax/parameters.ts';
import { problem } from '#shared/problems/registry.ts';
import { manifest } from './manifest.ts';

/**
 * Creates the sandbox: responses of the manifest in the outer stages of every function, and no other stage. It checks no token, calls no owner and
 * stores nothing. From the process it uses only the clock, random ids and a place for its log; it needs no variable.
 */
export function createSandbox(runtime: BaseRuntime): Pipeline {
  // oxlint-disable-next-line typescript/require-await -- a throw becomes a rejection
  return baseMiddleware({ ...serveSandbox, transfer: 'buffered' }, runtime, async (event, context) =>
    answer(exchangeOf(context), event),
  );
}

function answer(exchange: Exchange, event: APIGatewayProxyEvent): PipelineAnswer {
  const { requestId, traceId } = exchange;
  const { values } = readPath(event.pathParameters);
  // There is at most one of this method and path: none for a path that cannot be decoded.
  const found = manifest.find(
    ({ route: { method, path: template }, path }) =>
      method === event.httpMethod &&
      template === event.resource &&
      Object.entries(path).every(([name, id]) => Object.hasOwn(values, name) && values[name] === id),
  );
  if (found === undefined) throw new Refusal(problem('reports', 'not-found', 404));
  const { route } = found;
  // As in production, 400 for anything that is not a request of the route. A materialization is not checked: each is the one operation.
  const query = route.method === 'POST' ? {} : checkSyntax(route, event, exchange.log).query;
  return checkResponse(route, { body: found.answer(query, { requestId, traceId }) }, exchange);
}
