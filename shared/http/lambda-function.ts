import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context, StreamifyHandler } from 'aws-lambda';
import type { Route } from '#shared/contract/route.ts';
import { sendAnswer } from './answer-stream.ts';
import type { CheckedBody } from './checked-body.ts';
import type { Pipeline } from './frame.ts';

/** A function that returns its answer as a whole. */
export type BufferedFunction = (
  event: APIGatewayProxyEvent,
  context: Context,
) => Promise<APIGatewayProxyResult>;

/** A function that writes its answer into the stream that the runtime hands to it. */
export type StreamedFunction = StreamifyHandler<APIGatewayProxyEvent, void>;

/** Time that is kept to end a stream that nobody reads before Lambda ends the function. */
const LAST_MS = 250;

/** A pipeline as the handler that Lambda calls, in the form that its route's transfer asks for. */
export function lambdaFunction(
  route: Route,
  pipeline: Pipeline<CheckedBody>,
): BufferedFunction | StreamedFunction {
  return route.success.transfer === 'stream' ? streamedFunction(pipeline) : bufferedFunction(pipeline);
}

/** A pipeline as a handler that returns its answer as a whole. */
export function bufferedFunction(pipeline: Pipeline<CheckedBody>): BufferedFunction {
  return async (event, context) => {
    const { statusCode, headers, body } = await pipeline(event, context);
    return {
      statusCode,
      headers,
      body: typeof body === 'string' ? body : body.text(),
      isBase64Encoded: false,
    };
  };
}

/** A pipeline as a handler that writes its answer into the runtime's stream. */
export function streamedFunction(pipeline: Pipeline): StreamedFunction {
  return awslambda.streamifyResponse<APIGatewayProxyEvent>(async (event, stream, context) => {
    const answer = await pipeline(event, context);
    await sendAnswer(answer, stream, context.getRemainingTimeInMillis() - LAST_MS);
  });
}
