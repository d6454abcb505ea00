import { once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Names and addresses that reach a server on 127.0.0.1; RFC 9110 section 4.2.3: a host is compared without regard to case. */
const LOOPBACK_AUTHORITY = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::(\d{1,5}))?$/i;

/**
 * Returns whether a request is meant for the server on the loopback interface that received it. A page in a browser can reach a local port under a
 * name of its own (DNS rebinding) and then read the answers, but it cannot choose the value of `Host`.
 * @returns `malformed` for no `Host` or several (RFC 9112 section 3.2), `foreign` for another name or port, in `Host` or in an
 *   absolute-form target
 */
export function addresseeOf(request: IncomingMessage): 'ours' | 'foreign' | 'malformed' {
  const [host, ...more] = request.headersDistinct['host'] ?? [];
  if (host === undefined || more.length > 0) return 'malformed';
  const target = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(request.url ?? '')?.[1];
  const { localPort } = request.socket;
  return isOurs(host, localPort) && (target === undefined || isOurs(target, localPort)) ? 'ours' : 'foreign';
}

/** Returns whether a page of another origin sent the request. A browser sets `Origin` with everything that changes something, and `null` is no page’s. */
export function isOfForeignOrigin(request: IncomingMessage): boolean {
  const origin = request.headers.origin;
  if (origin === undefined) return false;
  return !origin.startsWith('http://') || !isOurs(origin.slice('http://'.length), request.socket.localPort);
}

function isOurs(authority: string, localPort: number | undefined): boolean {
  const match = LOOPBACK_AUTHORITY.exec(authority);
  return match !== null && Number(match[1] ?? 80) === localPort;
}

/** Starts a server on the loopback interface. @param port 0 takes any free one @returns its URL, without a slash at the end */
export async function listen(server: Server, port: number): Promise<string> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  // SAFETY: a TCP server that listens has an address of this form.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/**
 * Reads a whole body. Undefined when it is over the limit; the rest is then read and dropped, so that the client receives the answer, but
 * only as much as the limit once more: a body may have no end.
 */
export async function readBody(request: IncomingMessage, limit: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= limit) chunks.push(chunk);
    else chunks.length = 0;
    if (length > 2 * limit) break;
  }
  return length <= limit ? Buffer.concat(chunks) : undefined;
}
