import fc from 'fast-check';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Route, ServiceName } from '#shared/contract/route.ts';
import { err, ok } from '#shared/kernel/result.ts';
import { problem } from '#shared/problems/registry.ts';
import { createTestIssuer, testLambda } from '#test/support/lambda.ts';
import type { TestAnswer, TestIssuer, TestLambdaOptions, TestRequest } from '#test/support/lambda.ts';
import { actOnProbe, readProbe } from '#test/support/probe-routes.ts';
import type { Operation, OperationAnswer } from '../operation.ts';

let issuer: TestIssuer;
beforeAll(async () => {
  issuer = await createTestIssuer();
});

const services: readonly ServiceName[] = ['mastery', 'reports'];
type Probe = ReturnType<typeof readProbe>;

afterEach(() => {
  vi.unstubAllEnvs();
});

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

  it('is told by one STARTED and one COMPLETED line with route, status and duration', async () => {
    vi.stubEnv('AWS_LAMBDA_INITIALIZATION_TYPE', 'on-demand');
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
      { service, operation: 'readProbe', status: 200, durationMs: 42, cold_start: true },
      { service, operation: 'readProbe', status: 200, durationMs: 42, cold_start: false },
      { status: 400, durationMs: 0, problem: isMastery ? 'invalid-request' : 'validation' },
    ]);
  });
});
