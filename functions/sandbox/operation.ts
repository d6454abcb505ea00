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
import { manifest, type Fixture } from './manifest.ts';

/**
 * The sandbox: answers of the manifest in the outer stages of every function, and nothing else of the ladder. No token is looked at, nobody is
 * asked, nothing is kept; of the process it takes the clock, random ids and a place for its log, and it needs no variable.
 */
export function createSandbox(runtime: BaseRuntime): Pipeline {
  // oxlint-disable-next-line typescript/require-await -- a throw becomes a rejection
  return baseMiddleware({ ...serveSandbox, transfer: 'buffered' }, runtime, async (event, context) =>
    answer(exchangeOf(context), event),
  );
}

function answer(exchange: Exchange, event: APIGatewayProxyEvent): PipelineAnswer {
  const { requestId, traceId } = exchange;
  const found = fixtureOf(event);
  if (found === undefined) throw new Refusal(problem('reports', 'not-found', 404));
  const body = found.answer(queryOf(found, event, exchange), { requestId, traceId });
  return checkResponse(found.route, { body }, exchange);
}

/** The one fixture of this method and path, if there is one: what cannot be decoded names none. */
function fixtureOf({ httpMethod, resource, pathParameters }: APIGatewayProxyEvent): Fixture | undefined {
  const { values } = readPath(pathParameters);
  return manifest.find(
    ({ route, path }) =>
      route.method === httpMethod &&
      route.path === resource &&
      Object.entries(path).every(([name, id]) => Object.hasOwn(values, name) && values[name] === id),
  );
}

/**
 * What is asked of a known resource is held to its route's row, as in production: 400 for everything that is not a request of it. Of a
 * materialization nothing is looked at: each is the one operation.
 */
function queryOf(
  { route }: Fixture,
  event: APIGatewayProxyEvent,
  { log }: Exchange,
): Readonly<Record<string, unknown>> {
  return route.method === 'POST' ? {} : checkSyntax(route, event, log).query;
}
