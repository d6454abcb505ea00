import { beforeAll, describe, expect, it } from 'vitest';
import { reportsProblem } from '#shared/contract/reports/problem.ts';
import type { ServiceName } from '#shared/contract/route.ts';
import { err, ok } from '#shared/kernel/result.ts';
import { masteryProblem } from '#shared/problems/document.ts';
import { problem } from '#shared/problems/registry.ts';
import { createTestIssuer, testLambda } from '#test/support/lambda.ts';
import type { TestIssuer, TestLambdaOptions } from '#test/support/lambda.ts';
import { readProbe } from '#test/support/probe-routes.ts';
import type { Operation } from '../operation.ts';

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
        'The service failed unexpectedly. Give the requestId to its operators; their log has the cause.',
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

  it('of an operation that hangs still goes out before the function is stopped', async () => {
    const lambda = await bind(() => new Promise(() => undefined), { remainingMs: 760 });
    expect(await lambda.invoke({ path: { probeId: 'p' } })).toMatchObject({
      status: 500,
      body: { retryable: true },
    });
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
});
