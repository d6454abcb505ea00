import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Control, ControlRecord, ControlTable } from './control-record.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { KeyRing } from '#shared/keys/key-ring.ts';
import { problem } from '#shared/problems/registry.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { createMemoryControlTable } from '#test/support/control-table.ts';
import { createMemoryKeyRing } from '#test/support/key-ring.ts';
import { createIdempotency, type Idempotency, type RunOptions } from './idempotency.ts';
import { canonicalPath, identifyRequest, type IdentifiedRequest } from './request-identity.ts';

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

type Answer = Result<unknown, Problem>;
const defect = new RangeError('a defect of the work');
const upstream = { service: 'qti', operation: 'qti.offer_selected_item' } as const;
const conflict = problem('mastery', 'idempotency-key-reused', 409);

/** What becomes of one run of the work. `dies` stops without an answer or a release, as a function that is killed. */
const fates = {
  succeeds: ok('done'),
  'is refused': err(problem('mastery', 'calibration-invalid', 422)),
  fails: err(problem('mastery', 'upstream-unavailable', 424, { upstream, retryable: true })),
  'fails for good': err(problem('mastery', 'internal-error', 500, { retryable: false })),
  'is broken': err(problem('mastery', 'qti-adaptive-pool-invalid', 502, { upstream })),
  throws: undefined,
  dies: undefined,
} satisfies Readonly<Record<string, Answer | undefined>>;
type Fate = keyof typeof fates;
/** The state in which a run leaves the record; absent: `started`. */
const finals: Partial<Record<Fate, 'completed' | 'failed'>> = {
  succeeds: 'completed',
  'is refused': 'failed',
  'fails for good': 'failed',
  'is broken': 'failed',
};
const fate = fc.constantFrom(...(Object.keys(fates) as Fate[]));

/** A function's idempotency over a table and a clock, which sleeping moves. */
function setUp(table: ControlTable, pause: () => Promise<void> = () => Promise.resolve()) {
  const clock = { now: T0 };
  const slept: number[] = [];
  const lines: string[] = [];
  let seed = 0;
  const idempotency: Idempotency = createIdempotency({
    table,
    keys: createMemoryKeyRing(),
    now: () => clock.now,
    sleep: async (milliseconds, signal) => {
      // A time limit that is never reached.
      if (signal !== undefined) await new Promise(() => undefined);
      const until = clock.now + milliseconds;
      if (slept.push(milliseconds) > 1_000) throw new Error('it waits without end');
      await pause();
      clock.now = Math.max(clock.now, until);
    },
    random: (bytes) => new Uint8Array(bytes).map((_, at) => (at === 0 ? ++seed : seed >> 8)),
  });
  const options = (): RunOptions => ({
    successStatus: 201,
    waitUntil: clock.now + 2_000,
    deadline: clock.now + 2_500,
    endsAt: clock.now + 3_000,
    conflict: () => conflict,
    log: (code, fields) => lines.push(`${code} ${JSON.stringify(fields)}`),
  });
  return { clock, slept, lines, idempotency, options };
}

