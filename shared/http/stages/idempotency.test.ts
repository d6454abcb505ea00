import { describe, expect, it } from 'vitest';
import type { ServiceName } from '#shared/contract/route.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { problem } from '#shared/problems/registry.ts';
import { testIssuer } from '#test/support/lambda.ts';
import type { TestLambda } from '#test/support/lambda.ts';
import { actOnProbe, readProbe, seen, testProbe } from '#test/support/probe-routes.ts';
import type { Control } from '../operation.ts';

// What a record is and when a request waits for another one: shared/idempotency.

const services: readonly ServiceName[] = ['mastery', 'reports'];

/** By the attempt that a request names: how its work ends. */
const failures: Readonly<Record<ServiceName, Readonly<Record<string, Problem>>>> = {
  mastery: {
    final: problem('mastery', 'calibration-invalid', 422),
    later: problem('mastery', 'upstream-unavailable', 424, {
      upstream: { service: 'qti', operation: 'qti.offer_selected_item' },
      retryable: true,
    }),
  },
  reports: {
    final: problem('reports', 'not-found', 404),
    later: problem('reports', 'dependency-incomplete', 503, { dependency: 'results' }),
  },
};

/** A probe that does one upstream write for each operation and answers its operation id. */
async function bind(service: ServiceName): Promise<TestLambda & { readonly runs: Control[] }> {
  const runs: Control[] = [];
  const lambda = await testProbe(actOnProbe(service), async ({ idempotent, body: { attemptId } }) => {
    const done = await idempotent((control) => {
      runs.push(control);
      if (attemptId === 'defect') throw new RangeError('defect');
      const failure = failures[service][attemptId];
      return Promise.resolve(failure === undefined ? ok(control.operationId) : err(failure));
    });
    return done.ok ? ok({ body: { seen: {}, operation: done.value } }) : done;
  });
  return { ...lambda, runs };
}

describe.each(services)('a key on %s', (service) => {
  const isMastery = service === 'mastery';

  it(`of the same request, in whatever spelling, composes the answer again ${isMastery ? '[MA-190]' : '[RP-287]'}`, async () => {
    const lambda = await bind(service);
    const sound = { attemptId: 'a', view: 'summary' };
    const first = await lambda.invoke({ path: {}, rawPath: { probeId: '%70%C3%A9' }, body: sound });
    const path = { probeId: 'pé' };
    for (const rawBody of ['{ "view" : "summary",\n "attemptId" : "\\u0061" }', JSON.stringify(sound)]) {
      const again = await lambda.invoke({ path, rawBody });
      expect(again).toMatchObject({ status: 201, body: first.body });
      expect(again.headers['Idempotent-Replayed']).toBe(isMastery ? undefined : 'true');
    }
    expect(first.headers).not.toHaveProperty('Idempotent-Replayed');
    expect(lambda.runs.map(({ replayed }) => replayed)).toEqual([false, true, true]);
    expect(lambda.table.records()).toHaveLength(1);
  });

  it(`on another path or of another tenant is another operation ${isMastery ? '[MA-189]' : '[RP-292]'}`, async () => {
    const lambda = await bind(service);
    const Authorization = `Bearer ${await testIssuer.sign({ tenantId: 'tenant-borealis' })}`;
    const answers = [
      await lambda.invoke(),
      await lambda.invoke({ path: { probeId: 'q' } }),
      await lambda.invoke({ headers: { Authorization } }),
    ];
    expect(new Set(answers.map(({ body }) => body['operation'])).size).toBe(3);
  });

  it(`of another body or precondition is refused before any work ${isMastery ? '[MA-191]' : '[RP-332]'}`, async () => {
    const lambda = await bind(service);
    const first = await lambda.invoke();
    const reused = isMastery ? '409 idempotency-key-reused' : '409 idempotency-conflict';
    for (const request of [
      { body: { attemptId: 'b' } },
      { body: { attemptId: 'a', view: 'evidence' } },
      { headers: { 'If-Match': '"v"' } },
    ]) {
      const answer = await lambda.invoke(request);
      expect([answer.summary, answer.body['retryable']]).toEqual([reused, false]);
      expect(answer.body['operationId']).toBe(isMastery ? undefined : first.body['operation']);
    }
    expect(lambda.runs).toHaveLength(1);
  });

  it('is waited for within the request’s own time, then the work is resumed: never a 500 or a conflict', async () => {
    const lambda = await bind(service);
    const later = { body: { attemptId: 'later' } };
    await lambda.invoke(later);
    const [record] = lambda.table.records();
    const start = lambda.clock.now;
    // The first run is at work again, and never ends.
    await lambda.table.takeOver(record!, { attemptId: 'hung', leaseUntil: start + 3_600_000 }, start);
    expect((await lambda.invoke(later)).status).toBe(failures[service]['later']?.status);
    expect(lambda.runs.at(-1)).toMatchObject({ operationId: record?.operationId, replayed: true });
    // 29 s less 1.5 s to answer, less 2 s for the work.
    expect(lambda.clock.now - start).toBe(25_500);
  });
});

it('has its operation id in every problem after the work began, also in a 500 [RP-330]', async () => {
  const lambda = await bind('reports');
  for (const attemptId of ['final', 'later', 'defect']) {
    const answer = await lambda.invoke({ body: { attemptId }, headers: { 'Idempotency-Key': attemptId } });
    expect([attemptId, answer.body['operationId']]).toEqual([attemptId, lambda.runs.at(-1)?.operationId]);
  }
  expect((await lambda.invoke({ body: {} })).body['operationId']).toBeNull();
});

it('says nothing of its operation in the 404 of a repetition that may not see the resource any more [RP-316, RP-330]', async () => {
  let hidden = false;
  const lambda = await testProbe(actOnProbe('reports'), ({ idempotent }) =>
    hidden
      ? Promise.resolve(err(problem('reports', 'not-found', 404)))
      : idempotent(() => Promise.reject(new RangeError('defect'))),
  );
  expect((await lambda.invoke()).body['operationId']).toMatch(/^op_/);
  hidden = true;
  expect((await lambda.invoke()).body).toMatchObject({ status: 404, operationId: null });
});

it('is for work that begins once, and only where a route takes one', async () => {
  const reading = await testProbe(readProbe('mastery'), ({ idempotent }) => idempotent(seen));
  const twice = await testProbe(actOnProbe('mastery'), async ({ idempotent }) => {
    await idempotent(seen);
    return idempotent(seen);
  });
  for (const lambda of [reading, twice]) expect((await lambda.invoke()).status).toBe(500);
});
