import { createServer, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { headersOf } from './raw-call.ts';

/** One request on its way to a service. */
export interface Passing {
  readonly method: string;
  /** Path and query below the service's base URL. */
  readonly target: string;
  readonly headers: Headers;
  readonly body: string;
}

/** One answer on its way back. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** What a proxy does with a request: pass it on, changed or not, and change the answer or not. */
export type Leak = (request: Passing, pass: (request: Passing) => Promise<Answer>) => Promise<Answer>;

/** A proxy between a client and a service. */
export interface LeakyProxy {
  readonly url: string;
  /** What it leaks from now on; undefined: nothing. */
  leak: Leak | undefined;
  readonly close: () => Promise<void>;
}

/** Starts a proxy on the loopback interface that stands where a service at `serviceUrl` would. */
export async function startLeakyProxy(serviceUrl: string): Promise<LeakyProxy> {
  const pass = async ({ method, target, headers, body }: Passing): Promise<Answer> => {
    const sent = new Headers(headers);
    // Of the hop before; the next one has its own.
    for (const name of ['host', 'connection', 'content-length']) sent.delete(name);
    const response = await fetch(`${serviceUrl}${target}`, {
      method,
      headers: sent,
      ...(body === '' ? {} : { body }),
    });
    const answered = new Headers(response.headers);
    // Of the hop before, and of bytes that are decoded by now.
    for (const name of [
      'connection',
      'keep-alive',
      'transfer-encoding',
      'content-encoding',
      'content-length',
      'date',
    ])
      answered.delete(name);
    return { status: response.status, headers: answered, body: await response.text() };
  };
  const proxy: Pick<LeakyProxy, 'leak'> = { leak: undefined };
  const server = createServer((incoming, outgoing) => {
    void (async () => {
      const request = await read(incoming);
      const { status, headers, body } = await (proxy.leak === undefined
        ? pass(request)
        : proxy.leak(request, pass));
      outgoing.writeHead(status, [...headers].flat());
      outgoing.end(body);
    })().catch(() => outgoing.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // SAFETY: a TCP server that listens has an address of this form.
  const { port } = server.address() as AddressInfo;
  return Object.assign(proxy, {
    url: `http://127.0.0.1:${port}`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  });
}

async function read(incoming: IncomingMessage): Promise<Passing> {
  return {
    method: incoming.method ?? 'GET',
    target: incoming.url ?? '/',
    headers: headersOf(incoming),
    body: (await buffer(incoming)).toString('utf8'),
  };
}