describe('requests one after the other', () => {
  /** Requests that have nothing to do with one another. */
  const scopes: readonly Partial<IdentifiedRequest>[] = [
    {},
    { tenantId: 'tenant-borealis' },
    { method: 'PUT' },
    { canonicalPath: '/v1/adaptive-runs:inspect' },
    { idempotencyKey: '"key-1"' },
  ];
  /** What may differ under one key: the request itself, another one, or the same one with its members in another order. */
  const variants: Readonly<Record<string, Partial<IdentifiedRequest>>> = {
    'the same': {},
    'the same, reordered': { body: { runMode: 'production_learner', resultsStudentId: 'student-ada' } },
    'the same, as it was sent': { sentBody: { resultsStudentId: 'student-ada' } },
    'another body': { body: { runMode: 'owner_conformance' } },
    'no body': { body: undefined },
    'another tag': { ifMatch: '"v1"' },
    'no tag': { ifMatch: undefined },
  };
  const step = fc.record({
    scope: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(4) }),
    variant: fc.oneof(
      { weight: 4, arbitrary: fc.constant('the same') },
      fc.constantFrom(...Object.keys(variants)),
    ),
    fate,
    isRun: fc.oneof({ weight: 9, arbitrary: fc.constant(true) }, fc.constant(false)),
    unreachable: fc.option(fc.constantFrom('read', 'create', 'takeOver', 'settle', 'release'), { freq: 4 }),
    wait: fc.constantFrom(0, 0, 1_000, 2_999, DAY - 3_500, DAY - 1, DAY),
  });
  const throttled = Object.assign(new Error('slow down'), { name: 'ThrottlingException' });
  /** What a scope's record has to be. */
  type Standing = Omit<ControlRecord, 'id' | 'hash' | 'attemptId'> & { readonly isOf: string };

  const outcomeOf = ({ state, terminalStatus, operationId, createdAt, leaseUntil }: Omit<Standing, 'isOf'>) =>
    [state, terminalStatus, operationId, createdAt, leaseUntil] as const;

  it('have one operation for 24 hours, which is resumed until it is settled and then composed again; another request under its key is a conflict, and nothing of a request is stored or logged [MA-004, MA-005, MA-006, MA-145, MA-146, MA-189, MA-190, MA-191, RP-262, RP-292, RP-332, RP-335]', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        const table = createMemoryControlTable();
        const { clock, slept, lines, idempotency, options } = setUp(table);
        const model = new Map<number, Standing>();
        for (const { scope, variant, fate: given, isRun, unreachable, wait } of steps) {
          clock.now += wait;
          slept.length = lines.length = 0;
          table.fail(unreachable === null ? undefined : throttled, unreachable ?? undefined);
          const isOf = variant.startsWith('the same') ? 'the same' : variant;
          const usable = (): Standing | undefined => {
            const held = model.get(scope);
            return held !== undefined && now < held.createdAt + DAY ? held : undefined;
          };
          let { now } = clock;

          const opening = idempotency({ ...request, ...scopes[scope], ...variants[variant] });
          if (unreachable === 'read') {
            await expect(opening).rejects.toBe(throttled);
            continue;
          }
          const keyed = await opening;
          const found = usable();
          const operationId = found?.operationId;
          expect([keyed.startedOperation, keyed.reusedBy]).toEqual(
            found === undefined || found.isOf === isOf ? [operationId, undefined] : [undefined, operationId],
          );
          if (!isRun) continue;

          const { endsAt: leaseUntil, waitUntil } = options();
          const begun: Control[] = [];
          const died = Promise.withResolvers<string>();
          const run = keyed.run((control) => {
            begun.push(control);
            expect(table.records().some((record) => record.operationId === control.operationId)).toBe(true);
            if (given === 'throws') return Promise.reject(defect);
            if (given !== 'dies') return Promise.resolve(fates[given] as Answer);
            died.resolve('died');
            return new Promise<Answer>(() => undefined);
          }, options());
          const answer = await Promise.race([run.catch((error: unknown) => error), died.promise]);

          // What the model says.
          const sleeps: number[] = [];
          const isHeld = ({ isOf: own, state, leaseUntil: until }: Standing): boolean =>
            own === isOf && state === 'started' && until > now && now < waitUntil;
          for (
            let pause = 50, held = usable();
            unreachable !== 'create' && held && isHeld(held);
            held = usable()
          ) {
            sleeps.push(Math.min(pause, waitUntil - now));
            now += sleeps.at(-1)!;
            pause = Math.min(2 * pause, 800);
          }
          const standing = usable();
          const isTaken = standing?.state === 'started' && standing.isOf === isOf;
          if (unreachable === 'create' || (unreachable === 'takeOver' && isTaken)) {
            expect([answer, begun]).toMatchObject([{ cause: throttled }, []]);
          } else if (standing !== undefined && standing.isOf !== isOf) {
            expect([answer, begun]).toEqual([err(conflict), []]);
          } else {
            const own = {
              operationId: standing?.operationId ?? begun[0]!.operationId,
              createdAt: standing?.createdAt ?? now,
            };
            expect(own.operationId).toMatch(/^op_[\w-]{22}$/);
            const isSettled = standing !== undefined && standing.state !== 'started';
            expect(begun).toEqual([
              { ...own, replayed: standing !== undefined, completed: standing?.state === 'completed' },
            ]);
            const expected = fates[given];
            expect(answer).toEqual(given === 'dies' ? 'died' : (expected ?? defect));
            const origin = standing === undefined ? 'new' : isSettled ? 'settled' : 'resumed';
            const control = own.operationId;
            const line = (code: string, fields: object) =>
              `${code} ${JSON.stringify({ control, ...fields })}`;
            const logged = [
              line('OPERATION_BEGUN', {
                origin,
                waitedMs: sleeps.reduce((a, b) => a + b, 0),
              }),
            ];
            if (!isSettled) {
              const final = finals[given];
              const status = expected === undefined || expected.ok ? 201 : expected.error.status;
              if (expected !== undefined)
                logged.push(line('OPERATION_SETTLED', { state: final ?? 'started', status }));
              const write = final === undefined ? 'release' : 'settle';
              const isLost = given === 'dies' || unreachable === write;
              if (unreachable === write && given !== 'dies')
                logged.push(line('OPERATION_UNSETTLED', { error: throttled.name }));
              model.set(scope, {
                isOf,
                ...own,
                ...(final === undefined || isLost
                  ? { state: 'started', leaseUntil: isLost ? leaseUntil : 0 }
                  : { state: final, terminalStatus: status, leaseUntil: 0 }),
              });
            }
            expect(lines).toEqual(logged);
          }
          expect(slept).toEqual(sleeps);
          expect(table.records().map(outcomeOf)).toEqual([...model.values()].map(outcomeOf));
          const kept = [...table.records().map((record) => JSON.stringify(record)), ...lines].join();
          for (const secret of ['student-ada', 'key-1', 'tenant-', 'production_learner'])
            expect(kept).not.toContain(secret);
        }
      }),
      { numRuns: 400 },
    );
  });
});

