import { parentPort, workerData } from 'node:worker_threads';
import type { FromEnvironment, Initialization, ToEnvironment } from './environment.ts';
import { awsLambda } from './response-stream.ts';
import { serveInvocations, type InvokedHandler } from './serve-invocations.ts';

// An execution environment on a thread of its own: loads the function's bundle once, then serves its invocations.

if (parentPort === null) throw new Error('this module is the start of a worker thread');
const port = parentPort;
// SAFETY: environment.ts starts this worker and passes exactly this.
const { bundleUrl, functionName, memoryMb } = workerData as Initialization;

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

const receive = serveInvocations(handler, { functionName, memoryMb }, send);
port.on('message', (message: ToEnvironment) => receive(message));
send({ kind: 'ready' });
