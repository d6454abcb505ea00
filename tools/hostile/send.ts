import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** What came back for bytes that were sent over a connection of their own. */
export interface Reply {
  /** Undefined if the connection was closed without an answer. */
  readonly status: number | undefined;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  /** Everything that came, as Latin-1. */
  readonly raw: string;
  /** The connection stayed open and silent until the time limit. */
  readonly isSilent: boolean;
}

/** Longer than API Gateway waits for a function. */
const TIME_LIMIT_MS = 35_000;

/**
 * Sends bytes as they are, over a connection of their own, and reads until the other side closes it. Rejects if there is no connection.
 * @param bytes with a pause of a few milliseconds between the parts
 */
export function sendBytes(address: URL, bytes: readonly Buffer[]): Promise<Reply> {
  const isTls = address.protocol === 'https:';
  const port = Number(address.port || (isTls ? 443 : 80));
  const host = address.hostname;
  return new Promise((resolve, reject) => {
    const socket = isTls ? connectTls({ host, port, servername: host }) : connect({ host, port });
    const received: Buffer[] = [];
    let isConnected = false;
    let isSilent = false;
    const send = async (): Promise<void> => {
      isConnected = true;
      for (const part of bytes) {
        if (socket.destroyed) return;
        socket.write(part);
        if (bytes.length > 1) await new Promise((next) => setTimeout(next, 20));
      }
    };
    socket.once(isTls ? 'secureConnect' : 'connect', () => void send());
    socket.on('data', (chunk: Buffer) => received.push(chunk));
    socket.setTimeout(TIME_LIMIT_MS, () => {
      isSilent = true;
      socket.destroy();
    });
    // A reset ends the answer like any other end.
    socket.once('error', (error: Error) => {
      if (!isConnected) reject(error);
    });
    socket.once('close', () => {
      if (isConnected) resolve({ ...parsed(Buffer.concat(received).toString('latin1')), isSilent });
    });
  });
}

/** Parses the first response of a connection. */
function parsed(raw: string): Omit<Reply, 'isSilent'> {
  const [head = '', ...rest] = raw.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const status = /^HTTP\/1\.[01] (\d{3})/.exec(statusLine)?.[1];
  const headers = new Map(
    lines.map((line) => {
      const at = line.indexOf(':');
      return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()] as const;
    }),
  );
  const after = rest.join('\r\n\r\n');
  const body = headers.get('transfer-encoding') === 'chunked' ? unchunked(after) : after;
  return { status: status === undefined ? undefined : Number(status), headers, body, raw };
}

/** Joins the chunks of a body, up to the last one or to where it breaks off. */
function unchunked(text: string): string {
  let [joined, at] = ['', 0];
  for (;;) {
    const [line, size] = /^([0-9a-f]+)[^\r\n]*\r\n/i.exec(text.slice(at, at + 100)) ?? [];
    const length = Number.parseInt(size ?? '0', 16);
    if (line === undefined || length === 0) return joined;
    joined += text.slice(at + line.length, at + line.length + length);
    at += line.length + length + 2;
  }
}
