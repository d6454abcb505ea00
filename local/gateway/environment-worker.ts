import { parentPort, workerData } from 'node:worker_threads';
import type { FromEnvironment, Initialization, ToEnvironment } from './environment.ts';
import { awsLambda } from './response-stream.ts';
import { serveInvocations, type InvokedHandler } from './serve-invocations.ts';

// An execution environment on a thread of its own: loads the function's bundle once, then serves its invocations.

if (parentPort === null) throw new Error('this module is the start of a worker thread');
const port = parentPort;
// SAFETY: environment.ts starts this worker and passes exactly this.
const { bundleUrl, functionName, memoryMb, pending } = workerData as Initialization;

function send(message: FromEnvironment): void {
  port.postMessage(message, message.kind === 'chunk' ? [message.bytes.buffer] : []);
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
const { handler } = (await import(bundleUrl)) as { handler: InvokedHandler };

/**
 * Stops the whole thread until the next invocation, as Lambda freezes an environment: no timer fires and no socket is read, and everything
 * that was due happens during the next invocation.
 */
function freeze(): void {
  Atomics.sub(pending, 0, 1);
  Atomics.wait(pending, 0, 0);
}

const receive = serveInvocations(handler, { functionName, memoryMb }, (message) => {
  send(message);
  if (message.kind === 'answer' || message.kind === 'ended' || message.kind === 'threw') setImmediate(freeze);
});
port.on('message', (message: ToEnvironment) => receive(message));
send({ kind: 'ready' });
