import { describe, expect, it } from 'vitest';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { Sleep } from '#shared/kernel/sleep.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { problem } from '#shared/problems/registry.ts';
import { createMemoryControlTable } from '#test/support/control-table.ts';
import { createMemoryKeyRing } from '#test/support/key-ring.ts';
import type { ControlTable } from './control-record.ts';
import { createIdempotency } from './idempotency.ts';

// How long a run of the work holds its record, and how long its answer waits for a table that does not answer.

const T0 = Date.UTC(2026, 0, 31, 9, 30);
const SECOND = 1_000;
/** What a function has: 29 s, of which 1.5 s are kept to answer. */
const ENDS_AT = T0 + 29 * SECOND;
const DEADLINE = ENDS_AT - 1_500;

const request = {
  tenantId: 'tenant-aurora',
  method: 'POST',
  canonicalPath: '/v1/adaptive-runs',
  idempotencyKey: 'key-1',
  ifMatch: undefined,
  body: {},
};
const unavailable = err(
  problem('mastery', 'upstream-unavailable', 424, {
    upstream: { service: 'qti', operation: 'qti.offer_selected_item' },
    retryable: true,
  }),
);
type Answer = Result<unknown, Problem>;
const never = new Promise<never>(() => undefined);

/** Lets everything go on that waits for no timer. */
const idle = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** A clock that only the test moves, and a function's idempotency over a table of which it replaces calls. */
function setUp(replaced: (table: ControlTable) => Partial<ControlTable> = () => ({})) {
  const clock = { now: T0 };
  const timers = new Set<{ readonly at: number; readonly end: () => void }>();
  const sleep: Sleep = (milliseconds, signal) =>
    new Promise((resolve) => {
      const timer = {
        at: clock.now + milliseconds,
        end: () => {
          timers.delete(timer);
          resolve(undefined);
        },
      };
      timers.add(timer);
      if (signal?.aborted === true) timer.end();
      signal?.addEventListener('abort', timer.end);
    });
  const table = createMemoryControlTable();
  const lines: string[] = [];
  let seed = 0;
  const idempotency = createIdempotency({
    table: { ...table, ...replaced(table) },
    keys: createMemoryKeyRing(),
    now: () => clock.now,
    sleep,
    random: (bytes) => new Uint8Array(bytes).fill(++seed),
  });
  return {
    clock,
    timers,
    lines,
    table,
    record: () => table.records()[0]!,
    /** Moves the clock, past one timer after another. */
    async until(time: number): Promise<void> {
      for (;;) {
        await idle();
        const [next] = [...timers].filter(({ at }) => at <= time).toSorted((a, b) => a.at - b.at);
        if (next === undefined) break;
        clock.now = Math.max(clock.now, next.at);
        next.end();
      }
      clock.now = Math.max(clock.now, time);
    },
    async run(
      work: (operationId: string, isReplayed: boolean) => Promise<Answer>,
      endsAt = ENDS_AT,
    ): Promise<Answer> {
      const keyed = await idempotency(request);
      return keyed.run(({ operationId, replayed }) => work(operationId, replayed), {
        successStatus: 201,
        waitUntil: endsAt - 3_500,
        deadline: endsAt - 1_500,
        endsAt,
        conflict: () => problem('mastery', 'idempotency-key-reused', 409),
        log: (code) => lines.push(code),
      });
    },
  };
}

describe('a table that hangs once the work is done', () => {
  it.each<[string, Answer]>([
    ['settle', ok('done')],
    ['release', unavailable],
  ])('delays the answer by 1.5 s, and does not replace it: %s [MA-145, RP-220]', async (call, outcome) => {
    const test = setUp(() => ({ [call]: () => never }));
    const answering = test.run(() => Promise.resolve(outcome));
    await test.until(T0 + 1_499);
    expect(test.lines).toEqual(['OPERATION_BEGUN', 'OPERATION_SETTLED']);
    await test.until(T0 + 1_500);
    expect(await answering).toEqual(outcome);
    expect(test.lines).toContain('OPERATION_UNSETTLED');
    // A repetition takes it over.
    expect(test.record()).toMatchObject({ state: 'started', leaseUntil: T0 + 10 * SECOND });
  });

  it.each([
    ['at the deadline', DEADLINE, 500],
    ['later than that', ENDS_AT - 800, 0],
  ])('leaves the function a second to send an answer that is composed %s', async (_, at, delay) => {
    const test = setUp(() => ({ settle: () => never }));
    const composed = Promise.withResolvers<Answer>();
    const answering = test.run(() => composed.promise);
    await test.until(at);
    composed.resolve(ok('done'));
    await test.until(at + delay);
    expect(await answering).toEqual(ok('done'));
    expect(test.clock.now).toBe(at + delay);
  });
});

