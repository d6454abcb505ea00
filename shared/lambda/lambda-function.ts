import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context, StreamifyHandler } from 'aws-lambda';
import type { Pipeline } from '#shared/http/base-middleware.ts';
import { sendAnswer } from './answer-stream.ts';
import type { Runtime } from '#shared/runtime/runtime.ts';

/** A function that returns its response as a whole. */
export type BufferedFunction = (
  event: APIGatewayProxyEvent,
  context: Context,
) => Promise<APIGatewayProxyResult>;

/** A function that writes its response into the stream that the runtime passes to it. */
export type StreamedFunction = StreamifyHandler<APIGatewayProxyEvent, void>;

/** A function in the form that its route's transfer requires. */
export type LambdaFunction = BufferedFunction | StreamedFunction;

/** The time reserved to end a stream that the caller does not read before Lambda ends the function. */
const LAST_MS = 250;

/** Wraps a pipeline as a handler that returns its response as a whole. */
export function bufferedFunction(pipeline: Pipeline): BufferedFunction {
  return async (event, context) => {
    const { statusCode, headers, body } = await pipeline(event, context);
    if (typeof body !== 'string') throw new TypeError('the response must be streamed');
    return { statusCode, headers, body, isBase64Encoded: false };
  };
}

/** Wraps a pipeline as a handler that writes its response into the runtime's stream. */
export function streamedFunction(pipeline: Pipeline, { sleep }: Pick<Runtime, 'sleep'>): StreamedFunction {
  return awslambda.streamifyResponse<APIGatewayProxyEvent>(async (event, stream, context) => {
    const answer = await pipeline(event, context);
    await sendAnswer(answer, stream, context.getRemainingTimeInMillis() - LAST_MS, sleep);
  });
}
