import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import type { PipelineAnswer } from '../answers.ts';

/** The part of Middy's request that stages use. */
export interface StageRequest {
  readonly event: APIGatewayProxyEvent;
  readonly context: Context;
  /** The response of the hook that runs first: for `after` the response check, or else the handler; for `onError` the problem boundary. */
  response: PipelineAnswer;
  readonly error: unknown;
}

type Hook = (request: StageRequest) => Promise<void> | void;

/**
 * One stage of the pipeline: a Middy middleware object. `before` lets the request pass or throws a Refusal; `after` and `onError` run in reverse
 * order. None returns a value: Middy would skip all other stages. A stage writes what it establishes about a request into its exchange.
 */
export interface Stage {
  readonly before?: Hook;
  readonly after?: Hook;
  readonly onError?: Hook;
}
