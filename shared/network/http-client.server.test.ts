import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { fetchOverHttp, readCapped } from './http-client.ts';
import type { FetchRequest } from './http-client.ts';

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function listen(handle: RequestListener): Promise<string> {
  const opened = createServer(handle);
  server = opened;
  await new Promise<void>((resolve) => opened.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(opened.address() as AddressInfo).port}/`;
}

async function ask(url: string, request: Partial<FetchRequest> = {}): Promise<string> {
  const signal = new AbortController().signal;
  const answer = await fetchOverHttp(url, { method: 'GET', headers: {}, signal, ...request });
  return Buffer.from((await readCapped(answer.body, 1_000)) ?? []).toString();
}

describe('fetchOverHttp', () => {
  it('rejects an answer that switches protocols, for which there is neither a response nor an error', async () => {
    const url = await listen((request) => {
      request.socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n');
    });
    await expect(ask(url)).rejects.toThrow('ended without an answer');
  });

  it('passes by kept connections where a fresh one is asked for', async () => {
    const used = new Set<Socket>();
    const url = await listen((request, response) => {
      if (used.has(request.socket)) return void request.socket.resetAndDestroy();
      used.add(request.socket);
      response.end('answer');
    });
    expect(await ask(url)).toBe('answer');
    expect(await ask(url, { freshConnection: true })).toBe('answer');
    expect(used.size).toBe(2);
    await expect(ask(url)).rejects.toThrow('ECONNRESET');
  });
});
