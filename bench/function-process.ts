import { pathToFileURL } from 'node:url';
import type { APIGatewayProxyResult } from 'aws-lambda';
import {
  awsLambda,
  isStreaming,
  PRELUDE_END,
  ResponseStream,
  runStreaming,
} from '#local/gateway/response-stream.ts';
import { peakMb } from './measure.ts';

export interface Invocation {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Empty for an answer of more than a megabyte. */
  readonly body: string;
  readonly bytes: number;
  /** Milliseconds from the event to the first byte that left, and to the last. */
  readonly first: number;
  readonly last: number;
  /** Milliseconds of all threads. */
  readonly cpu: number;
  /** Megabytes of the process at its peak so far. */
  readonly peak: number;
  /** Megabytes of the heap in use, without garbage if the process may collect it. */
  readonly heap: number;
}

/** An event, and by how many milliseconds the function's clock is ahead of the machine's. */
export interface Call {
  readonly event: unknown;
  readonly ahead: number;
}

// A function in a process of its own, as in Lambda: one event at a time, so that its processor time can be measured without that of the owners.

const TELLABLE_BYTES = 1_000_000;
type Answer = Pick<Invocation, 'status' | 'headers' | 'body' | 'bytes' | 'first'>;
type Prelude = Pick<APIGatewayProxyResult, 'statusCode' | 'headers'>;

const [file = ''] = process.argv.slice(2);
Object.assign(globalThis, { awslambda: awsLambda });
// What a function logs is no figure.
process.stdout.write = () => true;
const beforeImport = process.cpuUsage();
const { handler } = (await import(pathToFileURL(file).href)) as {
  handler: (event: unknown, context: unknown) => Promise<APIGatewayProxyResult>;
};

const machineNow = Date.now.bind(Date);
process.on('message', ({ event, ahead }: Call) => {
  Date.now = () => machineNow() + ahead;
  invoke(event).then(
    (invocation) => process.send?.(invocation),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.send?.(cpuSince(beforeImport));

/** Returns milliseconds of all threads. */
function cpuSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

async function invoke(event: unknown): Promise<Invocation> {
  const context = { awsRequestId: crypto.randomUUID(), getRemainingTimeInMillis: () => 29_000 };
  const cpu = process.cpuUsage();
  const start = performance.now();
  const answer = await (isStreaming(handler)
    ? streamed(event, context, start)
    : buffered(event, context, start));
  const last = performance.now() - start;
  const cpuMs = cpuSince(cpu);
  globalThis.gc?.();
  return {
    ...answer,
    last,
    cpu: cpuMs,
    peak: peakMb(),
    heap: process.memoryUsage().heapUsed / 1e6,
  };
}

async function buffered(event: unknown, context: object, start: number): Promise<Answer> {
  const { body, ...prelude } = await handler(event, context);
  const first = performance.now() - start;
  return { ...headOf(prelude), body, bytes: Buffer.byteLength(body), first };
}

async function streamed(event: unknown, context: object, start: number): Promise<Answer> {
  if (!isStreaming(handler)) throw new Error('the handler does not stream its answer');
  const chunks: Uint8Array[] = [];
  let [bytes, first] = [0, 0];
  const stream = new ResponseStream((chunk) => {
    if (bytes === 0) first = performance.now() - start;
    // What is not reported is not kept: it would count as the function's memory.
    if (bytes <= TELLABLE_BYTES) chunks.push(chunk);
    bytes += chunk.byteLength;
    return Promise.resolve();
  });
  await runStreaming(handler, event, stream, context);
  const text = Buffer.concat(chunks);
  const end = text.indexOf(PRELUDE_END);
  const prelude = JSON.parse(text.subarray(0, end).toString()) as Prelude;
  const length = bytes - end - PRELUDE_END.length;
  const body = length > TELLABLE_BYTES ? '' : text.subarray(end + PRELUDE_END.length).toString();
  return { ...headOf(prelude), body, bytes: length, first };
}

function headOf({ statusCode, headers = {} }: Prelude): Pick<Invocation, 'status' | 'headers'> {
  return {
    status: statusCode,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
  };
}
