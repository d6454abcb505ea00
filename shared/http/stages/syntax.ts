import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { Route } from '#shared/contract/route.ts';
import type { Log } from '#shared/observability/logger.ts';
import { exchangeOf } from '../exchange.ts';
import { Refusal } from '../refusal.ts';
import { readRequest, type CheckedRequest } from '../syntax/read-request.ts';
import type { Stage } from './stage.ts';

/** Returns 400 or 413 for a request that the route's row does not allow. */
export function syntax(route: Route): Stage {
  return {
    before: ({ event, context }) => {
      const exchange = exchangeOf(context);
      exchange.request = checkSyntax(route, event, exchange.log);
    },
  };
}

/** Checks the request of an event. Throws a Refusal, and logs its reasons. */
export function checkSyntax(route: Route, event: APIGatewayProxyEvent, log: Log): CheckedRequest {
  const request = readRequest(route, event);
  if (request.ok) return request.value;
  const reasons = new Set(request.error.invalidParams?.map(({ reason }) => reason));
  log('REQUEST_REFUSED', { reasons: [...reasons] });
  throw new Refusal(request.error);
}
