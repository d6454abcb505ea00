import { connect } from 'node:net';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { createIssuer, createIssuerKey } from '#shared/stage/local-issuer.ts';
import { gatewayRow } from '#test/support/probe-routes.ts';
import { duringTests } from '#test/support/lazily.ts';
import { startTestGateway } from '#test/support/test-gateway.ts';
import { createThrottles } from './throttle.ts';

const says = `export const handler = async ({ resource, path, pathParameters }) =>
  ({ statusCode: 200, body: JSON.stringify({ resource, path, pathParameters }) });`;
/** Streams without end, as long as somebody reads. */
const endless = `
import { once } from 'node:events';
export const handler = awslambda.streamifyResponse(async (event, stream) => {
  stream.on('close', () => console.log('CLOSED'));
  const out = awslambda.HttpResponseStream.from(stream, { statusCode: 200 });
  while (!stream.destroyed) if (!out.write('x'.repeat(1024 * 1024))) await once(stream, 'drain');
});`;

const routes = [
  gatewayRow('act', 'POST', '/v1/acts'),
  gatewayRow('read', 'GET', '/v1/policies/{policyId}'),
  gatewayRow('endless', 'GET', '/v1/endless', 'stream'),
];
const functions = { act: says, read: says, endless };
const gateway = duringTests(() => startTestGateway({ functions, routes, timeoutSeconds: 60, limit: 1 }));
const impatient = duringTests(() =>
  startTestGateway({
    ...{ functions, routes, timeoutSeconds: 60, limit: 1 },
    patience: { requestMs: 400, responseMs: 400 },
  }),
);

/** Sends bytes and reads to the end of the connection, without ending its own side. */
async function send(to: { readonly url: string }, ...parts: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(to.url);
  const socket = connect(Number(port), hostname);
  for (const part of parts) socket.write(part);
  return text(socket);
}
const hostOf = ({ url }: { readonly url: string }): string => new URL(url).host;

