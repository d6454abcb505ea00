import { parentPort, workerData } from 'node:worker_threads';
import type { Context } from 'aws-lambda';
import type { FromEnvironment, Initialization, Invocation, ToEnvironment } from './environment.ts';
import { awsLambda, isStreaming, ResponseStream, runStreaming } from './response-stream.ts';

/** Callback handlers do not exist on this runtime, and so neither do the context's callbacks. */
type AsyncContext = Omit<Context, 'done' | 'fail' | 'succeed'>;

// The inside of one execution environment: loads the function's bundle once, then answers one invocation after the other.

const MAX_ANSWER_BYTES = 6 * 1024 * 1024;

if (parentPort === null) throw new Error('this module is the start of a worker thread');
const port = parentPort;
// SAFETY: environment.ts starts this worker and passes exactly this.
const { bundleUrl, functionName, memoryMb } = workerData as Initialization;

function send(message: FromEnvironment): void {
  port.postMessage(message);
}

// Output goes through the same port as the answers: a line written before an answer arrives before it, and none is lost at the end.
for (const stream of [process.stdout, process.stderr]) {
  stream.write = (chunk: Uint8Array | string, encoding?: unknown, callback?: unknown): boolean => {
    const text = typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8');
    send({ kind: 'output', text });
    const done = typeof encoding === 'function' ? encoding : callback;
    if (typeof done === 'function') queueMicrotask(() => void Reflect.apply(done, undefined, []));
    return true;
  };
}

Object.assign(globalThis, { awslambda: awsLambda });

// SAFETY: the contract of a Lambda bundle; a value that is not callable fails the first invocation with its own message.
const { handler } = (await import(bundleUrl)) as {
  handler: (event: unknown, context: AsyncContext) => Promise<unknown>;
};

/** The stream of the invocation under way, and what to call when the chunk that was sent last has been taken. */
let streaming: { readonly id: number; readonly stream: ResponseStream; taken: () => void } | undefined;

port.on('message', (message: ToEnvironment) => {
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
});
send({ kind: 'ready' });

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
    console.error(error);
    send({ kind: 'threw', id, message: error instanceof Error ? error.message : String(error) });
  }
}

/** One chunk is on its way at a time: the stream fills up, and the function waits, while nobody takes it. */
function openStream(id: number): ResponseStream {
  const stream = new ResponseStream(
    (bytes) =>
      new Promise((resolve) => {
        streaming = { id, stream, taken: resolve };
        port.postMessage({ kind: 'chunk', id, bytes } satisfies FromEnvironment, [bytes.buffer]);
      }),
  );
  streaming = { id, stream, taken: () => undefined };
  return stream;
}
