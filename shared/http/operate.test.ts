import { beforeAll, describe, expect, it } from 'vitest';
import type { ServiceName } from '#shared/contract/route.ts';
import { err, ok } from '#shared/kernel/result.ts';
import { problem } from '#shared/problems/registry.ts';
import { createTestIssuer, proxyEvent, testLambda, testNow } from '#test/support/lambda.ts';
import type { TestIssuer, TestLambdaOptions } from '#test/support/lambda.ts';
import { readProbe } from '#test/support/probe-routes.ts';
import type { Operation } from './operation.ts';
import { createPipeline } from './pipeline.ts';

let issuer: TestIssuer;
beforeAll(async () => {
  issuer = await createTestIssuer();
});

const services: readonly ServiceName[] = ['mastery', 'reports'];
type Probe = ReturnType<typeof readProbe>;

describe.each(services)('an operation of %s', (service) => {
  const isMastery = service === 'mastery';
  const row = readProbe(service);
  const bind = (operation: Operation<Probe>, options: Partial<TestLambdaOptions> = {}) =>
    testLambda(row, operation, { issuer, ...options });

  it('may not return a problem of the other service, a defect; one that the route does not declare is noted', async () => {
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

  it('is told when it must be done: the function’s time less 1.5 s', async () => {
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
