import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import type { Context } from 'aws-lambda';
import type { FromEnvironment, Invocation, ToEnvironment } from './environment.ts';
import { isStreaming, ResponseStream, runStreaming } from './response-stream.ts';

/** Callback handlers do not exist on this runtime, and so neither do the context's callbacks. */
type AsyncContext = Omit<Context, 'done' | 'fail' | 'succeed'>;

export type InvokedHandler = (event: unknown, context: AsyncContext) => Promise<unknown>;

const MAX_ANSWER_BYTES = 6 * 1024 * 1024;

/**
 * The inside of one execution environment: answers one invocation after the other.
 * @param send takes what goes out; the chunks of a stream may be transferred
 * @returns takes what comes in
 */
export function serveInvocations(
  handler: InvokedHandler,
  { functionName, memoryMb }: { readonly functionName: string; readonly memoryMb: number },
  send: (message: FromEnvironment) => void,
): (message: ToEnvironment) => void {
  /** The stream of the invocation under way, and what to call when the chunk that was sent last has been taken. */
  let streaming: { readonly id: number; readonly stream: ResponseStream; taken: () => void } | undefined;

  async function answer({ id, event, requestId, deadline }: Invocation): Promise<void> {
    const context: AsyncContext = {
      callbackWaitsForEmptyEventLoop: true,
      functionName,
      functionVersion: '$LATEST',
      invokedFunctionArn: `arn:aws:lambda:local:000000000000:function:${functionName}`,
      memoryLimitInMB: String(memoryMb),
      awsRequestId: requestId,
      logGroupName: `/aws/lambda/${functionName}`,
      logStreamName: 'local',
      getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
    };
    process.env['_X_AMZN_TRACE_ID'] = traceHeader();
    try {
      if (isStreaming<AsyncContext>(handler)) {
        await runStreaming(handler, event, openStream(id), context);
        send({ kind: 'ended', id });
        return;
      }
      const value = await handler(event, context);
      // What leaves a function is JSON of at most 6 MB; anything else fails here as it does in Lambda.
      // SAFETY: the declared type omits that undefined has no JSON.
      const json = JSON.stringify(value) as string | undefined;
      if (json !== undefined && Buffer.byteLength(json) > MAX_ANSWER_BYTES)
        throw new Error('the answer exceeds 6 MB');
      send({ kind: 'answer', id, json });
    } catch (error) {
      send({ kind: 'output', text: `${inspect(error)}\n` });
      send({ kind: 'threw', id, message: error instanceof Error ? error.message : String(error) });
    }
  }

  /** One chunk is on its way at a time: the stream fills up, and the function waits, while it is not read. */
  function openStream(id: number): ResponseStream {
    const stream = new ResponseStream(
      (bytes) =>
        new Promise((resolve) => {
          streaming = { id, stream, taken: resolve };
          send({ kind: 'chunk', id, bytes });
        }),
    );
    streaming = { id, stream, taken: () => undefined };
    return stream;
  }

  return (message) => {
    switch (message.kind) {
      case 'invoke':
        void answer(message);
        return;
      case 'taken':
        if (streaming?.id === message.id) streaming.taken();
        return;
      case 'abandon':
        if (streaming?.id === message.id) streaming.stream.destroy(new Error('the caller has hung up'));
        return;
    }
  };
}

/** What Lambda's runtime sets for each invocation, of a trace that X-Ray does not sample. */
function traceHeader(): string {
  const seconds = Math.floor(Date.now() / 1000).toString(16);
  return `Root=1-${seconds}-${randomBytes(12).toString('hex')};Parent=${randomBytes(8).toString('hex')};Sampled=0`;
}
