import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it, vi } from 'vitest';
import { gatewayRow } from '#test/support/probe-routes.ts';
import { duringTests } from '#test/support/lazily.ts';
import { startTestGateway } from '#test/support/test-gateway.ts';

/** A bundle as Lambda would run it: it does what the request's body says. */
const bundle = `
let served = 0;
let inFlight = 0;
let most = 0;
export const handler = async (event, context) => {
  served += 1;
  inFlight += 1;
  most = Math.max(most, inFlight);
  const wish = JSON.parse(event.body ?? '{}');
  console.log(JSON.stringify({ code: 'SERVED', wish: wish.do ?? null }));
  if (wish.do === 'throw') { inFlight -= 1; throw new Error('as wished'); }
  if (wish.do === 'exit') process.exit(3);
  if (wish.do === 'crash') setImmediate(() => { throw new Error('outside of the handler'); });
  if (wish.do === 'hang' || wish.do === 'crash') await new Promise(() => {});
  if (wish.do === 'nonsense') { inFlight -= 1; return 'nonsense'; }
  if (wish.do === 'large') { inFlight -= 1; return { statusCode: 200, body: 'x'.repeat(7 * 1024 * 1024) }; }
  if (wish.do === 'wait') await new Promise((resolve) => setTimeout(resolve, 20));
  inFlight -= 1;
  return {
    statusCode: 200,
    body: JSON.stringify({
      served,
      most,
      variables: process.env,
      remaining: context.getRemainingTimeInMillis(),
      requestId: event.requestContext.requestId,
      awsRequestId: context.awsRequestId,
    }),
  };
};
`;

interface Facts {
  readonly served: number;
  readonly most: number;
  readonly variables: Readonly<Record<string, string>>;
  readonly remaining: number;
  readonly requestId: string;
  readonly awsRequestId: string;
}

const acts = gatewayRow('act', 'POST', '/v1/acts');
const gateway = duringTests(() =>
  startTestGateway({
    functions: { act: bundle, read: bundle },
    routes: [acts, gatewayRow('read', 'GET', '/v1/policies/{policyId}')],
    timeoutSeconds: 1,
    limit: 2,
  }),
);

async function act(wish: object): Promise<Response> {
  return fetch(`${gateway.url}/mastery/v1/acts`, { method: 'POST', body: JSON.stringify(wish) });
}

const factsOf = async (wish: object): Promise<Facts> => (await (await act(wish)).json()) as Facts;

/** Sends bytes that no client library would, and reads to the end of the connection. */
async function raw(
  sent: string,
): Promise<{ readonly status: number; readonly head: string; readonly problem: unknown }> {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  // Not ended: who sends only half would not hear the answer.
  socket.write(sent);
  const [head = '', body = ''] = (await text(socket)).split(/\r\n\r\n(.*)/s);
  const problem: unknown = body === '' ? undefined : JSON.parse(body);
  return { status: Number(head.split(' ')[1]), head, problem };
}

