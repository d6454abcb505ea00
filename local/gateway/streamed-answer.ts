import type { Readable } from 'node:stream';
import { parsedJson } from '#local/parsed-json.ts';
import { toHttpHead, type HttpHead } from './http-answer.ts';
import { PRELUDE_END } from './response-stream.ts';

/** An answer whose body is on its way. */
export interface StreamedAnswer extends HttpHead {
  /** Fails where the function fails. */
  readonly body: Readable;
}

/** Within these, the gateway expects the end of the prelude. */
const MAX_PRELUDE_BYTES = 16 * 1024;

/**
 * Reads the prelude of what a streaming proxy integration writes: status and headers as JSON, then eight NUL bytes, then the body. Undefined
 * when there is none, or the stream ends or fails before its end; the stream is then destroyed.
 */
export async function readStreamedAnswer(stream: Readable): Promise<StreamedAnswer | undefined> {
  const head = await readPrelude(stream);
  const parsed = head === undefined ? undefined : toHttpHead(parsedJson(head));
  if (parsed !== undefined) return { ...parsed, body: stream };
  stream.destroy();
  return undefined;
}

function readPrelude(stream: Readable): Promise<string | undefined> {
  return new Promise((resolve) => {
    let read = Buffer.alloc(0);
    const finish = (prelude: string | undefined): void => {
      stream.off('readable', onReadable).off('end', onEnd).off('close', onEnd);
      resolve(prelude);
    };
    const onEnd = (): void => finish(undefined);
    const onReadable = (): void => {
      for (let chunk = nextChunk(stream); chunk !== null; chunk = nextChunk(stream)) {
        read = Buffer.concat([read, chunk]);
        const end = read.indexOf(PRELUDE_END);
        if (end !== -1) {
          stream.unshift(read.subarray(end + PRELUDE_END.length));
          finish(read.toString('utf8', 0, end));
          return;
        }
        if (read.length > MAX_PRELUDE_BYTES) {
          finish(undefined);
          return;
        }
      }
    };
    if (stream.destroyed) {
      resolve(undefined);
      return;
    }
    stream.on('readable', onReadable).on('end', onEnd).on('close', onEnd);
  });
}

function nextChunk(stream: Readable): Buffer | null {
  // SAFETY: a stream of bytes without an encoding.
  return stream.read() as Buffer | null;
}
