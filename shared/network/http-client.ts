import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

/** The part of the Fetch API that the services use. */
export interface FetchRequest {
  readonly method: 'GET' | 'POST';
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Ends the exchange, including the reading of the body. */
  readonly signal: AbortSignal;
  /** Not over a kept connection: the other side may have dropped it, and with it all kept ones. */
  readonly freshConnection?: boolean;
}

/** A response whose body is still under way: a caller that does not read it to its end has to abort. */
export interface FetchAnswer {
  readonly status: number;
  readonly headers: { readonly get: (name: string) => string | null };
  readonly body: AsyncIterable<Uint8Array> | null;
}

/** Sends a request. Rejects if there is no response; the body rejects if it breaks off. Redirects are responses too: they are not followed. */
export type Fetch = (url: string, request: FetchRequest) => Promise<FetchAnswer>;

/** Connections that stay open for the next request. More are never useful: the platform client limits the calls in flight itself. */
const KEPT_SOCKETS = 128;
const keeping = { keepAlive: true, maxFreeSockets: KEPT_SOCKETS } as const;
const agents = {
  'http:': { kept: new HttpAgent(keeping), fresh: new HttpAgent() },
  'https:': { kept: new HttpsAgent(keeping), fresh: new HttpsAgent() },
};

/**
 * `fetch` over `node:http`: for a small response less than half of its processor time, and nothing to load before the first one. A request of the
 * engine may read hundreds of knowledge components. It requests compressed responses and decompresses them while they are read.
 */
export const fetchOverHttp: Fetch = (url, { method, headers, body, signal, freshConnection = false }) =>
  new Promise((resolve, reject) => {
    const target = new URL(url);
    const isHttps = target.protocol === 'https:';
    const { kept, fresh } = agents[isHttps ? 'https:' : 'http:'];
    const options: RequestOptions = {
      method,
      headers: {
        ...headers,
        'accept-encoding': 'gzip',
        ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
      },
      agent: freshConnection ? fresh : kept,
    };
    const request: ClientRequest = isHttps ? httpsRequest(target, options) : httpRequest(target, options);
    const abort = (): void => void request.destroy(signal.reason as Error);
    const done = (): void => signal.removeEventListener('abort', abort);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    request.on('error', (error) => {
      done();
      reject(error);
    });
    // A response that is none, such as 101, ends the request without a response and without an error.
    const unanswered = (): void => {
      done();
      reject(new Error('the connection ended without an answer'));
    };
    request.on('close', unanswered);
    request.on('response', (response) => {
      // An error with its stack costs as much as parsing the response.
      request.off('close', unanswered);
      // The signal of an earlier request must not end a kept connection.
      response.once('close', done);
      resolve(answerOf(response));
    });
    request.end(body);
  });

function answerOf(response: IncomingMessage): FetchAnswer {
  const { statusCode = 0, headers } = response;
  return {
    status: statusCode,
    headers: {
      get: (name) => {
        const value = headers[name];
        return Array.isArray(value) ? value.join(', ') : (value ?? null);
      },
    },
    body: decoded(response, headers['content-encoding']),
  };
}

/** Returns the body without its content coding. A coding that was not requested leaves bytes that no JSON reader accepts. */
function decoded(response: IncomingMessage, coding: string | undefined): AsyncIterable<Uint8Array> {
  if (coding !== 'gzip' && coding !== 'x-gzip') return response;
  // A failure on the way shows when the outcome is read.
  return pipeline(response, createGunzip(), () => undefined);
}

/** Reads a body to its end, as its chunks; returns undefined as soon as it grows beyond `maxBytes`. Rejects if the connection breaks off. */
export async function readCapped(
  body: FetchAnswer['body'],
  maxBytes: number,
): Promise<readonly Uint8Array[] | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const take = (chunk: Uint8Array): boolean => {
    length += chunk.byteLength;
    if (length <= maxBytes) chunks.push(chunk);
    return length <= maxBytes;
  };
  if (body instanceof Readable) await takeChunks(body, take);
  // Leaving the loop ends the body.
  else for await (const chunk of body ?? []) if (!take(chunk)) break;
  return length > maxBytes ? undefined : chunks;
}

/** Passes on the chunks of a stream until one is refused, which ends it: for a small body at a fraction of what its iterator costs. */
function takeChunks(body: Readable, take: (chunk: Uint8Array) => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    body.on('data', (chunk: Uint8Array) => {
      if (take(chunk)) return;
      body.destroy();
      resolve();
    });
    body.on('end', resolve);
    body.on('error', reject);
  });
}
