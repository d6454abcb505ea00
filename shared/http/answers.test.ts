import type { Context } from 'aws-lambda';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ServiceName } from '#shared/contract/route.ts';
import { err, ok } from '#shared/kernel/result.ts';
import { bufferedFunction } from '#shared/lambda/lambda-function.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { problem } from '#shared/problems/registry.ts';
import { proxyEvent, type TestAnswer, type TestLambda } from '#test/support/lambda.ts';
import { readProbe, seen, streamedProbe, testProbe } from '#test/support/probe-routes.ts';
import type { OperationAnswer } from './operation.ts';

// What goes out, whatever the operation has done. Every route: test/lemmas.

const MEGABYTE = 1024 * 1024;
const requestId = '6d8f3c1e-58a7-4a0e-9a53-3f8e5d0c1b2a';
type Answer = OperationAnswer<ReturnType<typeof readProbe>>;

const services: readonly ServiceName[] = ['mastery', 'reports'];
const returning = (answer: unknown, row = readProbe('reports')): Promise<TestLambda> =>
  testProbe(row, () => Promise.resolve(ok(answer as Answer)));
const failing = (failure: Problem): Promise<TestLambda> =>
  testProbe(readProbe(failure.service), () => Promise.resolve(err(failure)));
const hidden = problem('reports', 'not-found', 404);

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('the headers of an answer', () => {
  const ofEvery = {
    'X-Request-Id': requestId,
    'Cache-Control': 'no-store, no-transform',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'Strict-Transport-Security': 'max-age=63072000; includeSubDomains',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Resource-Policy': 'same-origin',
  };

  it('are these and those that the operation gives, under the gateway’s request id [MA-147]', async () => {
    const lambda = await returning({ body: { seen: { a: 1 } }, headers: { ETag: '"v1"' } });
    const { text, headers } = await lambda.invoke({ requestId });
    expect(text).toBe('{"seen":{"a":1}}');
    expect(headers).toEqual({ ...ofEvery, 'Content-Type': 'application/json', ETag: '"v1"' });
    const denial = await (await failing(hidden)).invoke({ requestId });
    expect(denial.headers).toEqual({ ...ofEvery, 'Content-Type': 'application/problem+json' });
  });

  it('name a request id of the server’s own: a caller cannot choose it', async () => {
    const chosen = '00000000-0000-4000-8000-000000000001';
    const lambda = await returning({ body: { seen: {} } });
    for (const request of [
      { requestId: chosen, headers: { 'X-Amzn-RequestId': chosen } },
      { requestId: 'x"; canary' },
      { requestId: '' },
    ]) {
      const own = (await lambda.invoke(request)).headers['X-Request-Id'];
      expect(own).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(own).not.toBe(chosen);
    }
  });

  it('allow an origin that is sent once', async () => {
    const ALLOWED_ORIGINS = 'https://a.example,https://b.example';
    const lambda = await testProbe(readProbe('reports'), seen, { environment: { ALLOWED_ORIGINS } });
    const allowed = async (...origins: readonly string[]): Promise<unknown> =>
      (await lambda.invoke({ headers: { Origin: origins } })).headers['Access-Control-Allow-Origin'];
    expect(await allowed('https://b.example')).toBe('https://b.example');
    expect(await allowed('https://b.example', 'https://b.example')).toBeUndefined();
  });
});

it('follows an accepted traceparent and makes a trace id for any other [RP-327]', async () => {
  const lambda = await failing(hidden);
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
  const traceOf = async (traceparent: string | readonly string[]): Promise<unknown> =>
    (await lambda.invoke({ headers: { traceparent } })).body['traceId'];
  const good = `00-${trace}-00f067aa0ba902b7-01`;
  for (const taken of [good, `cc-${trace}-00f067aa0ba902b7-01-and-more`])
    expect(await traceOf(taken)).toBe(trace);
  for (const refused of [
    good.replace(trace, '0'.repeat(32)),
    `00-${trace}-${'0'.repeat(16)}-01`,
    good.replace('00-', 'ff-'),
    `${good}-and-more`,
    good.replace(trace, trace.toUpperCase()),
    trace,
    'canary',
    [good, good],
  ]) {
    const made = await traceOf(refused);
    expect([refused, made]).toEqual([refused, expect.stringMatching(/^[0-9a-f]{32}$/)]);
    expect(made).not.toBe(trace);
  }
});

