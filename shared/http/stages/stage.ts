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

/**
 * One stage of the ladder: a Middy middleware object. `before` lets the request pass or throws a Refusal; `after` and `onError` run in reverse
 * order. None returns a value: Middy would skip all other stages.
 */
export interface Stage {
  readonly before?: (request: StageRequest) => Promise<void> | void;
  readonly after?: (request: StageRequest) => Promise<void> | void;
  readonly onError?: (request: StageRequest) => Promise<void> | void;
}

/** Reads what a stage has established about the request of a Lambda context. */
export type FactReader<T> = (context: Context) => T;

/** What one stage establishes about each request: the stage keeps `set` to itself and offers `of` to the others. */
export interface Fact<T> {
  readonly set: (context: Context, value: T) => void;
  /** Throws when the stage has not run: a defect of the composition. */
  readonly of: FactReader<T>;
  /** Undefined when the stage has not established it. */
  readonly find: FactReader<T | undefined>;
}

/** @param stage whose fact it is, for the error */
export function createFact<T extends object>(stage: string): Fact<T> {
  const facts = new WeakMap<Context, T>();
  return {
    set: (context, value) => void facts.set(context, value),
    of: (context) => {
      const fact = facts.get(context);
      if (fact === undefined) throw new Error(`the stage "${stage}" has not run for this request`);
      return fact;
    },
    find: (context) => facts.get(context),
  };
}

/** The HTTP answer on its way out. Throws on what no stage has checked: it must not leave the function. */
export function httpAnswer(response: LadderAnswer | null | undefined): PipelineAnswer {
  if (response === undefined || response === null || !('statusCode' in response))
    throw new TypeError('the response has not been checked');
  return response;
}
