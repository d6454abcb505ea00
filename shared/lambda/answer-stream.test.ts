import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { Sleep } from '#shared/kernel/sleep.ts';
import type { LogFields } from '#shared/observability/logger.ts';
import { awsLambda, ResponseStream, type StreamingHandler } from '#local/gateway/response-stream.ts';
import type { PipelineAnswer } from '#shared/http/answers.ts';
import { jsonPieces } from '#shared/http/check-response.ts';
import { sendAnswer } from './answer-stream.ts';
import { streamedFunction } from './lambda-function.ts';
import { processRuntime } from './process-runtime.ts';

beforeAll(() => {
  vi.stubGlobal('awslambda', awsLambda);
});

const minute = 60_000;
const idle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A response stream with what has arrived at its other end. */
interface Far {
  readonly stream: ResponseStream;
  readonly bytes: () => Buffer;
  /** The prelude's value and the body behind its eight NUL bytes. */
  readonly answer: () => {
    readonly prelude: { readonly statusCode: number; readonly headers: Readonly<Record<string, string>> };
    readonly body: Buffer;
  };
}

/** @param take resolves when the other end takes another chunk */
function open(take: (chunk: Uint8Array) => Promise<void> = () => Promise.resolve()): Far {
  const chunks: Uint8Array[] = [];
  const bytes = (): Buffer => Buffer.concat(chunks);
  return {
    stream: new ResponseStream((chunk) => {
      chunks.push(chunk);
      return take(chunk);
    }),
    bytes,
    answer() {
      const all = bytes();
      const end = all.indexOf(Buffer.alloc(8));
      return {
        prelude: JSON.parse(all.toString('utf8', 0, end)) as ReturnType<Far['answer']>['prelude'],
        body: all.subarray(end + 8),
      };
    },
  };
}

function answering(body: PipelineAnswer['body'], gzip = false) {
  const lines: (readonly [string, LogFields | undefined])[] = [];
  const answer: PipelineAnswer = {
    statusCode: 200,
    headers: { 'Content-Type': 'application/json', Vary: 'Accept-Encoding' },
    body,
    gzip,
    log: (code, fields) => lines.push([code, fields]),
  };
  const send = (
    { stream }: Far,
    milliseconds = minute,
    sleep: Sleep = processRuntime().sleep,
  ): Promise<void> => sendAnswer(answer, stream, milliseconds, sleep);
  return { answer, send, lines };
}

