import { once } from 'node:events';
import type { PipelineAnswer } from '#shared/http/answers.ts';
import { withTimeLimit, type Sleep } from '#shared/kernel/sleep.ts';
import { describeError } from '#shared/observability/describe-error.ts';

/** Characters of a chunk, or bytes of one that is not text: so many that a chunk costs little, so few that those in flight are negligible. */
const CHUNK_LENGTH = 64 * 1024;
/** Level 1: for a report of 4.6 MB half the time of level 6, for 7 % more bytes. */
const GZIP = { level: 1, chunkSize: 64 * 1024 };

/**
 * Writes a response into Lambda's response stream: status and headers as the prelude, then the body, chunk by chunk as the stream takes them. Ends
 * without an error if the caller hangs up, and cuts the body off if the caller is too slow: neither is an error of the function, whose alarm would
 * call an operator. Throws, without ending the stream, if the body breaks off or the time is over before it begins: Lambda then reports a failure.
 * The sent part is never a whole JSON text, archive or gzip stream, so that no caller takes it for a complete response.
 * @param milliseconds time until the stream has to end
 */
export function sendAnswer(
  answer: PipelineAnswer,
  stream: awslambda.HttpResponseStream,
  milliseconds: number,
  sleep: Sleep,
): Promise<void> {
  return withTimeLimit(sleep, Math.max(0, milliseconds), (late) => sendUntil(late, answer, stream));
}

async function sendUntil(
  late: AbortSignal,
  { statusCode, headers, body, gzip, log }: PipelineAnswer,
  stream: awslambda.HttpResponseStream,
): Promise<void> {
  const gone = new AbortController();
  const stop = AbortSignal.any([late, gone.signal]);
  let isStarted = false;
  stream.on('error', () => gone.abort());
  stream.on('close', () => gone.abort());
  if (stream.destroyed) gone.abort();
  try {
    const sink = awslambda.HttpResponseStream.from(stream, {
      statusCode,
      headers: { ...headers, ...(gzip ? { 'Content-Encoding': 'gzip' } : {}) },
    });
    const chunks =
      body instanceof Uint8Array ? slicesOf(body) : chunksOf(typeof body === 'string' ? [body] : body);
    for await (const chunk of gzip ? compressed(chunks) : chunks) {
      stop.throwIfAborted();
      isStarted = true;
      if (!sink.write(chunk)) await once(sink, 'drain', { signal: stop });
    }
    const finished = once(sink, 'finish', { signal: stop });
    sink.end();
    await finished;
  } catch (error) {
    if (!stop.aborted) {
      log('ANSWER_BROKEN', { ...describeError(error) });
      // Without the error itself: Lambda logs what is thrown, with its message.
      throw new Error('the answer broke off');
    }
    log('ANSWER_ABANDONED', { reason: gone.signal.aborted ? 'hung-up' : 'too-slow' });
    if (gone.signal.aborted) return;
    if (!isStarted) throw new Error('the time was over before the answer could begin');
    // Lambda waits for this end: without it, the invocation would last until the time limit and count as an error.
    stream.end();
  }
}

/** Yields the UTF-8 of a text that comes in pieces, in chunks of an even size; only the last may be smaller. */
function* chunksOf(pieces: Iterable<string>): Generator<Uint8Array, void, undefined> {
  let rest = '';
  for (const piece of pieces) {
    rest += piece;
    while (rest.length > CHUNK_LENGTH) {
      // The first half of a surrogate pair must not be encoded without the second.
      const isHalf = (rest.charCodeAt(CHUNK_LENGTH - 1) & 0xfc00) === 0xd800;
      const end = isHalf ? CHUNK_LENGTH - 1 : CHUNK_LENGTH;
      yield Buffer.from(rest.slice(0, end));
      rest = rest.slice(end);
    }
  }
  if (rest !== '') yield Buffer.from(rest);
}

/** Yields bytes in chunks of an even size; only the last may be smaller. */
function* slicesOf(bytes: Uint8Array): Generator<Uint8Array, void, undefined> {
  for (let at = 0; at < bytes.length; at += CHUNK_LENGTH) yield bytes.subarray(at, at + CHUNK_LENGTH);
}

/** Compresses chunks, taking them only as fast as its own are taken. It loads Zlib with the first body that needs it. */
async function* compressed(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const [{ createGzip }, { pipeline }] = await Promise.all([
    import('node:zlib'),
    import('node:stream/promises'),
  ]);
  const gzip = createGzip(GZIP);
  // A failure of either end destroys the other, and so surfaces below.
  pipeline(chunks, gzip).catch(() => undefined);
  yield* gzip as AsyncIterable<Uint8Array>;
}
