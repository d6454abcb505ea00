import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import { fetchOverHttp, readCapped } from '#shared/network/http-client.ts';
import { createPlatform } from './http-platform.ts';
import * as operations from './operations.ts';
import { secret } from './transport/secret.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';

// What a fake cannot prove: how the real client behaves when a real connection misbehaves. Owners that are down, late or cut off on every
// route: test/lemmas/faults.ts.

type Handler = (request: IncomingMessage, response: ServerResponse) => void;
let handler: Handler = () => undefined;
let requests: string[] = [];
let connections = 0;
const server = createServer((request, response) => {
  requests.push(`${request.method ?? ''} ${request.url ?? ''}`);
  handler(request, response);
});
server.on('connection', () => (connections += 1));
let baseUrl = '';

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const bank = {
  tenantId: 'tenant-a',
  bankId: 'bank',
  specId: 'spec',
  role: 'bank',
  membershipRule: 'qti_adaptive_selection',
  updateVersion: '1',
  data: [],
};

function open(handle: Handler) {
  handler = handle;
  requests = [];
  return createPlatform(processRuntime())(
    { tenantId: 'tenant-a', baseUrl, credential: secret('credential') },
    { receivedAt: Date.now(), deadline: Date.now() + 20_000, log: () => undefined },
  );
}

const callOf =
  (platform: ReturnType<typeof open>) =>
  (testBankId = 'bank') =>
    platform.call(operations.validateAdaptiveBankIdentity, { path: { testBankId } });
const ask = (handle: Handler, testBankId?: string) => callOf(open(handle))(testBankId);

const send = (
  response: ServerResponse,
  body: string | Uint8Array,
  headers: Record<string, string> = {},
): void => {
  response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(body);
};

describe('over a real connection', () => {
  it('an answer comes through, also compressed', async () => {
    const plain = await ask((_, response) => send(response, JSON.stringify(bank), { etag: '"1"' }));
    const zipped = await ask((_, response) =>
      send(response, gzipSync(JSON.stringify(bank)), { 'content-encoding': 'gzip' }),
    );
    expect(plain.ok && plain.value.value).toEqual(bank);
    expect(plain.ok && zipped.ok && zipped.value.bodyHash === plain.value.bodyHash).toBe(true);
  });

  it('an answer in pieces is read, checked and hashed as a whole', async () => {
    const text = JSON.stringify({ ...bank, specId: 'é'.repeat(100) });
    const inPieces = await ask((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      // Every byte is a chunk, also each half of a character.
      for (const byte of Buffer.from(text)) response.write(Uint8Array.of(byte));
      response.end();
    });
    expect(inPieces).toMatchObject({
      ok: true,
      value: { value: JSON.parse(text) as unknown, bodyHash: sha256Hex(text) },
    });
  });

  it('a body that breaks off is known at once, also a compressed one', async () => {
    for (const [headers, piece] of [
      [{}, Buffer.from('{"tenantId":')],
      [{ 'content-encoding': 'gzip' }, gzipSync('x'.repeat(1_000)).subarray(0, 20)],
    ] as const) {
      handler = (_, response) => {
        response.writeHead(200, { ...headers, 'content-length': 1_000 });
        response.write(piece, () => response.destroy());
      };
      const signal = new AbortController().signal;
      const { body } = await fetchOverHttp(baseUrl, { method: 'GET', headers: {}, signal });
      await expect(readCapped(body, 1_000)).rejects.toThrow();
    }
  });

  it('one connection serves one call after another, also after a body that nobody reads', async () => {
    const call = callOf(
      open((request, response) => {
        if (request.url?.includes('unknown') === true) response.writeHead(404).end('nothing');
        else send(response, gzipSync(JSON.stringify(bank)), { 'content-encoding': 'gzip' });
      }),
    );
    await call();
    const before = connections;
    for (let n = 0; n < 5; n += 1) expect((await call()).ok).toBe(true);
    expect(connections).toBe(before);
    // Its unread body ends the connection, and no other call.
    expect(await call('unknown')).toMatchObject({ ok: false, error: { kind: 'not-found' } });
    const answers = await Promise.all(Array.from({ length: 20 }, () => call()));
    expect(answers.every(({ ok }) => ok)).toBe(true);
  });

  it('a retry meets none of the kept connections that the owner has given up', async () => {
    const used = new Set<unknown>();
    const waiting: (() => void)[] = [];
    const call = callOf(
      open((request, response) => {
        if (used.has(request.socket)) return void request.socket.resetAndDestroy();
        used.add(request.socket);
        waiting.push(() => send(response, JSON.stringify(bank)));
        // The first four are answered together, so that each has a connection of its own.
        if (used.size >= 4) for (const answer of waiting.splice(0)) answer();
      }),
    );
    // Connections of other tests are in the pool as well; none of them is taken twice here.
    const first = await Promise.all([call(), call(), call(), call()]);
    expect(first.every(({ ok }) => ok)).toBe(true);
    expect(await call()).toMatchObject({ ok: true, value: { value: bank } });
  });

  it('a broken coding, or one that was not asked for, is no answer', async () => {
    const cut = gzipSync(JSON.stringify(bank)).subarray(0, 40);
    const broken = await ask((_, response) => send(response, cut, { 'content-encoding': 'gzip' }));
    expect(broken).toMatchObject({ ok: false, error: { kind: 'unavailable', transient: true } });
    const other = await ask((_, response) =>
      send(response, gzipSync(JSON.stringify(bank)), { 'content-encoding': 'br' }),
    );
    expect(other).toMatchObject({ ok: false, error: { kind: 'malformed' } });
  });

  it('an identifier arrives as one segment, byte for byte [MA-040]', async () => {
    const testBankId = '..a/b?c#d%2e é\u0000';
    await ask((_, response) => send(response, JSON.stringify({ ...bank, bankId: testBankId })), testBankId);
    expect(requests).toEqual([
      `GET /tenants/tenant-a/core/content/items/${encodeURIComponent(testBankId)}/bank-members`,
    ]);
  });

  it('a switch of protocols, for which there is neither a response nor an error, ends the request', async () => {
    handler = ({ socket }) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n');
    };
    const sent = fetchOverHttp(baseUrl, { method: 'GET', headers: {}, signal: new AbortController().signal });
    await expect(sent).rejects.toThrow('ended without an answer');
  });

  it('a small compressed answer cannot grow beyond the bound', async () => {
    const bomb = gzipSync(JSON.stringify({ ...bank, filler: 'x'.repeat(5_000_000) }));
    expect(bomb.byteLength).toBeLessThan(operations.validateAdaptiveBankIdentity.maxAnswerBytes);
    const result = await ask((_, response) => send(response, bomb, { 'content-encoding': 'gzip' }));
    expect(result).toMatchObject({ ok: false, error: { kind: 'malformed' } });
  });

  it('a redirect is not followed, so the credential goes nowhere else', async () => {
    const result = await ask((_, response) => {
      response.writeHead(307, { location: `${baseUrl}/elsewhere` }).end();
    });
    expect(result).toMatchObject({ ok: false, error: { kind: 'malformed', status: 307 } });
    expect(new Set(requests).size).toBe(1);
    expect(requests).toHaveLength(2);
  });
});