describe('a streamed answer', () => {
  const text = fc
    .array(
      fc
        .tuple(fc.string({ unit: 'grapheme', minLength: 1 }), fc.integer({ min: 1, max: 40_000 }))
        .map(([part, times]) => part.repeat(times).slice(0, 100_000).toWellFormed()),
      { minLength: 1, maxLength: 6 },
    )
    .map((pieces) => ({ body: pieces, bytes: Buffer.from(pieces.join('')) }));
  const ofLength = (length: number) => {
    const bytes = randomBytes(length);
    return { body: new Uint8Array(bytes), bytes };
  };
  const bundle = fc.integer({ min: 1, max: 300_000 }).map(ofLength);

  it('is the same bytes however it comes, in pieces of text or as bytes, whole or compressed [RP-211, RP-224]', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(text, bundle), fc.boolean(), async ({ body: sent, bytes }, gzip) => {
        const far = open();
        await answering(sent, gzip).send(far);
        const { prelude, body } = far.answer();
        const coded = prelude.headers['Content-Encoding'] === 'gzip';
        expect(coded).toBe(gzip);
        expect((coded ? gunzipSync(body) : body).equals(bytes)).toBe(true);
      }),
      { numRuns: 80 },
    );
  });

  it.each([false, true])(
    'holds little of a body of 20 MB at a time, however slowly it is taken (gzip: %j)',
    async (gzip) => {
      const row = randomBytes(75_000).toString('base64');
      const body = jsonPieces({ rows: Array.from({ length: 200 }, () => ({ row })) });
      let made = 0;
      let taken = 0;
      let most = 0;
      function* counted(): Generator<string> {
        for (const piece of body) {
          made += piece.length;
          yield piece;
        }
      }
      const far = open(async (chunk) => {
        if (taken === 0) {
          // Nobody takes the first chunk for as long as anything still moves.
          for (let before = -1; before !== made;) {
            before = made;
            await idle();
          }
          expect(made).toBeLessThan(1_000_000);
        }
        taken += chunk.length;
        // What gzip has saved so far (base64: a quarter) is not held.
        most = Math.max(most, (gzip ? made * 0.75 : made) - taken);
      });
      const { stream } = far;
      await answering(counted(), gzip).send({ ...far, stream });
      expect(made).toBeGreaterThan(20_000_000);
      expect(taken).toBeGreaterThan(gzip ? 15_000_000 : 20_000_000);
      expect(most).toBeLessThan(1_500_000);
    },
  );

  it.each([false, true])(
    'that breaks off is a failure of the function and nothing whole for the caller (gzip: %j) [RP-228]',
    async (gzip) => {
      const far = open();
      const { send, lines } = answering(
        (function* () {
          yield `{"rows":["${randomBytes(300_000).toString('base64')}"`;
          throw new TypeError('canary');
        })(),
        gzip,
      );
      await expect(send(far)).rejects.toThrow(/^the answer broke off$/);
      expect(far.stream.writableEnded).toBe(false);
      expect(far.stream.destroyed).toBe(false);
      const { body } = far.answer();
      expect(body.length).toBeGreaterThan(100_000);
      expect(() => JSON.parse((gzip ? gunzipSync(body) : body).toString()) as unknown).toThrow();
      expect(lines).toMatchObject([['ANSWER_BROKEN', { error: 'TypeError' }]]);
      expect(JSON.stringify(lines)).not.toContain('canary');
    },
  );

  it.each([false, true])('ends quietly when the caller hangs up (gzip: %j)', async (gzip) => {
    let made = 0;
    let ended = false;
    const far = open((): Promise<void> => {
      far.stream.destroy(gzip ? new Error('gone') : undefined);
      return Promise.resolve();
    });
    const { send, lines } = answering(
      (function* () {
        try {
          for (; made < 1000; made += 1) yield randomBytes(75_000).toString('base64');
        } finally {
          ended = true;
        }
      })(),
      gzip,
    );
    await send(far);
    expect(made).toBeLessThan(20);
    await vi.waitFor(() => expect(ended).toBe(true));
    expect(lines).toEqual([['ANSWER_ABANDONED', { reason: 'hung-up' }]]);
  });

  it('is not begun for a caller that has gone before', async () => {
    const far = open();
    far.stream.destroy();
    const { send, lines } = answering('{}');
    await send(far);
    expect(far.bytes()).toHaveLength(0);
    expect(lines).toEqual([['ANSWER_ABANDONED', { reason: 'hung-up' }]]);
  });

  it('has until a quarter of a second before the function’s time ends', async () => {
    const limits: number[] = [];
    const sleep: Sleep = (milliseconds) => {
      limits.push(milliseconds);
      return new Promise(() => undefined);
    };
    const { answer } = answering('{}');
    const handler = streamedFunction(() => Promise.resolve(answer), { sleep }) as StreamingHandler<object>;
    await handler({}, open().stream, { getRemainingTimeInMillis: () => 1_000 });
    expect(limits).toEqual([750]);
  });

  it('that cannot begin in its time is a failure of the function', async () => {
    const far = open();
    const endless = (function* () {
      for (;;) yield 'x'.repeat(100_000);
    })();
    const { send } = answering(endless, true);
    await expect(send(far, 0, () => Promise.resolve())).rejects.toThrow(/before the answer could begin$/);
    expect(far.bytes()).toHaveLength(0);
  });

  it.each([false, true])(
    'whose caller reads too slowly is cut off before the function’s time ends, without an error (gzip: %j)',
    async (gzip) => {
      // The time is over when the caller has the first chunk and asks for no other.
      const taken = Promise.withResolvers<undefined>();
      const read = Promise.withResolvers<undefined>();
      const far = open(() => {
        taken.resolve(undefined);
        return read.promise;
      });
      const { send, lines } = answering(randomBytes(500_000).toString('base64'), gzip);
      await send(far, 0, () => taken.promise);
      expect(lines).toEqual([['ANSWER_ABANDONED', { reason: 'too-slow' }]]);
      expect(far.stream.writableEnded).toBe(true);
      // What the caller still reads then is not the answer.
      const closed = once(far.stream, 'close');
      read.resolve(undefined);
      await closed;
      const { body } = far.answer();
      expect(() => JSON.parse((gzip ? gunzipSync(body) : body).toString()) as unknown).toThrow();
    },
  );
});
