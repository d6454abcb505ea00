import { beforeAll, describe, expect, it } from 'vitest';
import type { ServiceName } from '#shared/contract/route.ts';
import { ok } from '#shared/kernel/result.ts';
import { createTestIssuer, testLambda } from '#test/support/lambda.ts';
import type { TestAnswer, TestIssuer } from '#test/support/lambda.ts';
import { readProbe } from '#test/support/probe-routes.ts';

let issuer: TestIssuer;
beforeAll(async () => {
  issuer = await createTestIssuer();
});

const services: readonly ServiceName[] = ['mastery', 'reports'];

describe.each(services)('a token on %s', (service) => {
  async function sendScope(scope: string | undefined): Promise<TestAnswer> {
    const lambda = await testLambda(readProbe(service), () => Promise.resolve(ok({ body: { seen: {} } })), {
      issuer,
    });
    const Authorization = `Bearer ${await issuer.sign({ scope })}`;
    return lambda.invoke({ path: { probeId: 'p' }, headers: { Authorization } });
  }

  it(`without the route's whole scope is denied ${service === 'mastery' ? '[MA-158]' : '[RP-312]'}`, async () => {
    const code = service === 'mastery' ? 'insufficient-scope' : 'authorization-denied';
    for (const scope of [
      undefined,
      '',
      'mastery:run',
      'reports:write',
      `${service}:readx`,
      `x${service}:read`,
      `${service}:read,x`,
      service,
    ]) {
      const answer = await sendScope(scope);
      expect(answer.status, String(scope)).toBe(403);
      expect(answer.body['type']).toBe(`https://docs.example/problems/${code}`);
      expect(answer.headers).not.toHaveProperty('WWW-Authenticate');
    }
    expect((await sendScope(`other  ${service}:read`)).status).toBe(200);
  });
});
