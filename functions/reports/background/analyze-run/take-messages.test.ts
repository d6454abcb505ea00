import type { SQSEvent } from 'aws-lambda';
import { beforeEach, describe, expect, it } from 'vitest';
import { writeRunMessage } from '#shared/improvement/run-message.ts';
import type { RunKey } from '#shared/improvement/records.ts';
import { readEnvironment } from '#shared/http/environment.ts';
import { closed } from '#shared/release/release-state.ts';
import type { WatchedRelease } from '#shared/release/watch-release.ts';
import { openImprovementWorld, runOf } from '#test/support/improvement.ts';
import type { ImprovementWorld } from '#test/support/improvement.ts';
import { wholeRelease } from '#test/support/release.ts';
import { createMessageFunction } from './take-messages.ts';
import type { MessageFunction } from './take-messages.ts';

const improved = runOf();

let world: ImprovementWorld;
let key: RunKey;
let lines: string[];
let take: MessageFunction;
let remaining: number;
let binds: number;
let watched: WatchedRelease;
beforeEach(async () => {
  watched = { state: wholeRelease };
  world = openImprovementWorld([improved]);
  key = await world.create('run_1', improved.pins);
  lines = [];
  remaining = 300_000;
  binds = 0;
  take = createMessageFunction(
    () => {
      binds += 1;
      return world.dependencies;
    },
    { environment: {}, now: () => world.now, write: (line) => lines.push(line) },
    () => () => Promise.resolve(watched),
  );
});

const context = { awsRequestId: 'request-1', getRemainingTimeInMillis: () => remaining };

function eventOf(...bodies: readonly string[]): SQSEvent {
  return {
    Records: bodies.map((body, at) => ({
      messageId: `message-${at}`,
      body,
      attributes: { ApproximateReceiveCount: '2' },
    })),
  } as SQSEvent;
}

const logged = (): unknown[] => lines.map((line) => JSON.parse(line) as unknown);

describe('a message', () => {
  it('of a run is done when the run is, and says what was done', async () => {
    expect(await take(eventOf(writeRunMessage(key)), context)).toEqual({ batchItemFailures: [] });
    expect((await world.store.readRun(key))?.state).toBe('completed_with_omissions');
    expect(logged()).toMatchObject([
      {
        code: 'IMPROVEMENT_RUN_WORKED',
        operation: 'analyzeImprovementRun',
        requestId: 'request-1',
        improvementRunId: 'run_1',
        outcome: 'completed_with_omissions',
        received: 2,
        evaluated: 3,
        opened: 3,
        delivered: 3,
        blocked: 0,
      },
    ]);
  });

  it('leaves nothing of tenant, administration, subjects or evidence in the log', async () => {
    world.receive = () => ({ kind: 'unavailable' });
    await take(eventOf(writeRunMessage(key), '{"tenantId":"tenant-a","x":1}'), context);
    world.serve('artifact-item_difficulty', {});
    const other = await world.create('run_2', improved.pins);
    await take(eventOf(writeRunMessage(other)), context);
    expect(logged().length).toBeGreaterThan(2);
    const { orders } = (await world.store.readProgress(key))!;
    const secrets = [
      'tenant-a',
      'administration-spring-5',
      'item-weak',
      'guid-1',
      'artifact-',
      'spec-fractions',
      ...improved.pins.sources.map(({ sourceKey }) => sourceKey),
      ...orders.map(({ revisionOrderId }) => revisionOrderId),
    ];
    for (const secret of secrets) expect(lines.join('')).not.toContain(secret);
  });

  it.each([
    ['no JSON', 'run_1'],
    ['another object', '{"improvementRunId":"run_1"}'],
    ['a member more', '{"improvementRunId":"run_1","tenantId":"tenant-a","force":true}'],
    ['an empty id', '{"improvementRunId":"","tenantId":"tenant-a"}'],
    ['a number', '{"improvementRunId":1,"tenantId":"tenant-a"}'],
    ['nothing', ''],
  ])('that holds %s fails: it ends among the dead letters', async (_, body) => {
    expect(await take(eventOf(body), context)).toEqual({
      batchItemFailures: [{ itemIdentifier: 'message-0' }],
    });
    expect(logged()).toMatchObject([{ code: 'MESSAGE_REFUSED', level: 'ERROR', received: 2 }]);
    expect(world.calls).toEqual([]);
  });

  it.each([
    ['a run that nobody has', { improvementRunId: 'run_nobody' }],
    ['another tenant’s run', { tenantId: 'tenant-b' }],
    ['an id that no record can have', { improvementRunId: 'x'.repeat(5_000) }],
  ])('of %s is done', async (_, change) => {
    expect(await take(eventOf(writeRunMessage({ ...key, ...change })), context)).toEqual({
      batchItemFailures: [],
    });
    expect(logged()).toMatchObject([{ outcome: 'absent' }]);
    expect((await world.store.readRun(key))?.state).toBe('queued');
  });

  it('fails where an owner gives no answer, and only that one', async () => {
    world.serve('artifact-item_difficulty', undefined, { kind: 'unavailable', status: 503 });
    const other = { ...key, improvementRunId: 'run_nobody' };
    expect(await take(eventOf(writeRunMessage(other), writeRunMessage(key)), context)).toEqual({
      batchItemFailures: [{ itemIdentifier: 'message-1' }],
    });
    expect(logged().at(-1)).toMatchObject({
      code: 'IMPROVEMENT_RUN_STALLED',
      reason: 'owner',
      owner: 'analytics',
    });
  });

  it('of a run that has failed is done, and says why [RP-154]', async () => {
    world.serve('artifact-item_difficulty', undefined, { kind: 'not-found', status: 404 });
    expect(await take(eventOf(writeRunMessage(key)), context)).toEqual({ batchItemFailures: [] });
    expect(logged()).toMatchObject([
      { code: 'IMPROVEMENT_RUN_WORKED', outcome: 'failed' },
      { code: 'IMPROVEMENT_RUN_FAILED', level: 'ERROR', reason: 'evidence_gone', owner: 'analytics' },
    ]);
  });

  it('is handed on by the time that the function has left', async () => {
    let made = 0;
    const sending = openImprovementWorld([improved], (name) => {
      if (name === 'receipts') sending.now += 260_000;
      made += 1;
      return Promise.resolve();
    });
    const run = await sending.create('run_1', improved.pins);
    world = sending;
    await take(eventOf(writeRunMessage(run)), context);
    expect(made).toBeGreaterThan(0);
    expect(sending.sent).toEqual([run]);
    expect(logged()).toMatchObject([{ outcome: 'handed_on', evaluated: 3 }]);
    remaining = 100;
    expect(await take(eventOf(writeRunMessage(run)), context)).toMatchObject({
      batchItemFailures: [{ itemIdentifier: 'message-0' }],
    });
  });
});

