import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import type { PipelineAnswer } from '../answers.ts';
import type { OperationAnswer } from '../operation.ts';

/** What goes up the ladder: what the operation returned, until the response check has made an HTTP answer of it. */
export type LadderAnswer = PipelineAnswer | OperationAnswer;

/** What Middy hands to a stage, as far as stages use it. */
export interface StageRequest {
  readonly event: APIGatewayProxyEvent;
  readonly context: Context;
  response: LadderAnswer | null | undefined;
  readonly error: unknown;
}

type Hook = (request: StageRequest) => Promise<void> | void;

/**
 * One stage of the ladder: a Middy middleware object. `before` lets the request pass or throws a Refusal; `after` and `onError` run in reverse
 * order. None returns a value: Middy would skip all other stages. What a stage establishes about a request, it writes into its exchange.
 */
export interface Stage {
  readonly before?: Hook;
  readonly after?: Hook;
  readonly onError?: Hook;
}

/** The HTTP answer on its way out. Throws on what no stage has checked: it must not leave the function. */
export function httpAnswer(response: LadderAnswer | null | undefined): PipelineAnswer {
  if (response === undefined || response === null || !('statusCode' in response))
    throw new TypeError('the response has not been checked');
  return response;
}
