import { pathToFileURL } from 'node:url';
import { awsLambda, isStreaming, ResponseStream, runStreaming } from '#local/gateway/response-stream.ts';

/** What one invocation took. */
export interface InvocationFigures {
  /** Of the prelude. */
  readonly status: number;
  /** That arrived at the other end of the stream. */
  readonly bytes: number;
  /** Milliseconds of all threads. */
  readonly cpu: number;
  /** Milliseconds from the event to the first byte, and to the last. */
  readonly first: number;
  readonly last: number;
  /** Megabytes of the process at its peak so far. */
  readonly peak: number;
}

// A function in a process of its own: the bundle, its event, and how often it is invoked. Figures go out as the last line, the function's log
// lines before it.

const [file = '', event = '', times = '1'] = process.argv.slice(2);
Object.assign(globalThis, { awslambda: awsLambda });
const { handler } = (await import(pathToFileURL(file).href)) as { handler: unknown };
const figures: InvocationFigures[] = [];
for (let n = 0; n < Number(times); n += 1) figures.push(await invoke());
process.stdout.write(`\n${JSON.stringify(figures)}`);

async function invoke(): Promise<InvocationFigures> {
  if (!isStreaming(handler)) throw new Error('the handler does not stream its answer');
  let [prelude, bytes, first] = ['', 0, 0];
  const cpu = process.cpuUsage();
  const start = performance.now();
  const stream = new ResponseStream((chunk) => {
    if (bytes === 0) {
      first = performance.now() - start;
      prelude = Buffer.from(chunk).toString('latin1').split('\0', 1)[0] ?? '';
    }
    bytes += chunk.byteLength;
    return Promise.resolve();
  });
  const context = { awsRequestId: crypto.randomUUID(), getRemainingTimeInMillis: () => 29_000 };
  await runStreaming(handler, JSON.parse(event), stream, context);
  const last = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  const { statusCode } = JSON.parse(prelude) as { readonly statusCode: number };
  const peak = process.resourceUsage().maxRSS / 1024;
  return { status: statusCode, bytes, cpu: (user + system) / 1000, first, last, peak };
}
