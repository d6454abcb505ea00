import { beforeAll, describe, expect, it } from 'vitest';
import type { Gate } from '#shared/contract/gates.ts';
import { ok } from '#shared/kernel/result.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { closed } from '#shared/release/release-state.ts';
import { createMemoryControlTable } from '#test/support/control-table.ts';
import { createTestIssuer, testLambda } from '#test/support/lambda.ts';
import type { TestAnswer, TestIssuer } from '#test/support/lambda.ts';
import { actOnProbe, readProbe } from '#test/support/probe-routes.ts';
import { wholeRelease } from '#test/support/release.ts';
import { createPipeline } from './pipeline.ts';

let issuer: TestIssuer;
beforeAll(async () => {
  issuer = await createTestIssuer();
});

const gates: readonly Gate[] = ['D'];

describe('the ladder of a route', () => {
  it('refuses in its order: token, scope, syntax, release state, idempotency, operation, response check [RP-018, RP-332]', async () => {
    const row = { ...actOnProbe('reports'), gates };
    const table = createMemoryControlTable();
    let release = { state: closed };
    let body: object = { undeclared: true };
    let operated = 0;
    const lambda = await testLambda(
      row,
      ({ idempotent }) => {
        operated += 1;
        return idempotent(() => Promise.resolve(ok({ body: body as never })));
      },
      { issuer, table, release: () => Promise.resolve(release) },
    );
    const path = { probeId: 'p' };
    const sound = { path, body: { attemptId: 'a' } };
    const broken = { path: {}, query: { foo: '1' }, rawBody: '{' };
    const send = async (request: object, authorization?: string): Promise<string> => {
      const { status, body: document } = await lambda.invoke(
        authorization === undefined
          ? request
          : { ...request, headers: { Authorization: authorization, 'Content-Type': 'application/json' } },
      );
      const type = typeof document['type'] === 'string' ? document['type'] : 'ok';
      return `${status} ${type.split('/').at(-1) ?? ''}`;
    };

    // Each request is wrong for every stage that follows, too.
    expect(await send(broken, '')).toBe('401 authentication-required');
    const unscoped = `Bearer ${await issuer.sign({ scope: 'other' })}`;
    expect(await send(broken, unscoped)).toBe('403 authorization-denied');
    expect(await send(broken)).toBe('400 unsupported-parameter');
    expect(await send(sound)).toBe('503 dependency-unavailable');
    expect(table.records()).toEqual([]);
    release = { state: wholeRelease };
    expect(operated).toBe(0);
    expect(await send(sound)).toBe('500 internal-error');
    expect(operated).toBe(1);
    expect(await send({ path, body: { attemptId: 'b' } })).toBe('409 idempotency-conflict');
    expect(operated).toBe(1);
    release = { state: closed };
    expect(await send({ path, body: { attemptId: 'b' } })).toBe('503 dependency-unavailable');
    release = { state: wholeRelease };
    body = { seen: {} };
    expect(await send(sound)).toBe('201 ok');
  });

  it('looks at syntax only for a caller who may call', async () => {
    const lambda = await testLambda(readProbe('mastery'), () => Promise.resolve(ok({ body: { seen: {} } })), {
      issuer,
    });
    const broken = { path: {}, query: { foo: '1' }, rawBody: '{' };
    const withAuthorization = (value: string): Promise<TestAnswer> =>
      lambda.invoke({ ...broken, headers: { Authorization: value, 'Content-Type': 'application/json' } });
    expect((await withAuthorization('')).status).toBe(401);
    expect((await withAuthorization(`Bearer ${await issuer.sign({ scope: 'other' })}`)).status).toBe(403);
    expect((await withAuthorization(`Bearer ${await issuer.sign()}`)).status).toBe(400);
  });

  it('has all stages that its row decides on, or cannot be made', () => {
    const operation = () => () => Promise.resolve(ok({ body: { seen: {} } }));
    const runtime = processRuntime();
    expect(() => createPipeline(actOnProbe('mastery'), { operation, runtime })).toThrow(
      'was given no idempotency',
    );
    expect(() => createPipeline({ ...readProbe('reports'), gates }, { operation, runtime })).toThrow(
      'was given no release',
    );
    expect(() => createPipeline(readProbe('reports'), { operation, runtime })).not.toThrow();
  });
});
