import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { Route } from '#shared/contract/route.ts';
import type { Log } from '#shared/observability/logger.ts';
import type { Exchange } from '../exchange.ts';
import { Refusal } from '../refusal.ts';
import { readRequest } from '../syntax/read-request.ts';
import type { CheckedRequest } from '../syntax/read-request.ts';
import { createFact } from './stage.ts';
import type { FactReader, Stage } from './stage.ts';

export interface SyntaxOptions {
  readonly route: Route;
  readonly exchangeOf: FactReader<Pick<Exchange, 'log'>>;
}

export interface SyntaxStage extends Stage {
  /** The parts of the request, checked against the route's row. */
  readonly requestOf: FactReader<CheckedRequest>;
}

/** 400 and 413 for a request that the route's row does not allow. */
export function syntax({ route, exchangeOf }: SyntaxOptions): SyntaxStage {
  const requests = createFact<CheckedRequest>('syntax');
  return {
    requestOf: requests.of,
    before: ({ event, context }) => {
      requests.set(context, checkSyntax(route, event, exchangeOf(context).log));
    },
  };
}

/** The checked request of an event. Throws a Refusal, and logs its reasons. */
export function checkSyntax(route: Route, event: APIGatewayProxyEvent, log: Log): CheckedRequest {
  const request = readRequest(route, event);
  if (request.ok) return request.value;
  const reasons = new Set(request.error.invalidParams?.map(({ reason }) => reason));
  log('REQUEST_REFUSED', { reasons: [...reasons] });
  throw new Refusal(request.error);
}
