import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context, StreamifyHandler } from 'aws-lambda';
import type { Pipeline } from '#shared/http/base-middleware.ts';
import { sendAnswer } from './answer-stream.ts';
import type { Runtime } from '#shared/runtime/runtime.ts';

/** A function that returns its answer as a whole. */
export type BufferedFunction = (
  event: APIGatewayProxyEvent,
  context: Context,
) => Promise<APIGatewayProxyResult>;

/** A function that writes its answer into the stream that the runtime hands to it. */
export type StreamedFunction = StreamifyHandler<APIGatewayProxyEvent, void>;

/** A function in the form that its route's transfer asks for. */
export type LambdaFunction = BufferedFunction | StreamedFunction;

/** Time that is kept to end a stream that nobody reads before Lambda ends the function. */
const LAST_MS = 250;

/** A pipeline as a handler that returns its answer as a whole. */
export function bufferedFunction(pipeline: Pipeline): BufferedFunction {
  return async (event, context) => {
    const { statusCode, headers, body } = await pipeline(event, context);
    if (typeof body !== 'string') throw new TypeError('the answer is one to be streamed');
    return { statusCode, headers, body, isBase64Encoded: false };
  };
}

/** A pipeline as a handler that writes its answer into the runtime's stream. */
export function streamedFunction(pipeline: Pipeline, { sleep }: Pick<Runtime, 'sleep'>): StreamedFunction {
  return awslambda.streamifyResponse<APIGatewayProxyEvent>(async (event, stream, context) => {
    const answer = await pipeline(event, context);
    await sendAnswer(answer, stream, context.getRemainingTimeInMillis() - LAST_MS, sleep);
  });
}
