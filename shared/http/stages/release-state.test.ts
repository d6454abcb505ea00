import { beforeAll, describe, expect, it } from 'vitest';
import type { Gate } from '#shared/contract/gates.ts';
import { ok } from '#shared/kernel/result.ts';
import { closed } from '#shared/release/release-state.ts';
import type { ReleaseWatch, WatchedRelease } from '#shared/release/watch-release.ts';
import { createTestIssuer, testLambda } from '#test/support/lambda.ts';
import type { TestAnswer, TestIssuer, TestRequest } from '#test/support/lambda.ts';
import { actOnProbe } from '#test/support/probe-routes.ts';
import { wholeRelease } from '#test/support/release.ts';
import type { Operation } from '../operation.ts';

let issuer: TestIssuer;
beforeAll(async () => {
  issuer = await createTestIssuer();
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

  it('is not looked at where a route waits for none', async () => {
    const asked: unknown[] = [];
    const release: ReleaseWatch = () => {
      asked.push(1);
      return Promise.resolve({ state: closed });
    };
    const lambda = await testLambda(actOnProbe('mastery'), operation, { issuer, release });
    expect((await lambda.invoke({ path: { probeId: 'p' }, body: { attemptId: 'a' } })).status).toBe(201);
    expect(asked).toEqual([]);
  });
});