describe('a lease', () => {
  it('lasts ten seconds, is renewed every three while the work goes on, and by nobody from the deadline on', async () => {
    const test = setUp();
    const working = test.run(() => never);
    await idle();
    const seen: number[] = [];
    for (let second = 0; second <= 28; second += 1) {
      await test.until(T0 + second * SECOND);
      const lasts = (test.record().leaseUntil - T0) / SECOND;
      if (lasts !== seen.at(-1)) seen.push(lasts);
    }
    // No lease outlasts its function.
    expect(seen).toEqual([10, 13, 16, 19, 22, 25, 28, 29]);
    await test.until(ENDS_AT + 60 * SECOND);
    expect(test.record().leaseUntil).toBe(ENDS_AT);
    expect(test.timers.size).toBe(0);
    void working;
  });

  it('ends with the work, and leaves no timer behind', async () => {
    const test = setUp();
    expect(await test.run(() => Promise.resolve(ok('done')))).toEqual(ok('done'));
    expect([test.record().state, test.timers.size]).toEqual(['completed', 0]);
    const failing = setUp();
    await expect(failing.run(() => Promise.reject(new RangeError('defect')))).rejects.toThrow('defect');
    expect([failing.record().leaseUntil, failing.timers.size]).toEqual([0, 0]);
  });

  it('is not renewed by a container that was frozen until after the deadline', async () => {
    const test = setUp();
    void test.run(() => never);
    await idle();
    test.clock.now = DEADLINE;
    for (const timer of [...test.timers]) timer.end();
    await idle();
    expect([test.record().leaseUntil, test.timers.size]).toEqual([T0 + 10 * SECOND, 0]);
  });

  it('outlives a renewal that fails', async () => {
    let failures = 2;
    const test = setUp((table) => ({
      renew: (...given) =>
        (failures -= 1) >= 0 ? Promise.reject(new Error('slow down')) : table.renew(...given),
    }));
    void test.run(() => never);
    await test.until(T0 + 9 * SECOND);
    expect(test.record().leaseUntil).toBe(T0 + 19 * SECOND);
  });

  it('that is lost is not asked for again', async () => {
    let renewals = 0;
    const test = setUp(() => ({
      renew: () => {
        renewals += 1;
        return Promise.resolve(false);
      },
    }));
    void test.run(() => never);
    await test.until(T0 + 20 * SECOND);
    expect([renewals, test.timers.size]).toEqual([1, 0]);
  });

  it('of a function that crashed is taken over within ten seconds of its last renewal; a holder that finds it lost goes on, and both settle one record [MA-145, MA-190]', async () => {
    const test = setUp();
    const first = Promise.withResolvers<Answer>();
    const operations: string[] = [];
    const slow = test.run((operationId) => {
      operations.push(operationId);
      return first.promise;
    });
    await test.until(T0 + 4 * SECOND);
    // It is frozen for a while: its timers do not end.
    const frozen = [...test.timers];
    test.timers.clear();
    const repetition = test.run(
      (operationId) => {
        operations.push(operationId);
        return Promise.resolve(ok('repeated'));
      },
      T0 + 33 * SECOND,
    );
    await test.until(T0 + 12_900);
    expect(operations).toHaveLength(1);
    await test.until(T0 + 14 * SECOND);
    expect(await repetition).toEqual(ok('repeated'));
    const settled = test.record();
    expect(settled).toMatchObject({ state: 'completed', terminalStatus: 201 });
    for (const timer of frozen) timer.end();
    first.resolve(ok('slow'));
    await test.until(T0 + 20 * SECOND);
    expect(await slow).toEqual(ok('slow'));
    expect([test.record(), new Set(operations).size, test.timers.size]).toEqual([settled, 1, 0]);
    expect(test.lines).not.toContain('OPERATION_UNSETTLED');
  });

  it('is not taken again by a renewal that arrives after the release', async () => {
    const arrival = Promise.withResolvers<undefined>();
    const test = setUp((table) => ({
      renew: async (...given) => {
        await arrival.promise;
        return table.renew(...given);
      },
    }));
    const composed = Promise.withResolvers<Answer>();
    const answering = test.run(() => composed.promise);
    await test.until(T0 + 3 * SECOND);
    composed.resolve(unavailable);
    expect(await answering).toEqual(unavailable);
    arrival.resolve(undefined);
    await idle();
    expect(test.record()).toMatchObject({ state: 'started', leaseUntil: 0 });
  });
});

describe('a write whose response is lost, and which the client of the store makes again', () => {
  /** Takes a write twice, and returns what the second one meets. */
  const twice =
    <Given extends readonly unknown[], T>(write: (...given: Given) => Promise<T>) =>
    async (...given: Given): Promise<T> => {
      await write(...given);
      return write(...given);
    };

  it('does not hold up the run that has created its record', async () => {
    const test = setUp((table) => ({ create: twice(table.create.bind(table)) }));
    const begun: (readonly [string, boolean])[] = [];
    const answering = test.run((...control) => {
      begun.push(control);
      return Promise.resolve(ok('done'));
    });
    await idle();
    expect(await answering).toEqual(ok('done'));
    expect([begun, test.clock.now, test.record().state]).toEqual([
      [[test.record().operationId, false]],
      T0,
      'completed',
    ]);
  });

  it('does not hold up the run that has taken a record over', async () => {
    const test = setUp((table) => ({ takeOver: twice(table.takeOver.bind(table)) }));
    await test.run(() => Promise.resolve(unavailable));
    const { operationId } = test.record();
    const answering = test.run((...control) => Promise.resolve(ok(control)));
    await test.until(T0 + 100);
    expect(await answering).toEqual(ok([operationId, true]));
  });
});
