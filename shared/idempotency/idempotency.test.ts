import { describe, expect, it } from 'vitest';
import type { Control } from '#shared/http/operation.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { KeyRing } from '#shared/keys/key-ring.ts';
import { problem } from '#shared/problems/registry.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { createMemoryControlTable } from '#test/support/control-table.ts';
import type { MemoryControlTable } from '#test/support/control-table.ts';
import { createMemoryKeyRing } from '#test/support/key-ring.ts';
import { createIdempotency } from './idempotency.ts';
import type { KeyedRequest, RunOptions } from './idempotency.ts';
import { canonicalPath, identifyRequest } from './request-identity.ts';
import type { IdentifiedRequest } from './request-identity.ts';

const T0 = Date.UTC(2026, 0, 31, 9, 30);
const DAY = 24 * 60 * 60 * 1000;

const request: IdentifiedRequest = {
  tenantId: 'tenant-aurora',
  method: 'POST',
  canonicalPath: '/v1/adaptive-runs',
  idempotencyKey: 'key-1',
  ifMatch: '"v0"',
  body: { resultsStudentId: 'student-ada', runMode: 'production_learner' },
};

const upstreamDown = problem('mastery', 'upstream-unavailable', 424, {
  upstream: { service: 'bank', operation: 'bank.read_adaptive_pool_manifest' },
  retryable: true,
});
const calibrationInvalid = problem('mastery', 'calibration-invalid', 422);

/** A function's idempotency over a table and a clock; sleeping moves the clock. */
function setUp(table: MemoryControlTable = createMemoryControlTable()): {
  readonly table: MemoryControlTable;
  readonly clock: { now: number };
  readonly slept: number[];
  readonly lines: string[];
  readonly open: (changes?: Partial<IdentifiedRequest>) => Promise<KeyedRequest>;
  readonly options: (changes?: Partial<RunOptions>) => RunOptions;
  readonly onSleep: { do: () => void };
} {
  const clock = { now: T0 };
  const slept: number[] = [];
  const lines: string[] = [];
  const onSleep = { do: (): void => undefined };
  let seed = 0;
  const idempotency = createIdempotency({
    table,
    keys: createMemoryKeyRing(),
    now: () => clock.now,
    sleep: (milliseconds) => {
      slept.push(milliseconds);
      clock.now += milliseconds;
      onSleep.do();
      return Promise.resolve();
    },
    random: (bytes) => new Uint8Array(bytes).fill(++seed),
  });
  return {
    table,
    clock,
    slept,
    lines,
    onSleep,
    open: (changes = {}) => idempotency({ ...request, ...changes }),
    options: (changes = {}) => ({
      successStatus: 201,
      waitUntil: clock.now + 20_000,
      leaseUntil: clock.now + 29_000,
      conflict: () => problem('mastery', 'idempotency-key-reused', 409),
      log: (code, fields) => lines.push(`${code} ${JSON.stringify(fields)}`),
      ...changes,
    }),
  };
}

const succeed = (control: Control): Promise<Result<Control, Problem>> => Promise.resolve(ok(control));
const failWith =
  (failure: Problem): (() => Promise<Result<never, Problem>>) =>
  () =>
    Promise.resolve(err(failure));

/** A record of this request by another run, as if it were in flight. */
async function inFlight(table: MemoryControlTable, leaseUntil: number, sentBody?: unknown): Promise<void> {
  const { id, hash, sentHash } = await identifyRequest(createMemoryKeyRing(), { ...request, sentBody });
  await table.create(
    {
      id,
      // Version 0.1.0 knew no other hash than that of the request as it was sent.
      hash: sentBody === undefined ? hash : sentHash,
      state: 'started',
      operationId: 'op_first',
      createdAt: T0 - 5,
      attemptId: 'other',
      leaseUntil,
    },
    T0 - 5,
  );
}