describe('the limits of the gateway', () => {
  it('let 10,240 bytes of request line and headers pass, and refuse one more', async () => {
    const path = '/mastery/v1/policies/p';
    const host = hostOf(gateway);
    const fixed = `GET${path}Host${host}ConnectioncloseX`.length;
    const head = (more: number): string =>
      `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nX: ${'x'.repeat(10_240 - fixed + more)}\r\n\r\n`;
    expect(await send(gateway, head(0))).toMatch(/^HTTP\/1.1 200 /);
    expect(await send(gateway, head(1))).toMatch(/^HTTP\/1.1 431 .*"type":"about:blank"/s);
  });

  it.each([
    ['about (\\d+) learners with UUIDs', () => randomUUID()],
    [
      'about (\\d+) with URLs of 65 characters',
      () => `https://sis.example/v1p2/users/${randomUUID()}`.slice(0, 65),
    ],
    ['and (\\d+) with the longest ids', () => randomUUID().padEnd(255, 'x')],
  ])('permit a token with as many ids as the client guide says: %s', async (form, makeId) => {
    const said = Number(new RegExp(form).exec(readFileSync('docs/client-guide.md', 'utf8'))?.[1]);
    const issuer = await createIssuer(await createIssuerKey());
    const { sub, role, tenantId } = { sub: 'service-reports', role: 'service', tenantId: randomUUID() };
    const read = async (count: number): Promise<number> => {
      const studentIds = Array.from({ length: count }, makeId);
      const token = await issuer.issueToken(
        { sub, role, tenantId, scopes: ['reports:read'], studentIds },
        Date.now(),
      );
      const path = `/mastery/v1/policies/${randomUUID()}?view=evidence`;
      const traceparent = `00-${'0'.repeat(31)}1-${'0'.repeat(15)}1-01`;
      const headers = { Authorization: `Bearer ${token}`, Accept: 'application/json', traceparent };
      return (await fetch(gateway.url + path, { headers })).status;
    };
    expect(await read(said)).toBe(200);
    expect(await read(Math.ceil(1.1 * said) + 1)).toBe(431);
  });

  it('route a path with a slash at its end as the path without it, which the function sees', async () => {
    const response = await fetch(`${gateway.url}/mastery/v1/policies/p/`);
    expect(await response.json()).toEqual({
      resource: '/v1/policies/{policyId}',
      path: '/mastery/v1/policies/p/',
      pathParameters: { policyId: 'p' },
    });
    expect((await fetch(`${gateway.url}/mastery/v1/policies/p//`)).status).toBe(404);
    expect((await fetch(`${gateway.url}/mastery/v1/policies//`)).status).toBe(404);
  });

  it('block what the deployed firewall blocks, and not an id that looks like a file', async () => {
    const read = async (id: string): Promise<unknown> =>
      (await fetch(`${gateway.url}/mastery/v1/policies/${id}`)).json();
    expect(await read('%24%7Bjndi%3Aldap%3A%2F%2Fx%7D')).toEqual({ service: 'mastery', failure: 'filtered' });
    expect(await read('..%2Fserver.log')).toMatchObject({ pathParameters: { policyId: '..%2Fserver.log' } });
  });

  it('cut a body without end', async () => {
    const megabyte = `100000\r\n${'x'.repeat(1024 * 1024)}\r\n`;
    const head = `POST /mastery/v1/acts HTTP/1.1\r\nHost: ${hostOf(gateway)}\r\nTransfer-Encoding: chunked\r\n\r\n`;
    expect(await send(gateway, head, ...Array.from({ length: 21 }, () => megabyte))).toMatch(
      /^HTTP\/1.1 413 .*connection: close.*too-large/is,
    );
  });

  it.each([
    ['a body', (to: string) => `POST /mastery/v1/acts HTTP/1.1\r\nHost: ${to}\r\nContent-Length: 9\r\n\r\nx`],
    ['headers', (to: string) => `POST /mastery/v1/acts HTTP/1.1\r\nHost: ${to}\r\nX-`],
  ])('do not wait without end for %s', async (_, start) => {
    expect(await send(impatient, start(hostOf(impatient)))).toMatch(/^HTTP\/1.1 408 /);
  });

  it('take the response from a caller that does not read it to its end', async () => {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      httpRequest(`${impatient.url}/mastery/v1/endless`, resolve).on('error', reject).end();
    });
    await expect.poll(() => impatient.output, { timeout: 10_000 }).toContain('CLOSED');
    response.destroy();
  });
});

it('a throttled gateway returns its own problem to what exceeds the bucket of a method', async () => {
  const throttled = await startTestGateway({
    functions: { read: says, act: says },
    routes: [gatewayRow('read', 'GET', '/v1/policies/{policyId}'), gatewayRow('act', 'POST', '/v1/acts')],
    ...{ timeoutSeconds: 60, limit: 1, throttles: [{ per: 'method', ratePerSecond: 1e-9, burst: 2 }] },
  });
  const read = async (id: string): Promise<unknown> =>
    (await fetch(`${throttled.url}/mastery/v1/policies/${id}`)).json();
  expect(await read('a')).toMatchObject({ pathParameters: { policyId: 'a' } });
  expect(await read('b')).toMatchObject({ pathParameters: { policyId: 'b' } });
  expect(await read('c')).toEqual({ service: 'mastery', failure: 'throttled' });
  expect((await fetch(`${throttled.url}/mastery/v1/acts`, { method: 'POST' })).status).toBe(200);
  await throttled.close();
});

it('a bucket fills at its rate up to its burst, and one of the account is for all methods', () => {
  const now = vi.fn(() => 0);
  const admits = createThrottles(
    [
      { per: 'method', ratePerSecond: 2, burst: 2 },
      { per: 'account', ratePerSecond: 100, burst: 3 },
    ],
    now,
  );
  const admitted = (...methods: readonly string[]): readonly boolean[] => methods.map(admits);
  expect(admitted('a', 'a', 'a', 'b', 'b')).toEqual([true, true, false, true, false]);
  now.mockReturnValue(500);
  expect(admitted('a', 'a', 'b', 'b')).toEqual([true, false, true, true]);
});