// That none has anything of its request: test/lemmas/requests.contract.test.ts.
describe('the log lines of a request', () => {
  it('are one STARTED and one COMPLETED with route, status and duration', async () => {
    vi.stubEnv('AWS_LAMBDA_INITIALIZATION_TYPE', 'on-demand');
    const lambda = await testProbe(readProbe('mastery'), () => {
      lambda.clock.now += 42;
      return seen();
    });
    for (const request of [{}, {}, { path: {} }]) await lambda.invoke(request);
    const lines = lambda.lines.map((line) => JSON.parse(line) as unknown);
    const started = { code: 'REQUEST_STARTED', method: 'GET' };
    const completed = { code: 'REQUEST_COMPLETED', operation: 'readProbe', status: 200, durationMs: 42 };
    expect(lines).toMatchObject([
      started,
      { ...completed, cold_start: true },
      started,
      { ...completed, cold_start: false },
      started,
      { code: 'REQUEST_REFUSED' },
      { ...completed, status: 400, durationMs: 0, problem: 'invalid-request' },
    ]);
  });

  it('say that a learner waits, unless the request is the canary’s or has no valid token', async () => {
    const row = { ...readProbe('mastery'), learnersWait: true as const };
    const completed = async (tenant?: string, request = {}) => {
      const lambda = await testProbe(row, seen, { environment: { CANARY_TENANT: tenant } });
      await lambda.invoke(request);
      return JSON.parse(lambda.lines.at(-1) ?? '') as unknown;
    };
    expect(await completed()).toMatchObject({ learnersWait: true });
    expect(await completed('tenant-of-another')).toMatchObject({ learnersWait: true });
    expect(await completed('tenant-aurora')).not.toHaveProperty('learnersWait');
    // Many requests with an expired token must not make the share of failures small.
    const refused = await completed(undefined, { headers: { Authorization: undefined } });
    expect(refused).toMatchObject({ status: 401 });
    expect(refused).not.toHaveProperty('learnersWait');
  });

  it('note an owner that is to blame with its own request id', async () => {
    const upstream = {
      service: 'bank',
      operation: 'bank.read_adaptive_pool_manifest',
      requestId: 'up-1',
    } as const;
    for (const [failure, noted] of [
      [
        problem('mastery', 'upstream-unavailable', 424, { upstream, retryable: false }),
        { owner: 'bank', upstreamOperation: upstream.operation, upstreamRequestId: 'up-1', retryable: false },
      ],
      [
        problem('reports', 'dependency-unavailable', 503, { dependency: 'results' }),
        { owner: 'results', retryable: true },
      ],
    ] as const) {
      const lambda = await failing(failure);
      await lambda.invoke();
      const line = lambda.lines.find((text) => text.includes('UPSTREAM_FAILED')) ?? '{}';
      expect(JSON.parse(line)).toMatchObject(noted);
    }
  });
});

