import { expect, it } from 'vitest';
import { err } from '#shared/kernel/result.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { problem } from '#shared/problems/registry.ts';
import { actOnProbe, readProbe, seen, testProbe } from '#test/support/probe-routes.ts';
import type { Control } from '#shared/idempotency/control-record.ts';

// What a record is and when a request waits for another one: shared/idempotency. Repeated and reused keys on every route that takes one:
// test/lemmas/worlds.contract.test.ts, test/contract/reports.

it('a key of another precondition is refused before any work [MA-191]', async () => {
  const lambda = await testProbe(actOnProbe('mastery'), ({ idempotent }) => idempotent(seen));
  expect((await lambda.invoke()).status).toBe(201);
  const answer = await lambda.invoke({ headers: { 'If-Match': '"v"' } });
  expect([answer.summary, answer.body['retryable']]).toEqual(['409 idempotency-key-reused', false]);
});

it('is waited for within the request’s own time, then the work is resumed: never a 500 or a conflict', async () => {
  const runs: Control[] = [];
  const lambda = await testProbe(actOnProbe('reports'), ({ idempotent }) =>
    idempotent((control) => {
      runs.push(control);
      return Promise.resolve(
        err(problem('reports', 'dependency-incomplete', 503, { dependency: 'results' })),
      );
    }),
  );
  await lambda.invoke();
  const [record] = lambda.table.records();
  const start = lambda.clock.now;
  // The first run is at work again, and never ends.
  await lambda.table.takeOver(record!, { attemptId: 'hung', leaseUntil: start + 3_600_000 }, start);
  expect((await lambda.invoke()).status).toBe(503);
  expect(runs.at(-1)).toMatchObject({ operationId: record?.operationId, replayed: true });
  // 29 s less 1.5 s to answer, less 2 s for the work.
  expect(lambda.clock.now - start).toBe(25_500);
});

it('names its operation in a 500, and in what a repetition gets before its work, but in no 404 [RP-316, RP-330]', async () => {
  let early: Problem | undefined;
  const lambda = await testProbe(actOnProbe('reports'), ({ idempotent }) =>
    early === undefined
      ? idempotent(() => Promise.reject(new RangeError('defect')))
      : Promise.resolve(err(early)),
  );
  const { operationId } = (await lambda.invoke()).body;
  expect(operationId).toMatch(/^op_/);
  early = problem('reports', 'dependency-unavailable', 503, { dependency: 'qti' });
  expect((await lambda.invoke()).body).toMatchObject({ status: 503, operationId });
  early = problem('reports', 'not-found', 404);
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
