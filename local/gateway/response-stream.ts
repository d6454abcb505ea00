import { once } from 'node:events';
import { Writable } from 'node:stream';

// What Lambda's runtime offers to a function that streams its answer: the global `awslambda`, as the Node.js runtime interface client of AWS
// defines it.

const STREAMING = Symbol.for('aws.lambda.runtime.handler.streaming');
const PRELUDE_TYPE = 'application/vnd.awslambda.http-integration-response';
/** What is between the prelude and the body. */
export const PRELUDE_END: Uint8Array = new Uint8Array(8);

/** Bytes that a function may write ahead of the reader. */
const HIGH_WATER_MARK = 64 * 1024;

/**
 * The stream that a function writes its answer into.
 * @param send takes one chunk, and resolves when there is room for another
 */
export class ResponseStream extends Writable {
  contentType = 'application/octet-stream';
  /** What precedes the first chunk; set by `HttpResponseStream.from`. */
  _onBeforeFirstWrite: ((write: (chunk: string | Uint8Array) => void) => void) | undefined;
  #hasStarted = false;
  readonly #send: (bytes: Uint8Array<ArrayBuffer>) => Promise<void>;

  constructor(send: (bytes: Uint8Array<ArrayBuffer>) => Promise<void>) {
    super({ highWaterMark: HIGH_WATER_MARK });
    this.#send = send;
    // A stream that is cut off is not the function's fault: it gets an event only where it listens.
    this.on('error', () => undefined);
  }

  setContentType(contentType: string): void {
    if (this.#hasStarted) throw new Error('the content type cannot be set any more');
    this.contentType = contentType;
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    const parts: Uint8Array[] = [];
    if (!this.#hasStarted) this._onBeforeFirstWrite?.((part) => parts.push(Buffer.from(part)));
    this.#hasStarted = true;
    // A copy of its own: a buffer may be a part of a larger one.
    this.#send(new Uint8Array(Buffer.concat([...parts, chunk]))).then(() => done(), done);
  }
}

/** The global `awslambda`. */
export const awsLambda = {
  streamifyResponse<Handler extends object>(handler: Handler): Handler {
    return Object.assign(handler, { [STREAMING]: 'response' });
  },
  HttpResponseStream: {
    /** Status and headers as a prelude of the stream. */
    from(stream: ResponseStream, prelude: unknown): ResponseStream {
      stream.setContentType(PRELUDE_TYPE);
      stream._onBeforeFirstWrite = (write) => {
        write(JSON.stringify(prelude));
        write(PRELUDE_END);
      };
      return stream;
    },
  },
};

/** A handler that `streamifyResponse` has marked. */
export type StreamingHandler<Context> = (
  event: unknown,
  stream: ResponseStream,
  context: Context,
) => Promise<void>;

export function isStreaming<Context>(handler: unknown): handler is StreamingHandler<Context> {
  return typeof handler === 'function' && STREAMING in handler;
}

/**
 * Runs a streaming handler to its end and its stream's. Rejects when the handler throws, or when it leaves its stream open; a stream that
 * was destroyed from outside is ended.
 */
export async function runStreaming<Context>(
  handler: StreamingHandler<Context>,
  event: unknown,
  stream: ResponseStream,
  context: Context,
): Promise<void> {
  await handler(event, stream, context);
  if (!stream.writableEnded && !stream.destroyed) throw new Error('the response stream was not ended');
  if (!stream.closed) await once(stream, 'close');
}
