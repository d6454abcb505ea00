import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Gate } from '#shared/contract/gates.ts';
import type { Route, ServiceName } from '#shared/contract/route.ts';
import { err, ok } from '#shared/kernel/result.ts';
import { reportsProblem } from '#shared/contract/reports/problem.ts';
import { masteryProblem } from '#shared/problems/document.ts';
import { problem } from '#shared/problems/registry.ts';
import { closed } from '#shared/release/release-state.ts';
import type { ReleaseWatch, WatchedRelease } from '#shared/release/watch-release.ts';
import { createTestIssuer, proxyEvent, testLambda, testNow } from '#test/support/lambda.ts';
import type { TestAnswer, TestIssuer, TestLambdaOptions, TestRequest } from '#test/support/lambda.ts';
import { actOnProbe, readProbe } from '#test/support/probe-routes.ts';
import { wholeRelease } from '#test/support/release.ts';
import type { Operation, OperationAnswer } from './operation.ts';
import { createPipeline } from './pipeline.ts';
import type { Runtime } from '#shared/lambda/runtime.ts';

let issuer: TestIssuer;
beforeAll(async () => {
  issuer = await createTestIssuer();
});

const services: readonly ServiceName[] = ['mastery', 'reports'];
type Probe = ReturnType<typeof readProbe>;

