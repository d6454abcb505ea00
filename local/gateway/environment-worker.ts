import { parentPort, workerData } from 'node:worker_threads';
import type { Context } from 'aws-lambda';
import type { FromEnvironment, Initialization, Invocation } from './environment.ts';

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

// SAFETY: the contract of a Lambda bundle; a value that is not callable fails the first invocation with its own message.
const { handler } = (await import(bundleUrl)) as {
  handler: (event: unknown, context: AsyncContext) => Promise<unknown>;
};

port.on('message', (invocation: Invocation) => {
  void answer(invocation);
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
