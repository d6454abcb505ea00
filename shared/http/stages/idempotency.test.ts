import { beforeAll, describe, expect, it } from 'vitest';
import type { ServiceName } from '#shared/contract/route.ts';
import { err, ok } from '#shared/kernel/result.ts';
import { problem } from '#shared/problems/registry.ts';
import { createMemoryControlTable } from '#test/support/control-table.ts';
import type { MemoryControlTable } from '#test/support/control-table.ts';
import { createTestIssuer, testLambda } from '#test/support/lambda.ts';
import type { TestAnswer, TestIssuer, TestLambda, TestRequest } from '#test/support/lambda.ts';
import { actOnProbe, readProbe } from '#test/support/probe-routes.ts';
import type { Control } from '../operation.ts';

let issuer: TestIssuer;
beforeAll(async () => {
  issuer = await createTestIssuer();
});

const services: readonly ServiceName[] = ['mastery', 'reports'];

describe.each(services)('a key on %s', (service) => {
  const isMastery = service === 'mastery';

  /** A probe that does one upstream write for each operation and answers its operation id. */
  async function bind(
    table: MemoryControlTable = createMemoryControlTable(),
    row = actOnProbe(service),
  ): Promise<TestLambda & { readonly runs: Control[] }> {
    const runs: Control[] = [];
    const lambda = await testLambda(
      row,
      async ({ idempotent, body }) => {
        if (body.attemptId === 'hidden')
          return err(
            isMastery ? problem('mastery', 'resource-not-found', 404) : problem('reports', 'not-found', 404),
          );
        const done = await idempotent((control) => {
          runs.push(control);
          if (body.attemptId === 'defect') throw new RangeError('defect');
          if (body.attemptId === 'final')
            return Promise.resolve(
              err(
                isMastery
                  ? problem('mastery', 'calibration-invalid', 422)
                  : problem('reports', 'not-found', 404),
              ),
            );
          if (body.attemptId === 'later')
            return Promise.resolve(
              err(
                isMastery
                  ? problem('mastery', 'upstream-unavailable', 424, {
                      upstream: { service: 'qti', operation: 'qti.offer_selected_item' },
                      retryable: true,
                    })
                  : problem('reports', 'dependency-incomplete', 503, { dependency: 'results' }),
              ),
            );
          return Promise.resolve(ok(control.operationId));
        });
        return done.ok ? ok({ body: { seen: {}, operation: done.value } }) : done;
      },
      { issuer, table },
    );
    return { ...lambda, runs };
  }
  const request = (changes: TestRequest = {}): TestRequest => ({
    path: { probeId: 'p' },
    body: { attemptId: 'a', view: 'summary' },
    ...changes,
  });
  const suffix = ({ body }: TestAnswer): string =>
    String(body['type']).replace('https://docs.example/problems/', '');
  const reused = isMastery ? 'idempotency-key-reused' : 'idempotency-conflict';

  it(`of the same request composes the answer again under the same operation ${isMastery ? '[MA-190]' : '[RP-287]'}`, async () => {
    const lambda = await bind();
    const first = await lambda.invoke(request());
    const again = await lambda.invoke(request());
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.body).toEqual(first.body);
    expect(lambda.runs.map(({ replayed }) => replayed)).toEqual([false, true]);
    expect(first.headers).not.toHaveProperty('Idempotent-Replayed');
    if (isMastery) expect(again.headers).not.toHaveProperty('Idempotent-Replayed');
    else expect(again.headers['Idempotent-Replayed']).toBe('true');
  });

  it(`of a changed body or view is refused before any upstream work ${isMastery ? '[MA-191]' : '[RP-332]'}`, async () => {
    const lambda = await bind();
    const first = await lambda.invoke(request());
    for (const body of [
      { attemptId: 'b', view: 'summary' },
      { attemptId: 'a', view: 'evidence' },
      { attemptId: 'a' },
    ]) {
      const answer = await lambda.invoke(request({ body }));
      expect(answer.status).toBe(409);
      expect(suffix(answer)).toBe(reused);
      expect(answer.body['retryable']).toBe(false);
      if (!isMastery) expect(answer.body['operationId']).toBe(first.body['operation']);
    }
    expect((await lambda.invoke(request({ headers: { 'If-Match': '"v"' } }))).status).toBe(409);
    expect(lambda.runs).toHaveLength(1);
  });

  it(`of a request in another spelling is the same request ${isMastery ? '[MA-190]' : '[RP-287]'}`, async () => {
    const lambda = await bind();
    const first = await lambda.invoke(request({ path: {}, rawPath: { probeId: '%70%C3%A9' } }));
    const spellings = [
      '{ "view" : "summary",\n "attemptId" : "\\u0061" }',
      '{"view":"summary","attemptId":"a"}',
    ];
    for (const rawBody of spellings) {
      const again = await lambda.invoke(request({ rawBody, path: { probeId: 'pé' } }));
      expect(again).toMatchObject({ status: 201, body: first.body });
    }
    expect(lambda.table.records()).toHaveLength(1);
  });

  it(`on another path, on another route or of another tenant is another operation ${isMastery ? '[MA-189]' : '[RP-292]'}`, async () => {
    const table = createMemoryControlTable();
    const lambda = await bind(table);
    const other = await bind(table, actOnProbe(service, 'otherProbe', '/v1/probes/{probeId}:other'));
    const borealis = `Bearer ${await issuer.sign({ tenantId: 'tenant-borealis' })}`;
    const answers = [
      await lambda.invoke(request()),
      await lambda.invoke(request({ path: { probeId: 'q' }, body: { attemptId: 'b' } })),
      await other.invoke(request({ body: { attemptId: 'c' } })),
      await lambda.invoke(request({ headers: { Authorization: borealis }, body: { attemptId: 'd' } })),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    expect(new Set(answers.map(({ body }) => body['operation'])).size).toBe(4);
  });

  it('of a request that was refused before its work began leaves no record', async () => {
    const lambda = await bind();
    expect((await lambda.invoke(request({ body: { attemptId: 'hidden' } }))).status).toBe(404);
    expect((await lambda.invoke(request({ body: { attemptId: 7 } }))).status).toBe(400);
    expect(lambda.table.records()).toEqual([]);
    expect((await lambda.invoke(request())).status).toBe(201);
  });

  it('of a final failure is composed again, of a retryable one resumed', async () => {
    const lambda = await bind();
    await lambda.invoke(request({ body: { attemptId: 'final' } }));
    await lambda.invoke(request({ body: { attemptId: 'later' }, headers: { 'Idempotency-Key': 'key-2' } }));
    expect(lambda.table.records().map(({ state, terminalStatus }) => [state, terminalStatus])).toEqual([
      ['failed', isMastery ? 422 : 404],
      ['started', undefined],
    ]);
    await lambda.invoke(request({ body: { attemptId: 'final' } }));
    await lambda.invoke(request({ body: { attemptId: 'later' }, headers: { 'Idempotency-Key': 'key-2' } }));
    expect(lambda.runs.map(({ replayed }) => replayed)).toEqual([false, false, true, true]);
    expect(new Set(lambda.runs.map(({ operationId }) => operationId)).size).toBe(2);
  });

  if (!isMastery)
    it('has its operation id in every problem after the work began, also in a 500 [RP-330]', async () => {
      const lambda = await bind();
      for (const attemptId of ['final', 'later', 'defect']) {
        const answer = await lambda.invoke(
          request({ body: { attemptId }, headers: { 'Idempotency-Key': attemptId } }),
        );
        expect(answer.body['operationId'], attemptId).toBe(lambda.runs.at(-1)?.operationId);
      }
      expect((await lambda.invoke(request({ body: {} }))).body['operationId']).toBeNull();
    });

  it('whose record cannot be written stops the request before any upstream write: 500, retryable', async () => {
    const table = createMemoryControlTable();
    const lambda = await bind(table);
    const throttled = Object.assign(new Error('slow down'), {
      name: 'ProvisionedThroughputExceededException',
    });
    for (const operation of ['read', 'create'] as const) {
      table.fail(throttled, operation);
      const answer = await lambda.invoke(request());
      expect(answer).toMatchObject({
        status: 500,
        headers: { 'Retry-After': '5' },
        body: { retryable: true },
      });
      expect(suffix(answer)).toBe('internal-error');
      expect(answer.text).not.toContain('slow down');
    }
    expect(lambda.runs).toEqual([]);
    table.fail(undefined);
    expect((await lambda.invoke(request())).status).toBe(201);
    expect(lambda.lines.join('')).toContain('ProvisionedThroughputExceededException');
  });

  it('is waited for within the request’s own time, then the work is resumed: never a 500 or a conflict', async () => {
    const lambda = await bind();
    const first = await lambda.invoke(request({ body: { attemptId: 'later' } }));
    expect(first.body['retryable']).toBe(true);
    const [record] = lambda.table.records();
    const start = lambda.clock.now;
    // The first run is at work again, and never ends.
    await lambda.table.takeOver(record!, { attemptId: 'hung', leaseUntil: start + 3_600_000 }, start);
    const answer = await lambda.invoke(request({ body: { attemptId: 'later' } }));
    expect(suffix(answer)).toBe(isMastery ? 'upstream-unavailable' : 'dependency-incomplete');
    expect(lambda.runs.at(-1)).toMatchObject({ operationId: record?.operationId, replayed: true });
    // 29 s less 1.5 s to answer, less 2 s for the work.
    expect(lambda.clock.now - start).toBe(25_500);
  });
});

describe('an operation', () => {
  it('may begin its work once, and only where a key is taken', async () => {
    const reading = await testLambda(
      readProbe('mastery'),
      async ({ idempotent }) => {
        await idempotent(() => Promise.resolve(ok('x')));
        return ok({ body: { seen: {} } });
      },
      { issuer },
    );
    expect((await reading.invoke({ path: { probeId: 'p' } })).status).toBe(500);
    const twice = await testLambda(
      actOnProbe('mastery'),
      async ({ idempotent }) => {
        await idempotent(() => Promise.resolve(ok('x')));
        await idempotent(() => Promise.resolve(ok('x')));
        return ok({ body: { seen: {} } });
      },
      { issuer },
    );
    expect((await twice.invoke({ path: { probeId: 'p' }, body: { attemptId: 'a' } })).status).toBe(500);
  });
});