describe('a first request', () => {
  it('has its record before the work begins, and ends completed with its status [MA-145, MA-146]', async () => {
    const { table, open, options } = setUp();
    const outcome = await (
      await open()
    ).run((control) => {
      expect(table.records()).toMatchObject([
        { state: 'started', operationId: control.operationId, createdAt: T0 },
      ]);
      expect(control.replayed).toBe(false);
      return succeed(control);
    }, options());
    expect(outcome.ok).toBe(true);
    expect(table.records()).toMatchObject([
      { state: 'completed', terminalStatus: 201, createdAt: T0, leaseUntil: 0 },
    ]);
  });

  it('stores digests, states and times only: neither key nor tenant nor body [MA-004, MA-006]', async () => {
    const { table, open, options, lines } = setUp();
    await (await open()).run(succeed, options());
    const [record] = table.records();
    expect(Object.keys(record ?? {}).sort()).toEqual([
      'attemptId',
      'createdAt',
      'hash',
      'id',
      'leaseUntil',
      'operationId',
      'state',
      'terminalStatus',
    ]);
    expect(record?.operationId).toMatch(/^op_[\w-]{22}$/);
    for (const text of [JSON.stringify(record), ...lines])
      for (const secret of ['student-ada', 'key-1', 'tenant-aurora', 'production_learner'])
        expect(text).not.toContain(secret);
  });

  it('that is opened but never run leaves no record', async () => {
    const { table, open } = setUp();
    expect((await open()).reusedBy).toBeUndefined();
    expect(table.records()).toEqual([]);
  });

  it('ends failed on a 4xx that no retry can change, which a repetition composes again [MA-145]', async () => {
    const { table, open, options } = setUp();
    const outcome = await (await open()).run(failWith(calibrationInvalid), options());
    expect(outcome).toEqual(err(calibrationInvalid));
    const again = await (await open()).run(succeed, options());
    expect(again).toMatchObject({ ok: true, value: { replayed: true } });
    expect(table.records()).toMatchObject([{ state: 'failed', terminalStatus: 422 }]);
  });

  const defect = new TypeError('defect');
  const internal = problem('mastery', 'internal-error', 500, { retryable: false });
  const poolInvalid = problem('mastery', 'qti-adaptive-pool-invalid', 502, {
    upstream: { service: 'qti', operation: 'x' },
  });
  it.each([
    ['a retryable 4xx', failWith(upstreamDown), err(upstreamDown)],
    ['a 500 that says not to retry', failWith(internal), err(internal)],
    ['a 5xx', failWith(poolInvalid), err(poolInvalid)],
    ['a defect, which comes through as it is', () => Promise.reject(defect), defect],
  ])('stays started after %s and lets go of its lease: a retry resumes at once', async (_, work, outcome) => {
    const { table, open, options, slept, lines } = setUp();
    const first = (await open()).run(work, options());
    expect(await first.catch((error: unknown) => error)).toEqual(outcome);
    expect(table.records()).toMatchObject([{ state: 'started', leaseUntil: 0 }]);
    const retried = await (await open()).run(succeed, options());
    expect(retried).toMatchObject({ ok: true, value: { createdAt: T0, replayed: true } });
    expect(slept).toEqual([]);
    expect(table.records()).toMatchObject([{ state: 'completed' }]);
    const control = table.records()[0]?.operationId;
    const lineOf = (code: string, fields: object): string =>
      `${code} ${JSON.stringify({ control, ...fields })}`;
    const settled = (state: string, status: number): string => lineOf('OPERATION_SETTLED', { state, status });
    expect(lines).toEqual([
      lineOf('OPERATION_BEGUN', { origin: 'new', waitedMs: 0 }),
      ...('error' in outcome ? [settled('started', outcome.error.status)] : []),
      lineOf('OPERATION_BEGUN', { origin: 'resumed', waitedMs: 0 }),
      settled('completed', 201),
    ]);
  });
});

