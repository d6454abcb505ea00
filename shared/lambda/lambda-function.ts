import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context, StreamifyHandler } from 'aws-lambda';
import type { DeployedFunction } from '#shared/contract/functions.ts';
import type { Pipeline } from '#shared/http/base-middleware.ts';
import { sendAnswer } from './answer-stream.ts';
import type { Runtime } from '#shared/runtime/runtime.ts';
import { checkable, type Checkable, type Proof, type VersionReport } from './version-check.ts';

/** A function that returns its response as a whole. */
export type BufferedFunction = (
  event: APIGatewayProxyEvent,
  context: Context,
) => Promise<APIGatewayProxyResult | VersionReport>;

/** A function that writes its response into the stream that the runtime passes to it. */
export type StreamedFunction = StreamifyHandler<APIGatewayProxyEvent, void>;

/** A function in the form that its route's transfer requires. */
export type LambdaFunction = BufferedFunction | StreamedFunction;

/** The time reserved to end a stream that the caller does not read before Lambda ends the function. */
const LAST_MS = 250;

/** A pipeline that also answers the check of new versions. */
type CheckablePipeline = Checkable<Pipeline>;

/** Tries what a function needs, for the check of its version. */
type Prove = (
  row: DeployedFunction,
  runtime: Runtime,
  tenantId: string | undefined,
) => Promise<readonly Proof[]>;

/** A request without a token, which every pipeline rejects before anything is read or written. */
const tokenless = {
  resource: '/',
  path: '/',
  httpMethod: 'GET',
  headers: {},
  multiValueHeaders: {},
  queryStringParameters: null,
  multiValueQueryStringParameters: null,
  pathParameters: null,
  stageVariables: null,
  requestContext: { requestId: 'version-check', httpMethod: 'GET', path: '/', resourcePath: '/' },
  body: null,
  isBase64Encoded: false,
};

/** Wraps a pipeline so that it answers the check of new versions: what it needs is tried, and it has to reject a request without a failure of its own. */
export function checkablePipeline(
  row: DeployedFunction,
  runtime: Runtime,
  prove: Prove,
  pipeline: Pipeline,
): CheckablePipeline {
  const reject = async (context: Context): Promise<Proof> => {
    // SAFETY: the members that a request without a token is asked for.
    const { statusCode } = await pipeline(tokenless as unknown as APIGatewayProxyEvent, context);
    // A withdrawn gate or an outage of the stores, which are tried by themselves, is a 503.
    return statusCode < 500 || statusCode === 503
      ? { of: 'pipeline' }
      : { of: 'pipeline', fault: 'broken', error: String(statusCode) };
  };
  return checkable(
    runtime,
    async (tenantId, context) => [...(await prove(row, runtime, tenantId)), await reject(context)],
    pipeline,
  );
}

/** Wraps a pipeline as a handler that returns its response as a whole. */
export function bufferedFunction(pipeline: CheckablePipeline): BufferedFunction {
  return async (event, context) => {
    const answer = await pipeline(event, context);
    if ('versionCheck' in answer) return answer;
    const { statusCode, headers, body } = answer;
    if (typeof body !== 'string') throw new TypeError('the response must be streamed');
    return { statusCode, headers, body, isBase64Encoded: false };
  };
}

/** Wraps a pipeline as a handler that writes its response into the runtime's stream. */
export function streamedFunction(
  pipeline: CheckablePipeline,
  { sleep }: Pick<Runtime, 'sleep'>,
): StreamedFunction {
  return awslambda.streamifyResponse<APIGatewayProxyEvent>(async (event, stream, context) => {
    const answer = await pipeline(event, context);
    if ('versionCheck' in answer) stream.end(JSON.stringify(answer));
    else await sendAnswer(answer, stream, context.getRemainingTimeInMillis() - LAST_MS, sleep);
  });
}
