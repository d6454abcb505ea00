import { beforeEach, describe, expect, it } from 'vitest';
import type { Gate } from '#shared/contract/gates.ts';
import type { RunKey } from '#shared/improvement/records.ts';
import type { WatchedRelease } from '#shared/release/watch-release.ts';
import { openImprovementWorld, runOf } from '#test/support/improvement.ts';
import type { ImprovementWorld } from '#test/support/improvement.ts';
import {
  LONGEST_PARKED_MS,
  LONGEST_UNREAD_MS,
  MAX_AGE_MS,
  MAX_TRIES,
  MESSAGE_KEPT_MS,
  OFTEN_MS,
  UNTOUCHED_MS,
  sweepRuns,
} from './sweep-runs.ts';
import type { Sweep } from './sweep-runs.ts';
import { wholeRelease } from '#test/support/release.ts';
import { createSweepFunction } from './take-sweep.ts';
import type { ScheduledHandler } from '#functions/reports/background/scheduled.ts';

const improved = runOf();
const CREATED = Date.parse('2026-03-02T10:00:00Z');

let world: ImprovementWorld;
let key: RunKey;
let ended: string[];
beforeEach(async () => {
  world = openImprovementWorld([improved]);
  world.now = CREATED;
  ended = [];
  key = await world.create('run_1', improved.pins, CREATED);
});

function sweep(at: number): Promise<Sweep> {
  world.now = at;
  return sweepRuns({
    ...world.dependencies,
    isTime: () => true,
    random: () => 0,
    onBroken: (run) => ended.push(`${run.improvementRunId} broken`),
    onFailed: (run, reason) => ended.push(`${run.improvementRunId} ${reason}`),
  });
}

const SWEEP_MS = 300_000;

/** When the run is sent on, of all the sweeps until then. `taken`: a worker takes each message at once, and finds the receiver still missing. */
async function sentAt(until: number, taken: boolean): Promise<readonly number[]> {
  const times: number[] = [];
  for (let at = world.now; at < until; at += SWEEP_MS) {
    const { sent } = await sweep(at);
    if (sent === 0) continue;
    times.push(at);
    if (!taken) continue;
    await world.store.beginRun(key, 0, at);
    await world.store.touchRun(key, 'worker', at);
  }
  return times;
}

const pauses = (times: readonly number[]): readonly number[] =>
  times.slice(1).map((at, index) => at - times[index]!);

const stateOf = async (run: RunKey = key) => (await world.store.readRun(run))?.state;

describe('a run that is queued or analyzing', () => {
  it.each(['queued', 'analyzing'] as const)(
    '%s is left alone until it stands still for 15 minutes, then sent on [RP-221]',
    async (state) => {
      if (state === 'analyzing') await world.store.moveRun(key, ['queued'], { state }, CREATED);
      expect(await sweep(CREATED + UNTOUCHED_MS - 1)).toEqual({ open: 1, sent: 0, failed: 0, broken: 0 });
      expect(await sweep(CREATED + UNTOUCHED_MS)).toEqual({ open: 1, sent: 1, failed: 0, broken: 0 });
      expect(world.sent).toEqual([key]);
      // It has been touched.
      expect(await sweep(CREATED + UNTOUCHED_MS + 1)).toMatchObject({ sent: 0 });
      expect(await stateOf()).toBe(state);
    },
  );

  it('is sent on as long as no worker begins on it, after longer and longer pauses, and never failed while its message may wait', async () => {
    const times = await sentAt(CREATED + MAX_AGE_MS, false);
    expect(times[0]).toBe(CREATED + UNTOUCHED_MS);
    const waited = pauses(times);
    expect(waited.slice(0, 3)).toEqual([2 * UNTOUCHED_MS, 4 * UNTOUCHED_MS, 8 * UNTOUCHED_MS]);
    expect(Math.max(...waited)).toBe(LONGEST_UNREAD_MS);
    expect(waited).toEqual(waited.toSorted((a, b) => a - b));
    expect(times.at(-1)).toBeGreaterThan(CREATED + MAX_AGE_MS - 2 * LONGEST_UNREAD_MS);
    // So many of it may wait, whatever happens to the queue.
    expect(times.length).toBeLessThan(22);
    expect([await stateOf(), ended]).toEqual(['queued', []]);
    await sweep(CREATED + MAX_AGE_MS);
    expect([await stateOf(), ended]).toEqual(['failed', ['run_1 too_old']]);
  });

  it('waits no longer than at first once a worker has begun on it', async () => {
    await sentAt(CREATED + MESSAGE_KEPT_MS, false);
    await world.store.beginRun(key, 0, world.now);
    const begun = world.now;
    expect(await sweep(begun + UNTOUCHED_MS - 1)).toMatchObject({ sent: 0 });
    expect(await sweep(begun + UNTOUCHED_MS)).toMatchObject({ sent: 1 });
  });

  it('is failed when it is 14 days old, however often workers begin on it', async () => {
    await world.store.beginRun(key, 1, CREATED + MAX_AGE_MS - 1);
    expect(await sweep(CREATED + MAX_AGE_MS)).toMatchObject({ failed: 1 });
    expect(ended).toEqual(['run_1 too_old']);
  });
});