describe('a repeated request', () => {
  it('composes again under the same operation, without another transition [MA-190]', async () => {
    const { table, open, options, clock, lines } = setUp();
    const sent = { sentBody: { runMode: 'production_learner' } };
    const first = await (await open(sent)).run(succeed, options());
    const before = table.records();
    clock.now += 1000;
    table.fail(new Error('a settled record is taken over'), 'takeOver');
    const again = await (await open(sent)).run(succeed, options());
    expect(first).toMatchObject({ ok: true, value: { replayed: false } });
    expect(again).toEqual(ok({ ...(first.ok ? first.value : {}), replayed: true, completed: true }));
    expect(table.records()).toEqual(before);
    expect(lines.at(-1)).toContain('"origin":"settled"');
  });

  it('is another operation from the 24th hour on, counted from the creation and not from a take-over or the completion [MA-005, RP-335]', async () => {
    const { table, open, options, clock } = setUp();
    await (await open()).run(failWith(upstreamDown), options());
    const [first] = table.records();
    clock.now = T0 + DAY - 1;
    const last = await (await open()).run(succeed, options());
    expect(last).toMatchObject({ ok: true, value: { operationId: first?.operationId, replayed: true } });
    expect(table.records()).toMatchObject([{ createdAt: T0, state: 'completed' }]);
    clock.now = T0 + DAY;
    const next = await (await open()).run(succeed, options());
    expect(next).toMatchObject({ ok: true, value: { createdAt: T0 + DAY, replayed: false } });
    expect(table.records()[0]?.operationId).not.toBe(first?.operationId);
  });

  it('with another body or If-Match is refused while the first is in flight, and afterwards [MA-191, RP-262, RP-332]', async () => {
    const { table, open } = setUp();
    await inFlight(table, T0 + 9_000);
    for (const changes of [
      { body: { runMode: 'owner_conformance' } },
      { ifMatch: '"v1"' },
      { ifMatch: undefined },
      { body: undefined },
    ])
      expect((await open(changes)).reusedBy).toBe('op_first');
    expect((await open()).reusedBy).toBeUndefined();
    await table.settle(table.records()[0]!, { state: 'completed', terminalStatus: 201 }, T0);
    expect((await open({ body: {} })).reusedBy).toBe('op_first');
  });

  it('with another body is also refused when the first appears between look-up and work [MA-191]', async () => {
    const { table, open, options } = setUp();
    const late = await open({ body: { runMode: 'owner_conformance' } });
    await (await open()).run(succeed, options());
    const outcome = await late.run(() => Promise.reject(new Error('must not run')), options());
    expect(outcome).toMatchObject({ ok: false, error: { code: 'idempotency-key-reused', status: 409 } });
    expect(table.records()).toHaveLength(1);
  });

  it('with members in another order is the same request; on another path, method or tenant another operation [MA-189, RP-292]', async () => {
    const keys = createMemoryKeyRing();
    const base = await identifyRequest(keys, request);
    const reordered = { runMode: 'production_learner', resultsStudentId: 'student-ada' };
    expect(await identifyRequest(keys, { ...request, body: reordered })).toEqual(base);
    for (const changes of [
      { tenantId: 'tenant-borealis' },
      { method: 'PUT' },
      { canonicalPath: '/v1/adaptive-runs:inspect' },
      { idempotencyKey: '"key-1"' },
    ])
      expect((await identifyRequest(keys, { ...request, ...changes })).id).not.toBe(base.id);
  });

  it('is found by digests that only the server’s own idempotency key can make [MA-189]', async () => {
    const asked: string[] = [];
    const ringOf = (fill: number): KeyRing => ({
      ...createMemoryKeyRing(),
      active: (purpose) => {
        asked.push(purpose);
        return Promise.resolve({ kid: 'k1', key: new Uint8Array(32).fill(fill) });
      },
    });
    const [one, other] = [
      await identifyRequest(ringOf(1), request),
      await identifyRequest(ringOf(2), request),
    ];
    expect(other.id).not.toBe(one.id);
    expect(other.hash).not.toBe(one.hash);
    expect(new Set(asked)).toEqual(new Set(['idempotency']));
  });
});

