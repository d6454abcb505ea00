import type { SQSEvent } from 'aws-lambda';
import { beforeEach, describe, expect, it } from 'vitest';
import { readEnvironment } from '#shared/http/environment.ts';
import type { RunKey } from '#shared/improvement/records.ts';
import { writeRunMessage } from '#shared/improvement/run-message.ts';
import { closed } from '#shared/release/release-state.ts';
import type { WatchedRelease } from '#shared/release/watch-release.ts';
import { openImprovementWorld, runOf } from '#test/support/improvement.ts';
import type { ImprovementWorld } from '#test/support/improvement.ts';
import { wholeRelease } from '#test/support/release.ts';
import { createMessageFunction } from './take-messages.ts';
import type { MessageFunction } from './take-messages.ts';

const improved = runOf();
const open: WatchedRelease = { state: wholeRelease };
const withoutF: WatchedRelease = { state: { ...wholeRelease, open: new Set(['A', 'B', 'C', 'D']) } };

let world: ImprovementWorld;
let key: RunKey;
let lines: string[];
let binds: number;
let watched: WatchedRelease;
let take: MessageFunction;
beforeEach(async () => {
  world = await openImprovementWorld(improved);
  key = await world.create('run_1', improved.pins);
  lines = [];
  binds = 0;
  watched = open;
  take = functionOf(() => {
    binds += 1;
    return world.dependencies;
  });
});

const functionOf = (bind: Parameters<typeof createMessageFunction>[0]): MessageFunction =>
  createMessageFunction(
    bind,
    { environment: {}, now: () => world.now, write: (line) => lines.push(line) },
    () => () => Promise.resolve(watched),
  );

/** The messages that fail, by their numbers. */
async function failing(bodies: readonly string[] = [writeRunMessage(key)], left = 300_000, by = take) {
  const records = bodies.map((body, at) => ({
    messageId: `${at}`,
    body,
    attributes: { ApproximateReceiveCount: '2' },
  }));
  const context = { awsRequestId: 'request-1', getRemainingTimeInMillis: () => left };
  const { batchItemFailures } = await by({ Records: records } as SQSEvent, context);
  return batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
}

const logged = (): unknown[] => lines.map((line) => JSON.parse(line) as unknown);
const stateOf = async (run = key) => (await world.store.readRun(run))?.state;

describe('a message', () => {
  it('of a run is done when the run is, and the log has what was done', async () => {
    expect(await failing()).toEqual([]);
    expect(await stateOf()).toBe('completed_with_omissions');
    expect(logged()).toMatchObject([
      {
        code: 'IMPROVEMENT_RUN_WORKED',
        operation: 'analyzeImprovementRun',
        requestId: 'request-1',
        improvementRunId: 'run_1',
        outcome: 'completed_with_omissions',
        ...{ received: 2, evaluated: 3, opened: 3, delivered: 3, blocked: 0 },
      },
    ]);
    await failing();
    expect(binds).toBe(1);
  });

  it.each(['run_1', '{"improvementRunId":"run_1"}'])(
    'that names no run fails, so that it becomes a dead letter: %j',
    async (body) => {
      expect(await failing([body])).toEqual(['0']);
      expect(logged()).toMatchObject([{ code: 'MESSAGE_REFUSED', level: 'ERROR', received: 2 }]);
      expect(world.calls).toEqual([]);
    },
  );

  it.each([
    ['a run that does not exist', { improvementRunId: 'run_2' }],
    ['another tenant’s run', { tenantId: 'tenant-b' }],
  ])('of %s is done', async (_, change) => {
    expect(await failing([writeRunMessage({ ...key, ...change })])).toEqual([]);
    expect(logged()).toMatchObject([{ outcome: 'absent' }]);
    expect(await stateOf()).toBe('queued');
  });

  it('fails where an owner returns nothing, and only that one', async () => {
    world.serve('artifact-item_difficulty', undefined, { kind: 'unavailable', status: 503 });
    expect(
      await failing([writeRunMessage({ ...key, improvementRunId: 'run_2' }), writeRunMessage(key)]),
    ).toEqual(['1']);
    expect(logged().at(-1)).toMatchObject({
      code: 'IMPROVEMENT_RUN_STALLED',
      reason: 'owner',
      owner: 'analytics',
    });
  });

  it('of a run that has failed is done, and the log has the reason [RP-154]', async () => {
    world.serve('artifact-item_difficulty', undefined, { kind: 'not-found', status: 404 });
    expect(await failing()).toEqual([]);
    expect(logged()).toMatchObject([
      { code: 'IMPROVEMENT_RUN_WORKED', outcome: 'failed' },
      { code: 'IMPROVEMENT_RUN_FAILED', level: 'ERROR', reason: 'evidence_gone', owner: 'analytics' },
    ]);
  });

  it('is handed on by the time that the function has left', async () => {
    world.step = (name) => {
      if (name === 'put') world.now += 260_000;
      return Promise.resolve();
    };
    expect(await failing()).toEqual([]);
    expect(world.sent).toEqual([key]);
    expect(logged()).toMatchObject([{ outcome: 'handed_on', evaluated: 3 }]);
    expect(await failing(undefined, 100)).toEqual(['0']);
  });
});

