import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import type { PipelineAnswer } from '../answers.ts';

/** What Middy hands to a stage, as far as stages use it. */
export interface StageRequest {
  readonly event: APIGatewayProxyEvent;
  readonly context: Context;
  /** What the hook that runs first has made: for `after` the response check, or else the handler, for `onError` the problem boundary. */
  response: PipelineAnswer;
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