describe('a defect', () => {
  it('or an outage ends the invocation with an error that quotes nothing', async () => {
    const quoting = new Error('the table quotes tenant-a', { cause: new TypeError('tenant-a') });
    quoting.stack = `${quoting.stack ?? ''}\n    at ${writeRunMessage(key)} (file:///tenant-a {}:1:1)`;
    world.store.fail(quoting);
    await expect(take(eventOf(writeRunMessage(key)), context)).rejects.toThrow(
      /^a defect or an outage stopped the work; the log line BACKGROUND_WORK_BROKEN says where$/,
    );
    expect(logged()).toMatchObject([
      { code: 'BACKGROUND_WORK_BROKEN', error: 'Error', improvementRunId: 'run_1' },
    ]);
    expect(lines.join('')).not.toContain('tenant-a');
    world.store.fail(undefined);
    expect(await take(eventOf(writeRunMessage(key)), context)).toEqual({ batchItemFailures: [] });
  });

  it('in the function’s environment is named, and looked at again with the next message', async () => {
    const broken = createMessageFunction(
      () => readEnvironment(['IMPROVEMENT_TABLE'], {}) as never,
      { environment: {}, now: () => world.now, write: (line) => lines.push(line) },
      () => () => Promise.resolve(watched),
    );
    for (let times = 1; times <= 2; times += 1) {
      await expect(broken(eventOf(writeRunMessage(key)), context)).rejects.toThrow();
      expect(logged().slice(-2)).toMatchObject([
        { code: 'ENVIRONMENT_INVALID', variables: ['IMPROVEMENT_TABLE'] },
        { code: 'BACKGROUND_WORK_BROKEN' },
      ]);
    }
  });
});

describe('while a gate is withdrawn', () => {
  it.each<[string, WatchedRelease, object]>([
    [
      'F',
      { state: { ...wholeRelease, open: new Set(['A', 'B', 'C', 'D']) } },
      { code: 'RELEASE_WITHDRAWN', level: 'INFO', missing: ['F'] },
    ],
    [
      'everything, since nothing is proved',
      { state: closed, fault: 'expired' },
      { code: 'RELEASE_UNPROVED', level: 'ERROR', reason: 'expired' },
    ],
  ])('(%s) every message stays in its queue, and its run as it was', async (_, release, line) => {
    watched = release;
    const before = await world.store.readRun(key);
    expect(await take(eventOf(writeRunMessage(key), 'no message'), context)).toEqual({
      batchItemFailures: [{ itemIdentifier: 'message-0' }, { itemIdentifier: 'message-1' }],
    });
    expect(await world.store.readRun(key)).toStrictEqual(before);
    expect([world.calls, world.sent, binds]).toEqual([[], [], 0]);
    expect(logged()).toMatchObject([line]);
    watched = { state: wholeRelease };
    expect(await take(eventOf(writeRunMessage(key)), context)).toEqual({ batchItemFailures: [] });
    expect((await world.store.readRun(key))?.state).toBe('completed_with_omissions');
  });
});

it('stops before the next step when a gate is withdrawn on the way, hands nothing on, and goes on from there', async () => {
  const withdrawn: WatchedRelease = { state: { ...wholeRelease, open: new Set(['A', 'B', 'C', 'D']) } };
  world.receive = () => {
    watched = withdrawn;
    return undefined;
  };
  expect(await take(eventOf(writeRunMessage(key)), context)).toEqual({
    batchItemFailures: [{ itemIdentifier: 'message-0' }],
  });
  expect([world.handed.length, world.sent]).toEqual([1, []]);
  expect((await world.store.readRun(key))?.state).toBe('analyzing');
  expect(logged()).toMatchObject([
    { code: 'RELEASE_WITHDRAWN', missing: ['F'] },
    { code: 'IMPROVEMENT_RUN_STALLED', reason: 'release', owner: 'unknown', delivered: 1 },
  ]);
  world.receive = () => undefined;
  watched = { state: wholeRelease };
  expect(await take(eventOf(writeRunMessage(key)), context)).toEqual({ batchItemFailures: [] });
  expect((await world.store.readRun(key))?.state).toBe('completed_with_omissions');
  expect(world.handed).toHaveLength(3);
});

it('binds its dependencies once a container', async () => {
  await take(eventOf(writeRunMessage(key)), context);
  await take(eventOf(writeRunMessage(key)), context);
  expect(binds).toBe(1);
});
