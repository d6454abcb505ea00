import { beforeEach, describe, expect, it } from 'vitest';
import type { RunKey, RunSummary } from '#shared/improvement/records.ts';
import { names } from '#test/support/improvement-facts.ts';
import { openImprovementWorld, runOf, type ImprovementWorld } from '#test/support/improvement.ts';
import type { WatchedRelease } from '#shared/release/watch-release.ts';
import { wholeRelease } from '#test/support/release.ts';
import {
  LONGEST_PARKED_MS,
  LONGEST_UNREAD_MS,
  MAX_AGE_MS,
  MAX_TRIES,
  MESSAGE_KEPT_MS,
  OFTEN_MS,
  UNTOUCHED_MS,
  createSweepFunction,
  verdictOn,
} from './sweep-runs.ts';
import type { SweepStores } from './sweep-runs.ts';

const CREATED = Date.parse('2026-03-02T10:00:00Z');
const SWEEP_MS = 300_000;

const created: RunSummary = {
  tenantId: names.tenantId,
  administrationId: names.administrationId,
  improvementRunId: 'run_1',
  state: 'queued',
  createdAt: CREATED,
  touchedAt: CREATED,
  sweeps: 0,
  tries: 0,
};
const parked: RunSummary = { ...created, state: 'blocked_upstream', parkedAt: CREATED };

/**
 * When a run is sent on in the first 14 days.
 * @param isTaken whether a worker takes each message at once, and finds the receiver still missing
 */
function sentAt(run: RunSummary, isTaken: boolean): readonly number[] {
  const times: number[] = [];
  let now = run;
  for (let at = CREATED; at < CREATED + MAX_AGE_MS; at += SWEEP_MS) {
    const verdict = verdictOn(now, at);
    expect(['wait', 'send']).toContain(verdict);
    if (verdict === 'wait') continue;
    times.push(at);
    now = { ...now, touchedAt: at, sweeps: isTaken ? 0 : now.sweeps + 1 };
  }
  return times;
}

const pauses = (times: readonly number[]): readonly number[] =>
  times.slice(1).map((at, index) => at - times[index]!);

describe('a run that no worker begins on', () => {
  it.each(['queued', 'analyzing'] as const)(
    '%s is sent on once it stands still for 15 minutes, then after pauses that grow to a day [RP-221]',
    (state) => {
      const run = { ...created, state };
      expect(verdictOn(run, CREATED + UNTOUCHED_MS - 1)).toBe('wait');
      const times = sentAt(run, false);
      expect(times[0]).toBe(CREATED + UNTOUCHED_MS);
      const waited = pauses(times);
      expect(waited.slice(0, 3)).toEqual([2 * UNTOUCHED_MS, 4 * UNTOUCHED_MS, 8 * UNTOUCHED_MS]);
      expect(Math.max(...waited)).toBe(LONGEST_UNREAD_MS);
      expect(waited).toEqual(waited.toSorted((a, b) => a - b));
      expect(times.at(-1)).toBeGreaterThan(CREATED + MAX_AGE_MS - 2 * LONGEST_UNREAD_MS);
      // So many of its messages may wait, whatever happens to the queue.
      expect(times.length).toBeLessThan(22);
    },
  );
});

describe('a parked run', () => {
  it('is sent on by every sweep at first, then after pauses that grow to an hour: its receiver may be back', () => {
    const times = sentAt(parked, true);
    expect(times.filter((at) => at <= CREATED + OFTEN_MS)).toHaveLength(1 + OFTEN_MS / SWEEP_MS);
    const waited = pauses(times);
    expect(waited).toEqual(waited.toSorted((a, b) => a - b));
    expect(waited.at(-1)).toBe(LONGEST_PARKED_MS);
    expect(waited.filter((pause) => pause === LONGEST_PARKED_MS).length).toBeGreaterThan(13 * 24);
  });

  it('is not sent on while a message of it may be waiting: there are no more of them than runs', () => {
    const times = sentAt(parked, false);
    expect(pauses(times)).toEqual([MESSAGE_KEPT_MS, MESSAGE_KEPT_MS, MESSAGE_KEPT_MS]);
  });
});