describe('any number of identical requests in any order of their steps', () => {
  const plans = fc
    .array(fate, { minLength: 2, maxLength: 6 })
    .filter((plan) => plan.some((one) => one !== 'dies'));

  it('do their work under one operation id, and none of them is answered a conflict or a store failure [MA-190]', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), plans, async (scheduler, plan) => {
        const pause = (): Promise<void> => scheduler.schedule(Promise.resolve());
        const table = createMemoryControlTable(pause);
        const { idempotency, options } = setUp(table, pause);
        const written = new Set<string>();
        const send = async (given: Fate): Promise<unknown> => {
          const keyed = await idempotency(request);
          expect(keyed.reusedBy).toBeUndefined();
          return keyed.run<unknown>(async ({ operationId }) => {
            expect(table.records()[0]?.operationId).toBe(operationId);
            await pause();
            written.add(operationId);
            await pause();
            if (given === 'dies') return new Promise(() => undefined);
            if (given === 'throws') throw defect;
            return fates[given];
          }, options());
        };
        const sent = plan.map((given) => ({ given, answer: send(given).catch((error: unknown) => error) }));
        const answered = sent.filter(({ given }) => given !== 'dies');
        await scheduler.waitFor(Promise.all(answered.map(({ answer }) => answer)));
        // A request's own defect comes through; nothing that Powertools or the table made of it does.
        for (const { given, answer } of answered) expect(await answer).toEqual(fates[given] ?? defect);
        expect(table.records()).toHaveLength(1);
        expect(written).toEqual(new Set([table.records()[0]?.operationId]));
        const isSettled = plan.some((given) => finals[given] !== undefined);
        expect(table.records()[0]?.state === 'started').toBe(!isSettled);
      }),
      { numRuns: 300 },
    );
  });

  it('let a run that has lost its lease settle for the others, but not free their lease', async () => {
    for (const late of ['succeeds', 'fails'] as const) {
      const table = createMemoryControlTable();
      const { clock, idempotency, options } = setUp(table);
      const work = Promise.withResolvers<Answer>();
      const slow = (await idempotency(request)).run(() => work.promise, options());
      await new Promise((resolve) => setImmediate(resolve));
      clock.now += 3_000;
      const leaseUntil = clock.now + 3_000;
      await (
        await idempotency(request)
      ).run(async () => {
        work.resolve(fates[late]);
        await slow;
        expect(table.records()).toMatchObject([
          late === 'succeeds' ? { state: 'completed', leaseUntil: 0 } : { state: 'started', leaseUntil },
        ]);
        return fates.succeeds;
      }, options());
      expect(table.records()).toMatchObject([{ state: 'completed', terminalStatus: 201 }]);
    }
  });
});

describe('a request', () => {
  it('of a version that knew it as it was sent is taken over by the same one the instant its lease ends, and stands for any other', async () => {
    const table = createMemoryControlTable();
    const { idempotency, options } = setUp(table);
    const sentBody = { runMode: 'production_learner' };
    const { id, sentHash: hash } = await identifyRequest(createMemoryKeyRing(), { ...request, sentBody });
    const record = { id, hash, state: 'started', operationId: 'op_first', createdAt: T0 - 5 } as const;
    await table.create({ ...record, attemptId: 'other', leaseUntil: T0 }, T0 - 5);
    const work = (control: Control) => Promise.resolve(ok(control));
    const other = await idempotency(request);
    expect(other.reusedBy).toBe('op_first');
    expect(await other.run(work, options())).toEqual(err(conflict));
    const same = await idempotency({ ...request, sentBody });
    expect(same.reusedBy).toBeUndefined();
    expect(await same.run(work, options())).toMatchObject(ok({ operationId: 'op_first', replayed: true }));
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

  it('is not run where idempotency is switched off', async () => {
    const { idempotency, options } = setUp(createMemoryControlTable());
    process.env['POWERTOOLS_IDEMPOTENCY_DISABLED'] = 'true';
    try {
      const run = (await idempotency(request)).run(() => Promise.resolve(fates.succeeds), options());
      await expect(run).rejects.toThrow('POWERTOOLS_IDEMPOTENCY_DISABLED');
    } finally {
      delete process.env['POWERTOOLS_IDEMPOTENCY_DISABLED'];
    }
  });

  it('has every decoded id of its path as one segment', () => {
    expect(canonicalPath('/v1/a/{aId}/b/{bId}:verb', { aId: 'x/y é', bId: '$&' })).toBe(
      '/v1/a/x%2Fy%20%C3%A9/b/%24%26:verb',
    );
    expect(() => canonicalPath('/v1/{aId}', {})).toThrow(TypeError);
  });
});