describe('a repetition in flight', () => {
  it('waits until the first is done and then composes under its operation', async () => {
    const { table, open, options, onSleep, slept } = setUp();
    await inFlight(table, T0 + 25_000);
    onSleep.do = () => {
      if (slept.length === 3)
        void table.settle(table.records()[0]!, { state: 'completed', terminalStatus: 201 }, T0);
    };
    const outcome = await (await open()).run(succeed, options());
    expect(outcome).toEqual(
      ok({ operationId: 'op_first', createdAt: T0 - 5, replayed: true, completed: true }),
    );
    expect(slept.length).toBeGreaterThanOrEqual(3);
  });

  it('of a version that knew the request as it was sent is taken over by the same one the instant its lease ends, and stands for any other', async () => {
    const { table, open, options, slept } = setUp();
    const sentBody = { runMode: 'production_learner' };
    await inFlight(table, T0, sentBody);
    expect((await open()).reusedBy).toBe('op_first');
    expect(await (await open()).run(succeed, options())).toEqual(err(options().conflict('op_first')));
    const same = await open({ sentBody });
    expect(same.reusedBy).toBeUndefined();
    expect(await same.run(succeed, options())).toMatchObject(ok({ operationId: 'op_first', replayed: true }));
    expect(slept).toEqual([]);
  });

  it('takes over once the lease has ended, keeping operation and creation time', async () => {
    const { table, open, options, clock } = setUp();
    await inFlight(table, T0 + 3_000);
    const outcome = await (await open()).run(succeed, options());
    expect(outcome).toEqual(
      ok({ operationId: 'op_first', createdAt: T0 - 5, replayed: true, completed: false }),
    );
    expect(clock.now).toBeGreaterThanOrEqual(T0 + 3_000);
    expect(clock.now).toBeLessThan(T0 + 4_000);
    expect(table.records()).toMatchObject([
      { state: 'completed', operationId: 'op_first', createdAt: T0 - 5 },
    ]);
  });

  it('takes over in time for its own work when the lease outlives its patience, never answering a conflict or a failure', async () => {
    const { table, open, options, clock, slept } = setUp();
    await inFlight(table, T0 + 3_600_000);
    const outcome = await (await open()).run(succeed, options({ waitUntil: T0 + 3_000 }));
    expect(outcome).toMatchObject({ ok: true, value: { operationId: 'op_first' } });
    expect(clock.now).toBe(T0 + 3_000);
    expect(slept).toEqual([50, 100, 200, 400, 800, 800, 650]);
  });

  it.each([
    ['ends well', ok('late')],
    ['fails', err(upstreamDown)],
  ] as const)('that took over keeps its lease when the run that lost it %s', async (_, late) => {
    const { table, open, options, clock } = setUp();
    const work = Promise.withResolvers<Result<string, Problem>>();
    const slow = (await open()).run(() => work.promise, options({ leaseUntil: T0 + 1_000 }));
    await new Promise((resolve) => setImmediate(resolve));
    clock.now = T0 + 1_000;
    const leaseUntil = T0 + 29_000;
    const second = (await open()).run(async (control) => {
      expect(control.replayed).toBe(true);
      expect(table.records()).toMatchObject([{ state: 'started', leaseUntil }]);
      work.resolve(late);
      expect(await slow).toEqual(late);
      expect(table.records()).toMatchObject([
        late.ok ? { state: 'completed', terminalStatus: 201 } : { state: 'started', leaseUntil },
      ]);
      return succeed(control);
    }, options({ leaseUntil }));
    expect(await second).toMatchObject({ ok: true });
    expect(table.records()).toMatchObject([{ state: 'completed', terminalStatus: 201 }]);
  });
});

describe('a control table that cannot be reached', () => {
  const throttled = Object.assign(new Error('slow down'), { name: 'ThrottlingException' });
  const unsettled = (table: MemoryControlTable): string =>
    `OPERATION_UNSETTLED ${JSON.stringify({ control: table.records()[0]?.operationId, error: throttled.name })}`;

  it('stops the request before any work, at look-up and at creation', async () => {
    const { table, open, options } = setUp();
    table.fail(throttled, 'read');
    await expect(open()).rejects.toBe(throttled);
    table.fail(throttled, 'create');
    let worked = false;
    const run = (await open()).run((control) => {
      worked = true;
      return succeed(control);
    }, options());
    await expect(run).rejects.toMatchObject({ cause: throttled });
    expect(worked).toBe(false);
    expect(table.records()).toEqual([]);
  });

  it('after the work does not take its answer away; a retry resumes', async () => {
    const { table, open, options, lines, clock } = setUp();
    const keyed = await open();
    table.fail(throttled, 'settle');
    expect(await keyed.run(succeed, options({ leaseUntil: T0 + 1_000 }))).toMatchObject({ ok: true });
    expect(lines).toContain(unsettled(table));
    expect(table.records()).toMatchObject([{ state: 'started' }]);
    table.fail(undefined);
    clock.now += 2_000;
    expect(await (await open()).run(succeed, options())).toMatchObject({
      ok: true,
      value: { replayed: true },
    });
    expect(table.records()).toMatchObject([{ state: 'completed' }]);
  });

  it('while the lease is given back does not hide why the work failed', async () => {
    const { table, open, options, lines } = setUp();
    const keyed = await open();
    table.fail(throttled, 'release');
    expect(await keyed.run(failWith(upstreamDown), options())).toEqual(err(upstreamDown));
    expect(lines).toContain(unsettled(table));
  });

  it('is not made up for by switching idempotency off', async () => {
    const { open, options } = setUp();
    process.env['POWERTOOLS_IDEMPOTENCY_DISABLED'] = 'true';
    try {
      await expect((await open()).run(succeed, options())).rejects.toThrow('POWERTOOLS_IDEMPOTENCY_DISABLED');
    } finally {
      delete process.env['POWERTOOLS_IDEMPOTENCY_DISABLED'];
    }
  });
});

describe('a canonical path', () => {
  it('encodes every decoded id as one segment', () => {
    expect(canonicalPath('/v1/a/{aId}/b/{bId}:verb', { aId: 'x/y é', bId: '$&' })).toBe(
      '/v1/a/x%2Fy%20%C3%A9/b/%24%26:verb',
    );
    expect(() => canonicalPath('/v1/{aId}', {})).toThrow(TypeError);
  });
});