describe('a defect', () => {
  it('or an outage ends the invocation with an error that quotes nothing', async () => {
    const quoting = new Error('the table quotes tenant-a', { cause: new TypeError('tenant-a') });
    quoting.stack = `${quoting.stack ?? ''}\n    at ${writeRunMessage(key)} (file:///tenant-a {}:1:1)`;
    world.step = () => Promise.reject(quoting);
    await expect(failing()).rejects.toThrow(
      /^a defect or an outage stopped the work; the log line BACKGROUND_WORK_BROKEN says where$/,
    );
    expect(logged()).toMatchObject([
      { code: 'BACKGROUND_WORK_BROKEN', error: 'Error', improvementRunId: 'run_1' },
    ]);
    expect(lines.join('')).not.toContain('tenant-a');
    world.step = () => Promise.resolve();
    expect(await failing()).toEqual([]);
  });

  it('in the function’s environment is named, and looked at again with the next message', async () => {
    const broken = functionOf(() => readEnvironment(['IMPROVEMENT_TABLE'], {}) as never);
    for (let times = 1; times <= 2; times += 1) {
      await expect(failing(undefined, undefined, broken)).rejects.toThrow();
      expect(logged().slice(-2)).toMatchObject([
        { code: 'ENVIRONMENT_INVALID', variables: ['IMPROVEMENT_TABLE'] },
        { code: 'BACKGROUND_WORK_BROKEN' },
      ]);
    }
  });
});

describe('while a gate is withdrawn', () => {
  it.each<[string, WatchedRelease, object]>([
    ['F', withoutF, { code: 'RELEASE_WITHDRAWN', level: 'INFO', missing: ['F'] }],
    [
      'everything, since nothing is proved',
      { state: closed, fault: 'expired' },
      { code: 'RELEASE_UNPROVED', level: 'ERROR', reason: 'expired' },
    ],
  ])('(%s) every message stays in its queue, and its run as it was', async (_, release, line) => {
    watched = release;
    const before = await world.store.readRun(key);
    expect(await failing([writeRunMessage(key), 'no message'])).toEqual(['0', '1']);
    expect(await world.store.readRun(key)).toStrictEqual(before);
    expect([world.calls, world.sent, binds]).toEqual([[], [], 0]);
    expect(logged()).toMatchObject([line]);
    watched = open;
    expect(await failing()).toEqual([]);
    expect(await stateOf()).toBe('completed_with_omissions');
  });

  it('on the way, the work stops before the next step, hands nothing on, and goes on from there', async () => {
    world.receive = () => {
      watched = withoutF;
      return undefined;
    };
    expect(await failing()).toEqual(['0']);
    expect([world.handed.length, world.sent, await stateOf()]).toEqual([1, [], 'analyzing']);
    expect(logged()).toMatchObject([
      { code: 'RELEASE_WITHDRAWN', missing: ['F'] },
      { code: 'IMPROVEMENT_RUN_STALLED', reason: 'release', owner: 'unknown', delivered: 1 },
    ]);
    world.receive = () => undefined;
    watched = open;
    expect(await failing()).toEqual([]);
    expect(await stateOf()).toBe('completed_with_omissions');
    expect(world.handed).toHaveLength(3);
  });
});