describe.each(services)('an internal error of %s', (service) => {
  const row = readProbe(service);
  const rule = service === 'mastery' ? '[MA-224]' : '[RP-324]';

  /** The answer is a retryable 500; neither it nor the log has anything of what went wrong. */
  function expectError(answer: TestAnswer, { lines }: TestLambda): void {
    expect(answer).toMatchObject({
      summary: '500 internal-error',
      headers: { 'Retry-After': '5', 'Content-Type': 'application/problem+json' },
      body: { retryable: true },
    });
    expect(answer.text + JSON.stringify(answer.headers) + lines.join('')).not.toContain('canary');
  }

  it(`is what becomes of a defect ${rule}`, async () => {
    const secrets = 'canary at /srv/secret.ts: {"resultsStudentId":"canary"}';
    const exposed = { statusCode: 403, body: secrets, headers: { 'X-Canary': 'canary' }, expose: true };
    for (const defect of [
      new Error(secrets, { cause: new TypeError(secrets) }),
      Object.assign(new Error(secrets), exposed),
      secrets,
      undefined,
      { statusCode: 200, body: secrets },
    ]) {
      // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- a defect may throw anything
      const lambda = await testProbe(row, () => Promise.reject(defect));
      expectError(await lambda.invoke(), lambda);
    }
  });

  it(`is what becomes of an answer with an undeclared, missing or malformed part ${rule}`, async () => {
    for (const answer of [
      { body: { seen: {}, canary: 'canary' } },
      { body: {} },
      { body: { seen: 'canary' } },
      { body: null },
      { body: { seen: {} }, headers: { 'X-Canary': 'canary' } },
      { body: { seen: {} }, headers: { ETag: 'W/"canary"' } },
      { body: { seen: {} }, headers: { Link: 'canary\r\nSet-Cookie: canary' } },
    ]) {
      for (const one of [row, ...(service === 'reports' ? [streamedProbe()] : [])]) {
        const lambda = await returning(answer, one);
        expectError(await lambda.invoke(), lambda);
        expect(lambda.lines.join('')).toContain('ANSWER_REFUSED');
      }
    }
  });

  it('still goes out before the function is stopped when the operation hangs', async () => {
    const lambda = await testProbe(row, () => new Promise(() => undefined), { remainingMs: 760 });
    expectError(await lambda.invoke(), lambda);
  });

  it('is the answer while environment variables are missing; the log names them and no value', async () => {
    const lambda = await testProbe(row, seen, {
      environment: {
        TOKEN_ISSUER: undefined,
        TOKEN_ALGORITHMS: 'HS256-canary',
        PROBLEMS_URL: 'http://canary.example',
      },
    });
    const answer = await lambda.invoke();
    expectError(answer, lambda);
    expect(answer.body['type']).toBe('https://docs.mastery-reports.example/problems/internal-error');
    const line = lambda.lines.find((text) => text.includes('ENVIRONMENT_INVALID')) ?? '{}';
    expect(JSON.parse(line)).toMatchObject({
      variables: ['TOKEN_ISSUER', 'TOKEN_ALGORITHMS', 'PROBLEMS_URL'],
    });
  });
});

describe('a buffered answer', () => {
  const row = readProbe('reports');

  /** The bytes that a function returns for a text of this length, as Lambda counts them. */
  async function returned(text: string): Promise<{ readonly status: number; readonly bytes: number }> {
    const answer = await (await returning({ body: { seen: { text } } })).answer({ path: { probeId: 'p' } });
    const whole = bufferedFunction(() => Promise.resolve(answer));
    const result = await whole(proxyEvent(row, {}), {} as Context);
    return { status: answer.statusCode, bytes: Buffer.byteLength(JSON.stringify(result)) };
  }

  it.each([
    ['plain', 'x'],
    ['escaped twice', '"'],
    ['of more bytes than characters', '語'],
  ])(
    'of text that is %s never outgrows the 6 MB of a function: it is a 500 instead [RP-228]',
    async (_, unit) => {
      const perUnit = Buffer.byteLength(JSON.stringify(JSON.stringify(unit))) - '"\\"\\""'.length;
      const fits = await returned(unit.repeat(Math.floor((6 * MEGABYTE - 32 * 1024) / perUnit)));
      expect(fits.status).toBe(200);
      expect(fits.bytes).toBeGreaterThan(5.9 * MEGABYTE);
      expect(fits.bytes).toBeLessThanOrEqual(6 * MEGABYTE);
      expect((await returned(unit.repeat(Math.ceil((6 * MEGABYTE) / perUnit)))).status).toBe(500);
    },
  );

  it('that is too large is told in the log; one that its route streams may be of any size', async () => {
    const large = { body: { seen: { text: 'canary'.repeat(MEGABYTE + 1) } } };
    const lambda = await returning(large);
    expect((await lambda.invoke()).summary).toBe('500 internal-error');
    expect(lambda.lines.join('')).toContain('larger than 6 MB');
    expect(lambda.lines.join('')).not.toContain('canary');
    const streamed = await (await returning(large, streamedProbe())).invoke();
    expect([streamed.status, streamed.headers['Vary']]).toEqual([200, 'Accept-Encoding']);
  });
});
