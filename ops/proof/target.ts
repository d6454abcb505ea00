import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Route } from '#shared/contract/route.ts';
import { parseStrictJson } from '#shared/kernel/strict-json.ts';
import { addressOf } from '#client/address.ts';
import { createBackoff, defaultLimits, retryAfterOf } from '#client/retry.ts';

/** One request of a route, without its sender. */
export interface Ask {
  readonly route: Route;
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** Members that are texts are ids; a list names no resource of a tenant by itself. */
  readonly body?: Readonly<Record<string, string | readonly object[]>>;
  readonly ifMatch?: string;
}

/** The sender of a request, and what is unusual about it. */
export interface Sender {
  /** Absent: no `Authorization` header. */
  readonly token?: string;
  /** Default: a new one, if the route takes one. */
  readonly key?: string;
  /** In addition to the usual ones, or instead of them. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A response as it arrived. Status 0: none did, for the reason in `text`. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** A deployment of one service, over nothing but HTTP. */
export interface Target {
  /** Its base URL, without `/v1` and without a slash at the end. */
  readonly url: string;
  /** Sends a request, and repeats it a limited number of times if the response is retryable. */
  readonly send: (ask: Ask, sender: Sender) => Promise<Reply>;
  /** A GET of a path below the base, once, without `Authorization`. */
  readonly get: (path: string) => Promise<Reply>;
  readonly close: () => void;
}

/** Longer than a gateway waits for a response. */
const TIMEOUT_MS = 35_000;
const MAX_BODY_BYTES = 256 * 1024 * 1024;

/**
 * Opens a deployment. Requests are sent byte for byte as written here: a client library would add headers that influence caches on the way.
 * @param onReply called with every response, including those of repeated requests
 */
export function openTarget(url: string, onReply: (reply: Reply, sender: Sender) => void): Target {
  const secure = new URL(url).protocol === 'https:';
  const agent = secure ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true });

  async function exchange(
    method: string,
    address: string,
    headers: Readonly<Record<string, string>>,
    body: string | undefined,
  ): Promise<Reply> {
    try {
      const sent = (secure ? httpsRequest : httpRequest)(address, {
        agent,
        method,
        headers: {
          ...headers,
          ...(body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }),
        },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      // After the response has begun, reading its body reports every error.
      sent.on('error', () => undefined);
      sent.end(body);
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      const chunks: Buffer[] = [];
      let length = 0;
      for await (const chunk of response as AsyncIterable<Buffer>) {
        length += chunk.length;
        // Leaving the loop ends the transfer.
        if (length > MAX_BODY_BYTES) return noAnswer(`a response of more than ${MAX_BODY_BYTES} bytes`);
        chunks.push(chunk);
      }
      const text = Buffer.concat(chunks).toString('utf8');
      const answered = new Headers();
      for (let at = 0; at < response.rawHeaders.length; at += 2)
        answered.append(response.rawHeaders[at] ?? '', response.rawHeaders[at + 1] ?? '');
      return { status: response.statusCode ?? 0, headers: answered, text };
    } catch (error) {
      return noAnswer(causeOf(error));
    }
  }

  async function patiently(one: () => Promise<Reply>, sender: Sender): Promise<Reply> {
    const nextWait = createBackoff({ ...defaultLimits, random: Math.random });
    for (;;) {
      const reply = await one();
      if (reply.status !== 0) onReply(reply, sender);
      const wait = mayRepeat(reply) ? nextWait(retryAfterOf(reply.headers)) : undefined;
      if (wait === undefined) return reply;
      await sleep(wait);
    }
  }

  return {
    url,
    send(ask, sender) {
      const { route, path = {}, query = {}, body, ifMatch } = ask;
      const headers = {
        Accept: 'application/json, application/problem+json',
        // The length of a compressed body depends on the ids of its request.
        'Accept-Encoding': 'identity',
        ...(sender.token === undefined ? {} : { Authorization: `Bearer ${sender.token}` }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(route.request.idempotencyKey ? { 'Idempotency-Key': sender.key ?? randomUUID() } : {}),
        ...(ifMatch === undefined ? {} : { 'If-Match': ifMatch }),
        ...sender.headers,
      };
      const text = body === undefined ? undefined : JSON.stringify(body);
      return patiently(
        () => exchange(route.method, addressOf(url, route.path, path, query), headers, text),
        sender,
      );
    },
    get: (path) => exchange('GET', `${url}${path}`, { 'Accept-Encoding': 'identity' }, undefined),
    close: () => {
      agent.destroy();
    },
  };
}

/** Requests of this suite are safe or keep their key, so a retryable response allows the same request again. */
function mayRepeat({ status, text }: Reply): boolean {
  if (status === 0 || status === 429) return true;
  // A stale tag stays stale.
  if (status < 400 || status === 412) return false;
  const json = parseStrictJson(text);
  const problem = json.ok ? (json.value as { readonly retryable?: unknown } | null) : null;
  return problem?.retryable === true;
}

function noAnswer(why: string): Reply {
  return { status: 0, headers: new Headers(), text: why };
}

/** Returns why no response arrived, without the address, which the reader knows. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  const cause = error.cause instanceof Error ? error.cause : error;
  if (cause.name === 'TimeoutError') return `no response within ${TIMEOUT_MS / 1000} s`;
  return 'code' in cause ? String(cause.code) : cause.name;
}
