import type { Route } from '#shared/contract/route.ts';
import { checkResponse } from '../check-response.ts';
import { established, exchangeOf } from '../exchange.ts';
import type { Stage } from './stage.ts';

/**
 * Makes of what the operation has answered an HTTP answer that keeps the route's contract, or a 500 [MA-224]. The last stage of a ladder: its
 * hook comes first, so that the others see checked answers alone.
 */
export function responseCheck(route: Route): Stage {
  return {
    after: (request) => {
      const exchange = exchangeOf(request.context);
      request.response = checkResponse(route, established(exchange.answer, 'operation'), exchange);
    },
  };
}
