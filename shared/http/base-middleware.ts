import middy from '@middy/core';
import type { MiddyfiedHandler } from '@middy/core';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import type { AnswerBody, PipelineAnswer } from './answers.ts';
import type { BaseRuntime } from './exchange.ts';
import { correlation, isFinished } from './stages/correlation.ts';
import type { FunctionRow } from './stages/correlation.ts';
import { problemBoundary } from './stages/problem-boundary.ts';
import { securityHeaders } from './stages/security-headers.ts';
import { httpAnswer } from './stages/stage.ts';
import type { LadderAnswer } from './stages/stage.ts';

/** Answers one event of a REST API proxy integration. */
export type Pipeline<Body extends AnswerBody = AnswerBody> = (
  event: APIGatewayProxyEvent,
  context: Context,
) => Promise<PipelineAnswer<Body>>;

/** The ladder of a function, to which its own stages are added with `.use`. */
export type Ladder = MiddyfiedHandler<APIGatewayProxyEvent, LadderAnswer>;

/** An operation that hangs is ended while the function can still answer. */
const EARLY_END_MS = 750;

/**
 * The outer stages of every function that answers HTTP: correlation, security headers and problem boundary, which have the last word on every
 * answer. The function's own stages come after them.
 * @param handler throws a Refusal, or anything else, which is a 500
 */
export function baseMiddleware(
  row: FunctionRow,
  runtime: BaseRuntime,
  handler: (event: APIGatewayProxyEvent, context: Context) => Promise<LadderAnswer>,
): Ladder {
  return middy<APIGatewayProxyEvent, LadderAnswer>(handler, { timeoutEarlyInMillis: EARLY_END_MS })
    .use(correlation(row, runtime))
    .use(securityHeaders())
    .use(problemBoundary(row.service));
}

/** A ladder as a pipeline, whose answers have been checked. It rejects rather than let one out that a stage has sent past the others. */
export function pipelineOf<Body extends AnswerBody>(ladder: Ladder): Pipeline<Body> {
  return async (event, context) => {
    const answer = httpAnswer(await ladder(event, context));
    if (!isFinished(answer)) throw new TypeError('a stage has returned an answer, past all others');
    // SAFETY: a handler or its response check makes the bodies, of the one kind that its function sends.
    return answer as PipelineAnswer<Body>;
  };
}