describe('the gateway', () => {
  it('runs a bundle with its own variables and nothing of this process', async () => {
    const { variables, remaining, requestId, awsRequestId } = await factsOf({});
    expect(variables).toMatchObject({ STAGE: 'act', AWS_LAMBDA_FUNCTION_NAME: 'act' });
    expect(variables).not.toHaveProperty('PATH');
    expect(variables).not.toHaveProperty('HOME');
    expect(remaining).toBeGreaterThan(0);
    expect(remaining).toBeLessThanOrEqual(1000);
    expect(awsRequestId).toBe(requestId);
  });

  it('serves one request at a time in an environment, and makes the others wait at the limit', async () => {
    const all = await Promise.all(Array.from({ length: 6 }, () => factsOf({ do: 'wait' })));
    expect(all.map(({ most }) => most)).toStrictEqual([1, 1, 1, 1, 1, 1]);
    expect(new Set(all.map(({ requestId }) => requestId)).size).toBe(6);
  });

  it.each(['throw', 'exit', 'crash', 'hang', 'nonsense', 'large'])(
    'answers for a function that does this: %s, and serves the next request',
    async (wish) => {
      const response = await act({ do: wish });
      expect(response.status).toBe(500);
      expect(await response.json()).toMatchObject({ service: 'mastery', failure: 'integration-failed' });
      expect((await act({})).status).toBe(200);
    },
  );

  it('replaces an environment that is killed in the middle of a request', async () => {
    gateway.output = '';
    const hanging = act({ do: 'hang' });
    await expect.poll(() => gateway.output, { timeout: 10_000 }).toContain('"wish":"hang"');
    expect(await gateway.pool.kill('read')).toBe(0);
    expect(await gateway.pool.kill('act')).toBe(1);
    expect((await hanging).status).toBe(500);
    expect((await factsOf({})).served).toBe(1);
  });

  it.each([
    ['GET', '/mastery/v1/unknown'],
    ['GET', '/mastery/v1/acts'],
    ['PUT', '/mastery/v1/acts'],
    ['DELETE', '/mastery/v1/acts'],
    ['OPTIONS', '/mastery/v1/acts'],
    ['POST', '/mastery/v1/%61cts'],
    ['POST', '/docs'],
    ['GET', '/elsewhere'],
  ])('answers %s %s itself: no such route', async (method, path) => {
    const response = await fetch(gateway.url + path, { method });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ failure: 'no-route' });
  });

  it.each([
    ['a body above 10 MiB', { method: 'POST', body: Buffer.alloc(10 * 1024 * 1024 + 1, 0x20) }, 'too-large'],
    [
      'a body that no invocation can carry',
      { method: 'POST', body: 'x'.repeat(6 * 1024 * 1024) },
      'too-large',
    ],
    ['a header that would change the method', { headers: { 'X-HTTP-Method-Override': '' } }, 'filtered'],
  ])('refuses %s without waking a function', async (_, init, failure) => {
    gateway.output = '';
    const path = 'body' in init ? 'acts' : 'policies/p';
    const response = await fetch(`${gateway.url}/mastery/v1/${path}`, init);
    expect(await response.json()).toMatchObject({ failure });
    expect(gateway.output).toBe('');
  });

  it.each(['evil.example', 'localhost', '127.0.0.1:1'])(
    'answers 421 to the host %s, and no page or function: a browser page cannot reach it by DNS rebinding',
    async (host) => {
      gateway.output = '';
      for (const path of ['/mastery/v1/policies/p', '/docs']) {
        const answer = await raw(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
        expect(answer).toMatchObject({ status: 421, problem: { type: 'about:blank', status: 421 } });
      }
      expect(gateway.output).toBe('');
    },
  );

  it.each([
    ['no request line', 'NONSENSE\r\n\r\n', 400],
    ['no Host', 'GET /docs HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ['two of Host', 'GET /docs HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n', 400],
    ['a blank in a header name', 'GET /docs HTTP/1.1\r\nHost: a\r\nX y: z\r\n\r\n', 400],
    [
      'two lengths',
      'POST /docs HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    ['oversized headers', `GET /docs HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ])('answers %s with a problem', async (_, sent, status) => {
    const answer = await raw(sent);
    expect(answer.status).toBe(status);
    expect(answer.head).toMatch(/^content-type: application\/problem\+json$/im);
    const some = expect.stringMatching(/./) as string;
    expect(answer.problem).toEqual({ type: 'about:blank', title: some, status, detail: some });
  });

  it('reports the template of a served route, never its path', async () => {
    await fetch(`${gateway.url}/mastery/v1/policies/secret?x=secret`);
    expect(gateway.accesses.at(-1)).toMatchObject({
      method: 'GET',
      resource: '/mastery/v1/policies/{policyId}',
      status: 200,
    });
    expect(JSON.stringify(gateway.accesses)).not.toContain('secret');
  });
});

// That hangs up: streaming.test.ts.
it('a caller that has been answered that it took too long is made known to the pool', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  let caller: AbortSignal | undefined;
  const hanging = await startTestGateway({
    ...{ functions: {}, routes: [acts], timeoutSeconds: 1, limit: 1 },
    invoke: () => (_name, _event, _id, signal) => {
      caller = signal;
      vi.advanceTimersByTime(29_000);
      return new Promise(() => {});
    },
  });
  const response = await fetch(`${hanging.url}/mastery/v1/acts`, { method: 'POST' });
  expect(await response.json()).toMatchObject({ failure: 'integration-timeout' });
  vi.useRealTimers();
  await vi.waitFor(() => expect(caller?.aborted).toBe(true));
  await hanging.close();
});