describe.each(services)('an answer of %s', (service) => {
  const isMastery = service === 'mastery';
  const row = readProbe(service);
  const bind = (operation: Operation<Probe>, options: Partial<TestLambdaOptions> = {}) =>
    testLambda(row, operation, { issuer, ...options });
  const answering = async (answer: unknown, request: TestRequest = {}): Promise<TestAnswer> =>
    (await bind(() => Promise.resolve(ok(answer as OperationAnswer<Probe>)))).invoke({
      path: { probeId: 'p' },
      ...request,
    });
  const suffix = ({ body }: TestAnswer): string =>
    String(body['type']).replace('https://docs.example/problems/', '');

  it('is JSON that nobody keeps, under the gateway’s request id [MA-147]', async () => {
    const requestId = '6d8f3c1e-58a7-4a0e-9a53-3f8e5d0c1b2a';
    const answer = await answering({ body: { seen: { a: 1 } }, headers: { ETag: '"v1"' } }, { requestId });
    expect(answer).toMatchObject({ status: 200, text: '{"seen":{"a":1}}' });
    expect(answer.headers).toEqual({
      'Content-Type': 'application/json',
      ETag: '"v1"',
      'X-Request-Id': requestId,
      'Cache-Control': 'no-store',
      'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
      'Strict-Transport-Security': 'max-age=63072000; includeSubDomains',
      'X-Content-Type-Options': 'nosniff',
      'X-Frame-Options': 'DENY',
      'Referrer-Policy': 'no-referrer',
      'Cross-Origin-Resource-Policy': 'same-origin',
    });
  });

  it(`is never one with an undeclared, missing or malformed part: 500 instead ${isMastery ? '[MA-224]' : ''}`, async () => {
    const hostile: readonly unknown[] = [
      { body: { seen: {}, canary: 'canary' } },
      { body: {} },
      { body: { seen: 'canary' } },
      { body: null },
      { body: { seen: {} }, headers: { 'X-Canary': 'canary' } },
      { body: { seen: {} }, headers: { ETag: 'W/"canary"' } },
      { body: { seen: {} }, headers: { Link: 'canary\r\nSet-Cookie: canary' } },
    ];
    for (const answer of hostile) {
      const lambda = await bind(() => Promise.resolve(ok(answer as OperationAnswer<Probe>)));
      const got = await lambda.invoke({ path: { probeId: 'p' } });
      expect(got.status, JSON.stringify(answer)).toBe(500);
      expect(suffix(got)).toBe('internal-error');
      expect(got.text + JSON.stringify(got.headers)).not.toContain('canary');
      expect(lambda.lines.join('')).toContain('ANSWER_REFUSED');
      expect(lambda.lines.join('')).not.toContain('canary');
    }
  });

  it(`to a defect is a fresh problem that shows nothing of it ${isMastery ? '[MA-224]' : '[RP-324]'}`, async () => {
    const secrets = 'canary at /srv/secret.ts: {"resultsStudentId":"canary"}';
    const defects: readonly unknown[] = [
      new Error(secrets, { cause: new TypeError(secrets) }),
      Object.assign(new Error(secrets), {
        statusCode: 403,
        body: secrets,
        headers: { 'X-Canary': 'canary' },
        expose: true,
      }),
      secrets,
      undefined,
      { statusCode: 200, body: secrets },
    ];
    for (const defect of defects) {
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- a defect may throw anything
      const lambda = await bind(() => Promise.reject(defect));
      const answer = await lambda.invoke({ path: { probeId: 'p' } });
      expect(answer).toMatchObject({
        status: 500,
        headers: { 'Retry-After': '5', 'Content-Type': 'application/problem+json' },
      });
      expect(answer.body['detail']).toBe(
        'The service failed unexpectedly. No detail is disclosed; quote the requestId to its operators.',
      );
      expect(answer.text + JSON.stringify(answer.headers) + lambda.lines.join('')).not.toContain('canary');
    }
  });

  it(`that is a problem has its envelope and headers ${isMastery ? '[MA-147, MA-206, MA-207]' : '[RP-322, RP-326, RP-327]'}`, async () => {
    const requestId = '6d8f3c1e-58a7-4a0e-9a53-3f8e5d0c1b2a';
    const missing = isMastery
      ? problem('mastery', 'resource-not-found', 404)
      : problem('reports', 'not-found', 404);
    const lambda = await bind(() => Promise.resolve(err(missing)));
    const answer = await lambda.invoke({ path: { probeId: 'learner-7' }, requestId });
    expect(answer.status).toBe(404);
    expect((isMastery ? masteryProblem : reportsProblem).parse(answer.body)).toEqual(answer.body);
    expect(answer.body).toMatchObject({ requestId, instance: `urn:uuid:${requestId}`, status: 404 });
    expect(answer.headers).toMatchObject({
      'Content-Type': 'application/problem+json',
      'X-Request-Id': requestId,
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
    });
    expect(answer.headers).not.toHaveProperty('Retry-After');
    expect(answer.text).not.toContain('learner-7');
  });

  it(`that denies is the same to the byte for whatever is denied ${isMastery ? '[MA-214]' : '[RP-316]'}`, async () => {
    const requestId = '6d8f3c1e-58a7-4a0e-9a53-3f8e5d0c1b2a';
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const denials = isMastery
      ? [
          problem('mastery', 'resource-not-found', 404),
          { ...problem('mastery', 'resource-not-found', 404), hint: 'other tenant' },
        ]
      : [
          problem('reports', 'not-found', 404),
          { ...problem('reports', 'not-found', 404), hint: 'other tenant' },
        ];
    const texts = await Promise.all(
      denials.map(async (denial) => {
        const lambda = await bind(() => Promise.resolve(err(denial)));
        const answer = await lambda.invoke({
          path: { probeId: crypto.randomUUID() },
          requestId,
          headers: { traceparent },
        });
        return answer.text + JSON.stringify(answer.headers);
      }),
    );
    expect(new Set(texts).size).toBe(1);
  });

  it('has a request id of the server’s own: a caller cannot choose it', async () => {
    const chosen = '00000000-0000-4000-8000-000000000001';
    const lambda = await bind(() => Promise.resolve(ok({ body: { seen: {} } })));
    for (const request of [
      { requestId: chosen, headers: { 'X-Amzn-RequestId': chosen } },
      { requestId: 'x"; canary' },
      { requestId: '' },
    ]) {
      const answer = await lambda.invoke({ path: { probeId: 'p' }, ...request });
      expect(answer.headers['X-Request-Id']).toMatch(
        /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      );
      expect(answer.headers['X-Request-Id']).not.toBe(chosen);
    }
  });

  if (!isMastery)
    it('follows an accepted traceparent and makes a trace id for any other [RP-327]', async () => {
      const lambda = await bind(() => Promise.resolve(err(problem('reports', 'not-found', 404))));
      const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
      const traceOf = async (traceparent: string | readonly string[]): Promise<unknown> =>
        (await lambda.invoke({ path: { probeId: 'p' }, headers: { traceparent } })).body['traceId'];
      expect(await traceOf(`00-${trace}-00f067aa0ba902b7-01`)).toBe(trace);
      expect(await traceOf(`cc-${trace}-00f067aa0ba902b7-01-and-more`)).toBe(trace);
      for (const refused of [
        `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
        `00-${trace}-${'0'.repeat(16)}-01`,
        `ff-${trace}-00f067aa0ba902b7-01`,
        `00-${trace}-00f067aa0ba902b7-01-and-more`,
        `00-${trace.toUpperCase()}-00f067aa0ba902b7-01`,
        trace,
        'canary',
        [`00-${trace}-00f067aa0ba902b7-01`, `00-${trace}-00f067aa0ba902b7-01`],
      ]) {
        const got = await traceOf(refused);
        expect(got, String(refused)).toMatch(/^[0-9a-f]{32}$/);
        expect(got, String(refused)).not.toBe(trace);
      }
    });

  it('keeps the deprecation headers of its resource, a problem too [MA-049, MA-050]', async () => {
    const headers = { Deprecation: '@1767225600', Sunset: 'Fri, 01 Jan 2027 00:00:00 GMT' };
    expect((await answering({ body: { seen: {} }, headers })).headers).toMatchObject(headers);
    const failure = isMastery
      ? problem('mastery', 'calibration-invalid', 422, { headers })
      : problem('reports', 'dependency-incomplete', 503, { dependency: 'content', headers });
    const lambda = await bind(() => Promise.resolve(err(failure)));
    expect((await lambda.invoke({ path: { probeId: 'p' } })).headers).toMatchObject(headers);
  });

  it('of an operation that hangs still goes out before the function is stopped', async () => {
    const lambda = await bind(() => new Promise(() => undefined), { remainingMs: 760 });
    expect(await lambda.invoke({ path: { probeId: 'p' } })).toMatchObject({
      status: 500,
      body: { retryable: true },
    });
  });

  it('that is a problem of the other service is a defect; one that the route does not declare is noted', async () => {
    const foreign = isMastery
      ? problem('reports', 'not-found', 404)
      : problem('mastery', 'resource-not-found', 404);
    expect(
      (await (await bind(() => Promise.resolve(err(foreign)))).invoke({ path: { probeId: 'p' } })).status,
    ).toBe(500);
    const undeclared = isMastery
      ? problem('mastery', 'precondition-required', 428)
      : problem('reports', 'source-version-conflict', 409, { dependency: 'qti' });
    const lambda = await bind(() => Promise.resolve(err(undeclared)));
    expect((await lambda.invoke({ path: { probeId: 'p' } })).status).toBe(undeclared.status);
    expect(lambda.lines.join('')).toContain('PROBLEM_UNDECLARED');
  });

  it('is an internal error while environment variables are missing; the log names them and no value', async () => {
    const lambda = await bind(() => Promise.resolve(ok({ body: { seen: {} } })), {
      environment: {
        TOKEN_ISSUER: undefined,
        TOKEN_ALGORITHMS: 'HS256-canary',
        PROBLEMS_URL: 'http://canary.example',
      },
    });
    const answer = await lambda.invoke({ path: { probeId: 'p' } });
    expect(answer.status).toBe(500);
    expect(answer.body['type']).toBe('https://docs.mastery-reports.example/problems/internal-error');
    const line = lambda.lines.find((text) => text.includes('ENVIRONMENT_INVALID')) ?? '{}';
    expect(JSON.parse(line)).toMatchObject({
      variables: ['TOKEN_ISSUER', 'TOKEN_ALGORITHMS', 'PROBLEMS_URL'],
    });
    expect(lambda.lines.join('')).not.toContain('canary');
  });

  it('that blames an owner is noted with the owner’s own request id', async () => {
    const failure = isMastery
      ? problem('mastery', 'upstream-unavailable', 424, {
          upstream: { service: 'bank', operation: 'bank.read_adaptive_pool_manifest', requestId: 'up-1' },
          retryable: false,
        })
      : problem('reports', 'dependency-unavailable', 503, { dependency: 'results' });
    const lambda = await bind(() => Promise.resolve(err(failure)));
    await lambda.invoke({ path: { probeId: 'p' } });
    const line = lambda.lines.find((text) => text.includes('UPSTREAM_FAILED')) ?? '{}';
    expect(JSON.parse(line)).toMatchObject(
      isMastery
        ? {
            owner: 'bank',
            upstreamOperation: 'bank.read_adaptive_pool_manifest',
            upstreamRequestId: 'up-1',
            retryable: false,
          }
        : { owner: 'results', retryable: true },
    );
  });

  it('tells the operation when it must be done: the function’s time less 1.5 s', async () => {
    const times: (readonly [number, number])[] = [];
    const lambda = await bind(
      ({ receivedAt, deadline }) => {
        times.push([receivedAt, deadline]);
        return Promise.resolve(ok({ body: { seen: {} } }));
      },
      { remainingMs: 10_000 },
    );
    await lambda.invoke({ path: { probeId: 'p' } });
    expect(times).toEqual([[testNow, testNow + 8_500]]);
  });

  it('never has anything of a request in a log line: no token, header, path, query or body [MA-007]', async () => {
    const texts = fc.string({ minLength: 6, maxLength: 30 }).map((text) => `canary${text}`);
    const probe: Route = actOnProbe(service);
    const lambda = await testLambda(
      probe,
      ({ idempotent }) => idempotent(() => Promise.resolve(ok({ body: { seen: {} } }))),
      { issuer },
    );
    await fc.assert(
      fc.asyncProperty(texts, texts, fc.boolean(), fc.uuid(), async (a, b, valid, key) => {
        const token = await issuer.sign({ sub: a, role: b, jti: 'canary' });
        await lambda.invoke({
          path: { probeId: a },
          query: valid ? {} : { [b]: a },
          headers: {
            Authorization: valid ? `Bearer ${token}` : `Bearer ${token}${b}`,
            'Idempotency-Key': key,
            'If-Match': a,
            'User-Agent': b,
            'X-Canary': 'canary',
            traceparent: '00-ca0a17ca0a17ca0a17ca0a17ca0a17ca-00f067aa0ba902b7-01',
          },
          body: valid ? { attemptId: a, weights: { [b]: 1 } } : { attemptId: 1, [a]: b },
        });
        const written = lambda.lines.splice(0).join('');
        for (const secret of ['canary', key, token.split('.')[2] ?? '', 'ca0a17ca0a17', 'tenant-aurora'])
          expect(written).not.toContain(secret);
        expect(written).toContain('REQUEST_STARTED');
        expect(written).toContain('REQUEST_COMPLETED');
      }),
      { numRuns: 60 },
    );
  });

  it('never has what a thrown error quotes of a body, in message, cause or stack, and says where it was thrown [MA-007]', async () => {
    const lambda = await testLambda(
      actOnProbe(service),
      ({ body }) => {
        const quoted = JSON.stringify(body);
        const error = new RangeError(`cannot weigh ${quoted}`, { cause: new SyntaxError(quoted) });
        error.stack = `${error.stack ?? ''}\n    at ${quoted} (file:///${quoted}:1:1)\n${quoted}`;
        throw error;
      },
      { issuer },
    );
    const { status } = await lambda.invoke({ path: { probeId: 'p' }, body: { attemptId: 'canary-5eed' } });
    expect(status).toBe(500);
    const failed = lambda.lines.find((line) => line.includes('REQUEST_FAILED')) ?? '{}';
    expect(JSON.parse(failed)).toMatchObject({
      error: 'RangeError',
      causes: ['SyntaxError'],
      frames: expect.arrayContaining([expect.stringContaining('pipeline-answer.test.ts')]) as unknown,
    });
    expect(lambda.lines.join('')).not.toContain('canary');
  });

  it('is told by one STARTED and one COMPLETED line with route, status and duration', async () => {
    const lambda = await bind(() => {
      lambda.clock.now += 42;
      return Promise.resolve(ok({ body: { seen: {} } }));
    });
    for (let n = 0; n < 2; n += 1) await lambda.invoke({ path: { probeId: 'p' } });
    await lambda.invoke({ path: {} });
    const lines = lambda.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.map(({ code }) => code)).toEqual([
      'REQUEST_STARTED',
      'REQUEST_COMPLETED',
      'REQUEST_STARTED',
      'REQUEST_COMPLETED',
      'REQUEST_STARTED',
      'REQUEST_REFUSED',
      'REQUEST_COMPLETED',
    ]);
    expect(lines.filter(({ code }) => code === 'REQUEST_COMPLETED')).toMatchObject([
      { service, operation: 'readProbe', status: 200, durationMs: 42 },
      { service, operation: 'readProbe', status: 200, durationMs: 42 },
      { status: 400, durationMs: 0, problem: isMastery ? 'invalid-request' : 'validation' },
    ]);
  });
});