describe('a run is given up', () => {
  it.each([
    created,
    { ...created, state: 'analyzing', touchedAt: CREATED + MAX_AGE_MS - 1 } as const,
    parked,
  ])(
    '14 days after it was created, however often workers begin on it: $state $touchedAt [RP-154, RP-217]',
    (run) => {
      expect(verdictOn(run, CREATED + MAX_AGE_MS - 1)).not.toBe('too_old');
      expect(verdictOn(run, CREATED + MAX_AGE_MS)).toBe('too_old');
    },
  );

  it.each([created, parked])('after 40 tries in vain, and not while a worker may be at it: $state', (run) => {
    const tried = (tries: number): RunSummary => ({ ...run, tries });
    expect(verdictOn(tried(MAX_TRIES - 1), CREATED + UNTOUCHED_MS)).toBe('send');
    expect(verdictOn(tried(MAX_TRIES), CREATED + UNTOUCHED_MS - 1)).toBe('wait');
    expect(verdictOn(tried(MAX_TRIES), CREATED + UNTOUCHED_MS)).toBe('no_progress');
  });
});

const improved = runOf();
let world: ImprovementWorld;
let key: RunKey;
beforeEach(async () => {
  world = await openImprovementWorld(improved);
  world.now = CREATED + UNTOUCHED_MS;
  key = await world.create('run_1', improved.pins, CREATED);
});

/** Lines that the last sweep has logged. */
const lines: string[] = [];
const logged = (): readonly unknown[] => lines.map((line) => JSON.parse(line) as unknown);

interface Sweeping {
  readonly send?: SweepStores['queue']['send'];
  /** How long the function has, in milliseconds. */
  readonly left?: number;
  /** Every byte of its randomness. */
  readonly byte?: number;
  readonly release?: WatchedRelease;
}

async function sweep({
  left = 60_000,
  byte = 0,
  release = { state: wholeRelease },
  ...change
}: Sweeping = {}) {
  lines.length = 0;
  const { store, queue } = world.dependencies;
  await createSweepFunction(
    () => ({ store, queue: { ...queue, ...change } }),
    {
      environment: {},
      now: () => world.now,
      write: (line: string) => lines.push(line),
      random: (count: number) => new Uint8Array(count).fill(byte),
    },
    () => () => Promise.resolve(release),
  )({}, { awsRequestId: 'request-1', getRemainingTimeInMillis: () => left });
  return logged();
}

const swept = (counts: object) => ({ code: 'IMPROVEMENT_RUNS_SWEPT', ...counts });

