import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import type { GatewayReply } from './gateway-call.ts';

/** A request whose every byte is the test's own: no client on the way resolves dots, joins headers or adds any. */
interface RawCall {
  /** Default: `GET`. */
  readonly method?: string;
  /** Names may repeat. `Host`, where there is none, and with a body `Content-Length` are added. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly body?: string | Uint8Array | undefined;
}

/**
 * Sends one request as it is written.
 * @param url the service's own
 * @param target what follows it in the request line: path and query, encoded already
 * @returns the answer with its text decoded from gzip, under the headers that it came with
 */
export async function callRaw(
  url: string,
  target: string,
  { method = 'GET', headers = [], body }: RawCall = {},
): Promise<GatewayReply> {
  const { host, hostname, port, pathname } = new URL(url);
  const own = headers.some(([name]) => name.toLowerCase() === 'host') ? [] : ['Host', host];
  const length = body === undefined ? [] : ['Content-Length', String(Buffer.byteLength(body))];
  const sent = request({
    hostname,
    port,
    method,
    path: `${pathname === '/' ? '' : pathname}${target}`,
    headers: [...own, ...length, ...headers.flat()],
  });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const bytes = await buffer(response);
  const answered = headersOf(response);
  const text = answered.get('content-encoding') === 'gzip' ? gunzipSync(bytes) : bytes;
  return { status: response.statusCode ?? 0, headers: answered, text: text.toString('utf8') };
}

/** The headers of a message as they came. */
export function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2)
    headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  return headers;
}