describe('a withdrawn gate', () => {
  const gates: readonly Gate[] = ['C', 'D'];
  const gated = { ...actOnProbe('reports'), gates };
  const operation = (): ReturnType<Operation<typeof gated>> => Promise.resolve(ok({ body: { seen: {} } }));

  async function sendTo(
    watched: WatchedRelease,
    request: TestRequest = {},
  ): Promise<TestAnswer & { readonly said: string }> {
    const lambda = await testLambda(gated, operation, {
      issuer,
      release: () => Promise.resolve(watched),
      // Whatever a stage logs, it says why its routes are closed.
      environment: { LOG_LEVEL: 'error' },
    });
    lambda.table.fail(new Error('must not be asked'));
    const answer = await lambda.invoke({
      path: { probeId: 'p' },
      body: { attemptId: 'a' },
      ...request,
    });
    return { ...answer, said: lambda.lines.join('') };
  }
  const without = (...names: readonly Gate[]): WatchedRelease => ({
    state: { ...wholeRelease, open: new Set([...wholeRelease.open].filter((gate) => !names.includes(gate))) },
  });

  it('is a 503 to whoever may call with a well-formed request, before any idempotency [RP-018]', async () => {
    expect((await sendTo(without('C'))).status).toBe(503);
    expect((await sendTo(without('C'), { body: {} })).status).toBe(400);
    expect((await sendTo(without('C'), { headers: { Authorization: '' } })).status).toBe(401);
  });

  it('tells the caller to come again and not what is closed or why; the log does [RP-324]', async () => {
    const withdrawn = await sendTo(without('C', 'B'));
    const unproved = await sendTo({ state: closed, fault: 'unreadable', error: new TypeError('secret') });
    for (const { headers, body, text } of [withdrawn, unproved]) {
      expect(headers['Retry-After']).toBe('5');
      expect(body).toMatchObject({ retryable: true, dependency: 'unknown' });
      expect(body['type']).toBe('https://docs.example/problems/dependency-unavailable');
      expect(text).not.toMatch(/gate|withdr|releas|manifest|secret/i);
    }
    expect(withdrawn.said).toMatch(/"code":"RELEASE_WITHDRAWN"[^}]*"missing":\["C"\]/);
    expect(unproved.said).toMatch(/"code":"RELEASE_UNPROVED"/);
    expect(unproved.said).toMatch(/"reason":"unreadable"/);
    expect(unproved.said).toMatch(/"error":"TypeError"/);
    expect(unproved.said).not.toContain('secret');
  });

  it('is not looked at where a route waits for none, and a route that waits cannot be made without a look', async () => {
    const asked: unknown[] = [];
    const release: ReleaseWatch = () => {
      asked.push(1);
      return Promise.resolve({ state: closed });
    };
    const lambda = await testLambda(actOnProbe('mastery'), operation, { issuer, release });
    expect((await lambda.invoke({ path: { probeId: 'p' }, body: { attemptId: 'a' } })).status).toBe(201);
    expect(asked).toEqual([]);
    const runtime = { environment: {} } as Runtime;
    const route = { ...readProbe('reports'), gates };
    expect(() =>
      createPipeline(route, {
        operation: () => () => Promise.resolve(ok({ body: { seen: {} } })),
        runtime,
      }),
    ).toThrow(/was given no release/);
  });
});

