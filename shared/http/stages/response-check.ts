import type { Route } from '#shared/contract/route.ts';
import { checkResponse } from '../check-response.ts';
import { established, exchangeOf } from '../exchange.ts';
import type { Stage } from './stage.ts';

/**
 * Turns the operation's response into an HTTP response that fulfils the route's contract, or into a 500 [MA-224]. It is the last stage, so its hook
 * runs first and the other stages see only checked responses.
 */
export function responseCheck(route: Route): Stage {
  return {
    after: (request) => {
      const exchange = exchangeOf(request.context);
      request.response = checkResponse(route, established(exchange.answer, 'operation'), exchange);
    },
  };
}