describe('a run that no worker survives', () => {
  /** Its worker begins so often and records nothing. */
  async function tryInVain(times: number): Promise<void> {
    for (let time = 0; time < times; time += 1) await world.store.beginRun(key, 0, world.now);
  }

  it('is given up after 40 of them in a row, and not while one may be at it', async () => {
    await tryInVain(MAX_TRIES - 1);
    expect(await sweep(CREATED + UNTOUCHED_MS)).toMatchObject({ sent: 1, failed: 0 });
    await tryInVain(1);
    const last = world.now;
    expect(await sweep(last + UNTOUCHED_MS - 1)).toMatchObject({ sent: 0, failed: 0 });
    expect(await sweep(last + UNTOUCHED_MS)).toMatchObject({ sent: 0, failed: 1 });
    expect(await world.store.readRun(key)).toMatchObject({ state: 'failed', completedAt: world.now });
    expect(ended).toEqual(['run_1 no_progress']);
  });

  it('is not, where any of them has recorded something or has left it as it should', async () => {
    await tryInVain(MAX_TRIES);
    await world.store.beginRun(key, 1, world.now);
    expect(await sweep(world.now + UNTOUCHED_MS)).toMatchObject({ sent: 1, failed: 0 });
    await tryInVain(MAX_TRIES);
    await world.store.touchRun(key, 'worker', world.now);
    expect(await sweep(world.now + UNTOUCHED_MS)).toMatchObject({ sent: 1, failed: 0 });
    await world.store.beginRun(key, 1, world.now);
    expect(await sweep(world.now + UNTOUCHED_MS)).toMatchObject({ sent: 1, failed: 0 });
  });

  it('is given up where it is parked, too', async () => {
    await world.store.moveRun(key, ['queued'], { state: 'blocked_upstream' }, CREATED);
    await tryInVain(MAX_TRIES);
    expect(await sweep(CREATED + UNTOUCHED_MS)).toMatchObject({ sent: 0, failed: 1 });
    expect(ended).toEqual(['run_1 no_progress']);
  });
});