describe('a sweep', () => {
  it('sends on every run that is due, and counts it; reads no pins, and none that has ended; logs no id of a tenant', async () => {
    const others: RunKey[] = [];
    for (let at = 0; at < 20; at += 1)
      others.push(await world.create(`run_other_${at}`, improved.pins, CREATED));
    await world.store.moveRun(key, { state: 'failed', completedAt: CREATED }, CREATED);
    world.step = (name) =>
      name === 'readRun' ? Promise.reject(new Error('pins are read')) : Promise.resolve();
    expect(await sweep()).toMatchObject([swept({ open: 20, sent: 20, failed: 0, broken: 0 })]);
    expect(lines.join('')).not.toContain(key.tenantId);
    const ids = (runs: readonly RunKey[]) => runs.map((run) => run.improvementRunId).toSorted();
    expect(ids(world.sent)).toEqual(ids(others));
    expect(await world.store.readRun(others[0]!)).toMatchObject({ sweeps: 1, touchedAt: world.now });
    expect(await sweep()).toMatchObject([swept({ sent: 0 })]);
  });

  it('begins on no run when it is about to be stopped, and at another place of the list each time: none is always left out', async () => {
    await sweep({ left: 9_999 });
    expect(world.sent).toEqual([]);
    for (let at = 0; at < 20; at += 1) await world.create(`run_other_${at}`, improved.pins, CREATED);
    const reached = new Set<string>();
    const send: SweepStores['queue']['send'] = (run) => {
      reached.add(run.improvementRunId);
      world.now += 60_000;
      return Promise.reject(new Error('sent on again by the next sweep'));
    };
    for (let time = 0; time < 10; time += 1) {
      await expect(sweep({ send, byte: time * 25 })).rejects.toThrow();
      if (time === 0) expect(reached.size).toBeLessThan(21);
    }
    expect(reached.size).toBe(21);
  });

  it.each([UNTOUCHED_MS, MAX_AGE_MS])(
    'neither sends a run on nor gives it up while gate F is withdrawn, however old it is: after %i ms',
    async (age) => {
      world.now = CREATED + age;
      const before = await world.store.readProgress(key);
      const release = { state: { ...wholeRelease, open: new Set(['A', 'B', 'C', 'D'] as const) } };
      expect(await sweep({ release })).toMatchObject([{ code: 'RELEASE_WITHDRAWN', missing: ['F'] }]);
      expect([world.sent, await world.store.readProgress(key)]).toStrictEqual([[], before]);
    },
  );

  it('goes on where one run cannot be swept, and does not count what was not sent', async () => {
    const other = await world.create('run_2', improved.pins, CREATED);
    const { queue } = world.dependencies;
    const send: typeof queue.send = (run) =>
      run.improvementRunId === 'run_1' ? Promise.reject(new Error('throttled')) : queue.send(run);
    await expect(sweep({ send })).rejects.toThrow(/BACKGROUND_WORK_BROKEN says where/);
    expect(logged()).toMatchObject([
      { code: 'BACKGROUND_WORK_BROKEN', improvementRunId: 'run_1' },
      swept({ open: 2, sent: 1, failed: 0, broken: 1 }),
    ]);
    expect(world.sent).toEqual([other]);
    expect(await world.store.readRun(key)).toMatchObject({ sweeps: 0, touchedAt: CREATED });
    world.step = () => Promise.reject(new Error('quotes tenant-a'));
    await expect(sweep()).rejects.toThrow(/BACKGROUND_WORK_BROKEN says where/);
    expect(logged()).toMatchObject([{ code: 'BACKGROUND_WORK_BROKEN' }]);
    expect(lines.join('')).not.toContain('tenant-a');
  });

  it('does not count a message that a worker has taken before it was counted: a parked run would wait for it in vain', async () => {
    await sweep({ send: (run) => world.store.beginRun(run, 0, world.now) });
    expect(await world.store.readRun(key)).toMatchObject({ touchedAt: world.now, sweeps: 0 });
  });

  it('fails a run that is given up, and leaves one as it is that has just ended [RP-155]', async () => {
    world.now = CREATED + MAX_AGE_MS;
    const completedAt = CREATED + 5;
    const ended = await world.create('run_2', improved.pins, CREATED);
    const receipt = { sha256: '0'.repeat(64), mediaType: 'application/json' } as const;
    const to = { state: 'completed', completedAt, receipt } as const;
    world.step = async (name) => {
      if (name === 'moveRun') await world.store.moveRun(ended, to, completedAt);
    };
    expect(await sweep()).toMatchObject([
      { code: 'IMPROVEMENT_RUN_FAILED', improvementRunId: 'run_1', reason: 'too_old' },
      swept({ open: 2, sent: 0, failed: 1, broken: 0 }),
    ]);
    expect(await world.store.readRun(key)).toMatchObject({ state: 'failed', completedAt: world.now });
    expect(await world.store.readRun(ended)).toMatchObject({ state: 'completed', completedAt });
  });
});