describe('an operation that cannot be bound', () => {
  it('is bound again by the next request', async () => {
    let attempts = 0;
    const handler = createPipeline(readProbe('mastery'), {
      operation: () => {
        attempts += 1;
        if (attempts === 1) throw new Error('a store is down');
        return () => Promise.resolve(ok({ body: { seen: {} } }));
      },
      runtime: {
        environment: {
          STAGE: 'test',
          TOKEN_ISSUER: 'https://issuer.example',
          TOKEN_AUDIENCE: 'https://mastery.example',
          TOKEN_JWKS_URL: 'http://127.0.0.1:1/keys',
          TOKEN_ALGORITHMS: 'RS256,ES256',
          PROBLEMS_URL: 'https://docs.example/problems',
        },
        fetch: () => Promise.resolve(new Response(JSON.stringify(issuer.jwks))),
        now: () => testNow,
        sleep: () => Promise.resolve(),
        random: (bytes) => new Uint8Array(bytes),
        write: () => undefined,
      },
    });
    const authorization = { Authorization: `Bearer ${await issuer.sign()}` };
    const status = async (): Promise<number> =>
      (
        await handler(proxyEvent(readProbe('mastery'), { path: { probeId: 'p' } }, authorization), {
          awsRequestId: crypto.randomUUID(),
          getRemainingTimeInMillis: () => 29_000,
        } as Parameters<typeof handler>[1])
      ).statusCode;
    expect([await status(), await status(), await status()]).toEqual([500, 200, 200]);
    expect(attempts).toBe(2);
  });
});