describe('a parked run', () => {
  beforeEach(async () => {
    await world.store.moveRun(key, ['queued'], { state: 'blocked_upstream' }, CREATED);
  });

  it('is sent on by every sweep at first, then after pauses that grow to an hour: its receiver may be back', async () => {
    const times = await sentAt(CREATED + MAX_AGE_MS, true);
    const often = times.filter((at) => at <= CREATED + OFTEN_MS);
    expect(often).toHaveLength(1 + OFTEN_MS / SWEEP_MS);
    const waited = pauses(times);
    expect(waited).toEqual(waited.toSorted((a, b) => a - b));
    expect(waited.at(-1)).toBe(LONGEST_PARKED_MS);
    expect(waited.filter((pause) => pause === LONGEST_PARKED_MS).length).toBeGreaterThan(13 * 24);
    expect(await stateOf()).toBe('blocked_upstream');
  });

  it('is not sent on while a message of it may be waiting: there are no more of them than runs', async () => {
    const times = await sentAt(CREATED + MAX_AGE_MS, false);
    expect(times).toHaveLength(4);
    expect(pauses(times)).toEqual(Array.from({ length: 3 }, () => MESSAGE_KEPT_MS));
    expect(await stateOf()).toBe('blocked_upstream');
  });

  it('is failed 14 days after it was created, without a receipt [RP-154, RP-217]', async () => {
    expect(await sweep(CREATED + MAX_AGE_MS - 1)).toMatchObject({ sent: 1, failed: 0 });
    expect(await sweep(CREATED + MAX_AGE_MS)).toMatchObject({ sent: 0, failed: 1 });
    const run = await world.store.readRun(key);
    expect([run?.state, run?.completedAt, run?.receipt]).toEqual(['failed', CREATED + MAX_AGE_MS, undefined]);
  });
});

describe('a sweep', () => {
  it('looks at the runs of all tenants, and at none that has ended', async () => {
    const others = await Promise.all(
      Array.from({ length: 30 }, (_, at) => world.create(`run_other_${at}`, improved.pins, CREATED)),
    );
    await world.store.moveRun(key, ['queued'], { state: 'failed', completedAt: CREATED }, CREATED);
    expect(await sweep(CREATED + UNTOUCHED_MS)).toMatchObject({ open: 30, sent: 30 });
    expect(world.sent.map((run) => run.improvementRunId).toSorted()).toEqual(
      others.map((run) => run.improvementRunId).toSorted(),
    );
  });

  it('begins at another place of the list each time: with time for few, none is always left out', async () => {
    const others = await Promise.all(
      Array.from({ length: 20 }, (_, at) => world.create(`run_other_${at}`, improved.pins, CREATED)),
    );
    world.now = CREATED + UNTOUCHED_MS;
    const reached = new Set<string>();
    for (let time = 0; time < 10; time += 1) {
      let left = 4;
      await sweepRuns({
        ...world.dependencies,
        queue: {
          send(run) {
            reached.add(run.improvementRunId);
            return Promise.resolve();
          },
        },
        isTime: () => (left -= 1) >= 0,
        random: () => time / 10,
        onBroken: () => undefined,
        onFailed: () => undefined,
      });
    }
    expect(reached.size).toBe(1 + others.length);
  });

  it('reads no pins', async () => {
    world.store.fail(new Error('pins are read'), 'readRun');
    expect(await sweep(CREATED + UNTOUCHED_MS)).toMatchObject({ sent: 1, broken: 0 });
  });

  it('goes on where one run cannot be swept, and does not count what was not sent', async () => {
    const other = await world.create('run_2', improved.pins, CREATED);
    const { dependencies } = world;
    world.now = CREATED + UNTOUCHED_MS;
    const result = await sweepRuns({
      ...dependencies,
      queue: {
        send: (run) =>
          run.improvementRunId === key.improvementRunId
            ? Promise.reject(new Error('throttled'))
            : dependencies.queue.send(run),
      },
      isTime: () => true,
      random: () => 0,
      onBroken: (run) => ended.push(run.improvementRunId),
      onFailed: () => undefined,
    });
    expect(result).toEqual({ open: 2, sent: 1, failed: 0, broken: 1 });
    expect(ended).toEqual([key.improvementRunId]);
    expect(world.sent).toEqual([other]);
    expect(await world.store.readRun(key)).toMatchObject({ sweeps: 0, touchedAt: CREATED });
  });

  it('does not count a message that a worker has taken before it was counted: a parked run would wait for it in vain', async () => {
    const { store, dependencies } = world;
    const at = CREATED + UNTOUCHED_MS;
    world.now = at;
    await sweepRuns({
      ...dependencies,
      queue: { send: (run) => store.beginRun(run, 0, at) },
      isTime: () => true,
      random: () => 0,
      onBroken: () => undefined,
      onFailed: () => undefined,
    });
    expect(await store.readRun(key)).toMatchObject({ touchedAt: at, sweeps: 0 });
  });

  it('that fails a run which has just ended leaves it as it is [RP-155]', async () => {
    const { store } = world;
    const completedAt = CREATED + 5;
    world.now = CREATED + MAX_AGE_MS;
    const result = await sweepRuns({
      ...world.dependencies,
      store: {
        ...store,
        async readSummary(run) {
          const found = await store.readSummary(run);
          const receipt = { sha256: '0'.repeat(64), mediaType: 'application/json' as const };
          await store.moveRun(run, ['queued'], { state: 'completed', completedAt, receipt }, completedAt);
          return found;
        },
      },
      isTime: () => true,
      random: () => 0,
      onBroken: () => undefined,
      onFailed: () => undefined,
    });
    expect(result).toMatchObject({ failed: 0 });
    expect(await world.store.readRun(key)).toMatchObject({ state: 'completed', completedAt });
  });
});

