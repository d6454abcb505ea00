import { describe, expect, it } from 'vitest';
import type { Gate } from '#shared/contract/gates.ts';
import { err, ok } from '#shared/kernel/result.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { problem } from '#shared/problems/registry.ts';
import { closed } from '#shared/release/release-state.ts';
import { createMemoryControlTable } from '#test/support/control-table.ts';
import { testIssuer, testNow } from '#test/support/lambda.ts';
import { actOnProbe, readProbe, seen, testProbe } from '#test/support/probe-routes.ts';
import { wholeRelease } from '#test/support/release.ts';
import { once } from './once.ts';
import { createPipeline } from './pipeline.ts';

const gates: readonly Gate[] = ['D'];

describe('the ladder of a route', () => {
  it('refuses in its order: token, scope, syntax, release state, idempotency, operation, response check [RP-018, RP-332]', async () => {
    const table = createMemoryControlTable();
    let release = { state: closed };
    let body: object = { undeclared: true };
    let operated = 0;
    const lambda = await testProbe(
      { ...actOnProbe('reports'), gates },
      ({ idempotent }) => {
        operated += 1;
        return idempotent(() => Promise.resolve(ok({ body: body as never })));
      },
      { table, release: () => Promise.resolve(release) },
    );
    const broken = { path: {}, query: { foo: '1' }, rawBody: '{' };
    const other = { body: { attemptId: 'b' } };
    const send = async (request: object = {}): Promise<string> => (await lambda.invoke(request)).summary;
    const as = (authorization: string): object => ({ ...broken, headers: { Authorization: authorization } });

    // Each request is wrong for every stage that follows, too.
    expect(await send(as(''))).toBe('401 authentication-required');
    expect(await send(as(`Bearer ${await testIssuer.sign({ scope: 'other' })}`))).toBe(
      '403 authorization-denied',
    );
    expect(await send(broken)).toBe('400 unsupported-parameter');
    expect(await send()).toBe('503 dependency-unavailable');
    expect(table.records()).toEqual([]);
    release = { state: wholeRelease };
    expect(operated).toBe(0);
    expect(await send()).toBe('500 internal-error');
    expect(await send(other)).toBe('409 idempotency-conflict');
    expect(operated).toBe(1);
    release = { state: closed };
    expect(await send(other)).toBe('503 dependency-unavailable');
    release = { state: wholeRelease };
    body = { seen: {} };
    expect(await send()).toBe('201');
  });

  it('cannot be made for a row with an Idempotency-Key without idempotency', () => {
    const release = () => () => Promise.resolve({ state: closed });
    const rate = () => () => Promise.resolve(undefined);
    const parts = { operation: () => seen, runtime: processRuntime(), rate, release };
    expect(() => createPipeline(actOnProbe('mastery'), parts)).toThrow('was given no idempotency');
    expect(() => createPipeline(readProbe('reports'), parts)).not.toThrow();
  });
});

describe('an operation', () => {
  it('may not return a problem of the other service; one that its route does not declare is noted', async () => {
    const foreign = await testProbe(readProbe('mastery'), () =>
      Promise.resolve(err(problem('reports', 'not-found', 404))),
    );
    expect((await foreign.invoke()).status).toBe(500);
    const undeclared = await testProbe(readProbe('mastery'), () =>
      Promise.resolve(err(problem('mastery', 'precondition-required', 428))),
    );
    expect((await undeclared.invoke()).status).toBe(428);
    expect(undeclared.lines.join('')).toContain('PROBLEM_UNDECLARED');
  });

  it('is told when it must be done: the function’s time less 1.5 s', async () => {
    const times: (readonly [number, number])[] = [];
    const lambda = await testProbe(
      readProbe('mastery'),
      ({ receivedAt, deadline }) => {
        times.push([receivedAt, deadline]);
        return seen();
      },
      { remainingMs: 10_000 },
    );
    await lambda.invoke();
    expect(times).toEqual([[testNow, testNow + 8_500]]);
  });

  it('is bound once, and again when that has failed', async () => {
    let attempts = 0;
    const bound = once(() => {
      attempts += 1;
      if (attempts === 1) throw new Error('a store is down');
      return attempts;
    });
    await expect(bound()).rejects.toThrow('a store is down');
    expect(await Promise.all([bound(), bound()])).toEqual([2, 2]);
  });
});