describe('the function', () => {
  const context = { awsRequestId: 'request-1', getRemainingTimeInMillis: () => 60_000 };
  const lines: string[] = [];
  const runtime = () => ({
    environment: {},
    now: () => world.now,
    write: (line: string) => lines.push(line),
    random: (count: number) => new Uint8Array(count),
  });
  const sweepFunction = (watched: WatchedRelease = { state: wholeRelease }): ScheduledHandler =>
    createSweepFunction(
      () => world.dependencies,
      runtime(),
      () => () => Promise.resolve(watched),
    );
  const codes = (): unknown[] => lines.map((line) => (JSON.parse(line) as { code: unknown }).code);
  beforeEach(() => {
    lines.length = 0;
    world.now = CREATED + UNTOUCHED_MS;
  });

  it('sweeps and says how much, without an id of anybody', async () => {
    await sweepFunction()({}, context);
    expect(world.sent).toEqual([key]);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { code: 'IMPROVEMENT_RUNS_SWEPT', open: 1, sent: 1, failed: 0, broken: 0 },
    ]);
    expect(lines.join('')).not.toContain(key.tenantId);
  });

  it('does nothing while a gate is withdrawn: whatever was due is due when it is open again', async () => {
    world.now = CREATED + MAX_AGE_MS;
    const state = { ...wholeRelease, open: new Set<Gate>(['F']) };
    await sweepFunction({ state })({}, context);
    expect(world.sent).toEqual([]);
    expect((await world.store.readRun(key))?.state).toBe('queued');
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { code: 'RELEASE_WITHDRAWN', missing: ['D'] },
    ]);
    await sweepFunction()({}, context);
    expect((await world.store.readRun(key))?.state).toBe('failed');
  });

  it('begins on no run when it is about to be stopped', async () => {
    const late = { ...context, getRemainingTimeInMillis: () => 9_999 };
    await sweepFunction()({}, late);
    expect(world.sent).toEqual([]);
  });

  it.each(['listOpen', 'readSummary', 'touchRun'] as const)(
    'ends with an error that quotes nothing when the table fails at %s',
    async (operation) => {
      world.store.fail(new Error('quotes tenant-a'), operation);
      const sweeping = sweepFunction()({}, context);
      await expect(sweeping).rejects.toThrow(/BACKGROUND_WORK_BROKEN says where/);
      expect(codes()).toContain('BACKGROUND_WORK_BROKEN');
      expect(lines.join('')).not.toContain('tenant-a');
      world.store.fail(undefined);
      world.now += UNTOUCHED_MS;
      await sweepFunction()({}, context);
      expect(world.sent).toContainEqual(key);
    },
  );
});
