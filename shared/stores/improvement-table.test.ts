import { randomBytes } from 'node:crypto';
import {
  DynamoDBClient,
  GetItemCommand,
  ProvisionedThroughputExceededException,
  PutItemCommand,
  QueryCommand,
  TransactionCanceledException,
  TransactionConflictException,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { localCredentials, localTableName } from '#shared/stage/local-stage.ts';
import { maxHolders } from '#shared/improvement/lineage.ts';
import { maxSources } from '#shared/improvement/records.ts';
import type {
  ImprovementStore,
  NewOrder,
  OpenRun,
  RunPins,
  RunRecord,
  ImprovementRunState,
} from '#shared/improvement/records.ts';
import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import { startTestAws } from '#test/support/aws.ts';
import type { TestAws } from '#test/support/aws.ts';
import { scanImprovement, undeclaredIn } from '#test/support/improvement-records.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { createImprovementTable } from './improvement-table.ts';

const T0 = Date.UTC(2026, 0, 31, 9, 30);
const TableName = localTableName('improvement');
const receipt = { sha256: sha256Hex('bundle'), mediaType: 'application/json' } as const;
const ack = { receiptId: 'receipt-1', version: '3', observedAt: T0 + 60 };

const pins: RunPins = {
  contentTestSpecId: 'spec-1',
  contentTestSpecVersion: '4',
  analysisPolicy: { owner: 'tenant', id: 'policy', version: '2', checksum: sha256Hex('policy') },
  formulaVersion: 'alignment-v1',
  sourceSet: { ref: 'set-1', sha256: sha256Hex('set') },
  metrics: [
    {
      metric: 'item_difficulty',
      status: 'available',
      reasonCode: null,
      artifact: { ref: 'artifact-1', sha256: sha256Hex('artifact') },
    },
    { metric: 'form_summary', status: 'unavailable', reasonCode: 'owner_artifact_missing', artifact: null },
  ],
  sources: [
    {
      sourceKey: 'act',
      crosswalk: { ref: 'crosswalk-1', sha256: sha256Hex('crosswalk') },
      comparison: { ref: 'comparison-1', sha256: sha256Hex('comparison') },
    },
    { sourceKey: 'sat', crosswalk: { ref: 'ü', sha256: sha256Hex('ü') }, comparison: 'missing' },
    { sourceKey: 'x', crosswalk: { ref: 'c"\\', sha256: sha256Hex('c') }, comparison: null },
  ],
};

let emulator: TestAws;
/** Tries a failed call three times, as the functions' clients do. */
let client: DynamoDBClient;
beforeAll(async () => {
  emulator = await startTestAws();
  client = new DynamoDBClient({
    endpoint: emulator.aws.url,
    region: 'us-east-1',
    credentials: localCredentials,
    maxAttempts: 3,
  });
});
afterEach(() => emulator.aws.faults.reset());
afterAll(async () => {
  client.destroy();
  await emulator.close();
});

// Every test has a tenant of its own, for they share one table.
let tenants = 0;
let tenantId: string;
let store: ImprovementStore;
beforeEach(() => {
  tenants += 1;
  tenantId = `tenant-${tenants}`;
});

interface Wanted {
  readonly tenantId?: string;
  readonly administrationId?: string;
  readonly createdAt?: number;
}

function newRun(improvementRunId: string, changes: Wanted = {}) {
  return {
    tenantId,
    improvementRunId,
    administrationId: 'administration-1',
    pins,
    createdAt: T0,
    ...changes,
  };
}

const openRun = (improvementRunId: string, changes: Wanted = {}): Promise<RunRecord> =>
  store.createRun(newRun(improvementRunId, changes));

function order(revisionOrderId: string, changes: Partial<NewOrder> = {}): NewOrder {
  return {
    revisionOrderId,
    evidence: 'metric:item_difficulty',
    targetModule: 'bank',
    lineage: sha256Hex('lineage'),
    ...changes,
  };
}

async function listed(of?: Parameters<ImprovementStore['listOpen']>[0]): Promise<readonly OpenRun[]> {
  const runs: OpenRun[] = [];
  for await (const run of store.listOpen(of)) runs.push(run);
  return runs;
}

async function statusOf(run: RunRecord, revisionOrderId: string): Promise<string | undefined> {
  const progress = await store.readProgress(run);
  return progress?.orders.find((found) => found.revisionOrderId === revisionOrderId)?.status;
}

/** Ids that no key of DynamoDB can hold. */
const impossible: readonly (readonly [string, string])[] = [
  ['too long', 'x'.repeat(2049)],
  ['not well-formed', '\ud800'],
];

describe('the improvement table', () => {
  beforeEach(() => {
    store = createImprovementTable(client, TableName, processRuntime());
  });

  describe('a run', () => {
    it('is created as queued, with its pins, and listed as open', async () => {
      const run = await openRun('run_1');
      expect(run).toEqual({
        tenantId,
        improvementRunId: 'run_1',
        administrationId: 'administration-1',
        pins,
        state: 'queued',
        createdAt: T0,
        touchedAt: T0,
        sweeps: 0,
      });
      expect(await store.readRun(run)).toEqual(run);
      expect(await store.readProgress(run)).toEqual({ run, evidence: [], orders: [] });
      expect(await listed({ tenantId, administrationId: 'administration-1' })).toEqual([
        { tenantId, improvementRunId: 'run_1', administrationId: 'administration-1' },
      ]);
    });

    it('is created once: whoever comes later gets the one that stands, as it is by then [RP-293]', async () => {
      const run = await openRun('run_1');
      await store.moveRun(run, ['queued'], { state: 'analyzing' }, T0 + 5);
      const again = await openRun('run_1', { administrationId: 'other', createdAt: T0 + 9 });
      expect(again).toEqual({ ...run, state: 'analyzing', touchedAt: T0 + 5 });
      expect(await listed({ tenantId, administrationId: 'other' })).toEqual([]);
    });

    it('is one run when twenty create it at once', async () => {
      const runs = await Promise.all(
        Array.from({ length: 20 }, (_unused, n) => openRun('run_1', { createdAt: T0 + n })),
      );
      const stored = await store.readRun({ tenantId, improvementRunId: 'run_1' });
      for (const run of runs) expect(run).toEqual(stored);
      expect(await listed({ tenantId, administrationId: 'administration-1' })).toHaveLength(1);
    });

    it('moves from the states that are named and from no other, and is open as long as a receiver blocks it [RP-156]', async () => {
      const run = await openRun('run_1');
      const move = (
        from: readonly ImprovementRunState[],
        state: 'analyzing' | 'blocked_upstream',
        now: number,
      ) => store.moveRun(run, from, { state }, now);
      expect(await move(['analyzing', 'blocked_upstream'], 'analyzing', T0 + 1)).toBe(false);
      expect(await move(['queued', 'blocked_upstream'], 'analyzing', T0 + 2)).toBe(true);
      expect(await move(['queued'], 'blocked_upstream', T0 + 3)).toBe(false);
      expect(await move([], 'blocked_upstream', T0 + 3)).toBe(false);
      expect(await store.readRun(run)).toEqual({ ...run, state: 'analyzing', touchedAt: T0 + 2 });
      expect(await move(['analyzing'], 'blocked_upstream', T0 + 4)).toBe(true);
      expect(await store.readRun(run)).toEqual({ ...run, state: 'blocked_upstream', touchedAt: T0 + 4 });
      expect(await listed({ tenantId, administrationId: run.administrationId })).toHaveLength(1);
      const absent = { tenantId, improvementRunId: 'run_2' };
      expect(await store.moveRun(absent, ['queued'], { state: 'analyzing' }, T0)).toBe(false);
      expect(await store.readRun(absent)).toBeUndefined();
    });

    it.each(['completed', 'completed_with_omissions', 'failed'] as const)(
      'that is %s has ended for good and is no longer listed [RP-155, RP-156]',
      async (state) => {
        const run = await openRun('run_1');
        const other = await openRun('run_2');
        const to =
          state === 'failed'
            ? ({ state, completedAt: T0 + 7 } as const)
            : { state, completedAt: T0 + 7, receipt };
        expect(await store.moveRun(run, ['analyzing'], to, T0 + 8)).toBe(false);
        expect(await listed({ tenantId, administrationId: run.administrationId })).toHaveLength(2);
        expect(await store.moveRun(run, ['queued', 'analyzing'], to, T0 + 8)).toBe(true);
        const ended = { ...run, ...to, touchedAt: T0 + 8 };
        expect(await store.readRun(run)).toEqual(ended);
        expect(await listed({ tenantId, administrationId: run.administrationId })).toEqual([
          { tenantId, improvementRunId: other.improvementRunId, administrationId: other.administrationId },
        ]);
        const everywhere: readonly ImprovementRunState[] = ['queued', 'analyzing', 'blocked_upstream', state];
        expect(await store.moveRun(run, everywhere, { state: 'analyzing' }, T0 + 9)).toBe(false);
        expect(await store.moveRun(run, everywhere, { state: 'failed', completedAt: T0 }, T0 + 9)).toBe(
          false,
        );
        expect(await openRun('run_1')).toEqual(ended);
        expect(await listed({ tenantId, administrationId: run.administrationId })).toHaveLength(1);
      },
    );

    it('is ended by exactly one of those who try at once', async () => {
      const run = await openRun('run_1');
      const outcomes = await Promise.all(
        Array.from({ length: 8 }, (_unused, n) =>
          store.moveRun(run, ['queued'], { state: 'failed', completedAt: T0 + n }, T0 + n),
        ),
      );
      expect(outcomes.filter(Boolean)).toHaveLength(1);
      expect((await store.readRun(run))?.completedAt).toBe(T0 + outcomes.indexOf(true));
    });

    it('does not end before it began, however late the clock of its worker is [RP-155]', async () => {
      const run = await openRun('run_1');
      await store.moveRun(run, ['queued'], { state: 'completed', completedAt: T0 - 3, receipt }, T0 - 2);
      expect((await store.readRun(run))?.completedAt).toBe(T0);
    });

    it('counts the sweeps since a worker last began on it, until it has ended', async () => {
      const run = await openRun('run_1');
      await store.touchRun(run, 'sweeper', T0 + 1);
      await store.touchRun(run, 'sweeper', T0 + 2);
      expect(await store.readRun(run)).toEqual({ ...run, sweeps: 2, touchedAt: T0 + 2 });
      await store.touchRun(run, 'worker', T0 + 3);
      expect(await store.readRun(run)).toEqual({ ...run, sweeps: 2, touchedAt: T0 + 3 });
      await store.beginRun(run, 0, T0 + 3);
      expect(await store.readRun(run)).toEqual({ ...run, sweeps: 0, touchedAt: T0 + 3 });
      await store.moveRun(run, ['queued'], { state: 'blocked_upstream' }, T0 + 4);
      await store.touchRun(run, 'sweeper', T0 + 5);
      expect(await store.readRun(run)).toMatchObject({ state: 'blocked_upstream', sweeps: 1 });
      await store.moveRun(run, ['blocked_upstream'], { state: 'failed', completedAt: T0 + 6 }, T0 + 6);
      await store.touchRun(run, 'sweeper', T0 + 7);
      await store.touchRun(run, 'worker', T0 + 8);
      expect(await store.readRun(run)).toMatchObject({ sweeps: 1, touchedAt: T0 + 6 });
    });

    it('counts no sweep of a run that somebody has touched since it was seen', async () => {
      const run = await openRun('run_1');
      await store.touchRun(run, 'sweeper', T0 + 1, T0 - 1);
      expect(await store.readRun(run)).toEqual(run);
      await store.touchRun(run, 'sweeper', T0 + 1, run.touchedAt);
      expect(await store.readRun(run)).toEqual({ ...run, sweeps: 1, touchedAt: T0 + 1 });
      await store.beginRun(run, 0, T0 + 2);
      await store.touchRun(run, 'sweeper', T0 + 3, T0 + 1);
      expect(await store.readRun(run)).toEqual({ ...run, sweeps: 0, touchedAt: T0 + 2 });
    });

    it('counts the tries of workers in a row that record nothing, until one leaves it as it should', async () => {
      const run = await openRun('run_1');
      const begin = async (recorded: number, now: number) => {
        await store.beginRun(run, recorded, now);
        return (await store.readSummary(run))?.tries;
      };
      await store.touchRun(run, 'sweeper', T0 + 1);
      expect(await begin(0, T0 + 2)).toBe(1);
      expect(await store.readRun(run)).toEqual({ ...run, touchedAt: T0 + 2 });
      expect(await begin(0, T0 + 3)).toBe(2);
      expect(await begin(3, T0 + 4)).toBe(1);
      await store.touchRun(run, 'sweeper', T0 + 5);
      expect(await begin(3, T0 + 6)).toBe(2);
      // A worker that has read before the others recorded more.
      expect(await begin(2, T0 + 7)).toBe(3);
      await store.touchRun(run, 'worker', T0 + 8);
      expect(await store.readSummary(run)).toMatchObject({ tries: 0, touchedAt: T0 + 8 });
      expect(await begin(3, T0 + 9)).toBe(1);
      await store.moveRun(run, ['queued'], { state: 'failed', completedAt: T0 + 10 }, T0 + 10);
      expect(await begin(9, T0 + 11)).toBe(1);
      expect(await store.readRun(run)).toMatchObject({ touchedAt: T0 + 10 });
    });

    it('has a summary without its pins, which says when it was parked', async () => {
      const { tenantId: tenant, improvementRunId, administrationId } = await openRun('run_1');
      const run = {
        ...{ tenantId: tenant, improvementRunId, administrationId },
        ...{ state: 'queued', createdAt: T0, touchedAt: T0, sweeps: 0 },
      };
      expect(await store.readSummary(run)).toEqual({ ...run, tries: 0 });
      await store.moveRun(run, ['queued'], { state: 'blocked_upstream' }, T0 + 4);
      expect(await store.readSummary(run)).toEqual({
        ...run,
        state: 'blocked_upstream',
        touchedAt: T0 + 4,
        parkedAt: T0 + 4,
        tries: 0,
      });
      expect(await store.readSummary({ ...run, improvementRunId: 'run_2' })).toBeUndefined();
    });

    it('that does not exist is not made by touching it', async () => {
      const key = { tenantId, improvementRunId: 'run_1' };
      await store.beginRun(key, 0, T0);
      await store.touchRun(key, 'worker', T0);
      await store.touchRun(key, 'sweeper', T0);
      expect(await store.readRun(key)).toBeUndefined();
      expect(await store.readProgress(key)).toBeUndefined();
    });

    it('belongs to its tenant alone, whatever the ids look like [RP-142]', async () => {
      const run = await openRun('run_1');
      await store.openOrder(run, order('order_1'), T0);
      await store.putEvidence(run, { key: 'source:act', evaluatedAt: T0 });
      for (const other of [
        { tenantId: `${tenantId}x`, improvementRunId: 'run_1' },
        { tenantId: `${tenantId}#run_1`, improvementRunId: '' },
        { tenantId: tenantId.slice(0, -1), improvementRunId: `${tenantId.slice(-1)}#run_1` },
      ]) {
        expect(await store.readRun(other)).toBeUndefined();
        expect(await store.readProgress(other)).toBeUndefined();
        expect(await store.readSummary(other)).toBeUndefined();
        expect(await store.confirmOrder(other, order('order_1'), T0)).toBeUndefined();
        expect(await store.listOrders(other, { limit: 9 })).toEqual([]);
        expect(await store.readEvidence(other, 'source:act')).toBeUndefined();
        expect(await store.moveRun(other, ['queued'], { state: 'analyzing' }, T0)).toBe(false);
        expect(await store.moveOrder(other, 'order_1', { status: 'blocked_upstream' }, T0)).toBe(false);
      }
      const slashed = await openRun('b', { tenantId: `${tenantId}#a` });
      const hashed = await openRun('a#b');
      expect(await store.readRun(slashed)).toEqual(slashed);
      expect(hashed.tenantId).toBe(tenantId);
      expect(await store.readRun(hashed)).toEqual(hashed);
    });

    it.each(impossible)('has no id that is %s', async (_what, id) => {
      for (const key of [
        { tenantId, improvementRunId: id },
        { tenantId: id, improvementRunId: 'run_1' },
      ]) {
        expect(await store.readRun(key)).toBeUndefined();
        expect(await store.readProgress(key)).toBeUndefined();
        expect(await store.readSummary(key)).toBeUndefined();
        expect(await store.confirmOrder(key, order('order_1'), T0)).toBeUndefined();
        expect(await store.readEvidence(key, 'source:act')).toBeUndefined();
        expect(await store.listOrders(key, { limit: 9 })).toEqual([]);
        expect(await store.moveRun(key, ['queued'], { state: 'analyzing' }, T0)).toBe(false);
        expect(await store.moveOrder(key, 'order_1', { status: 'blocked_upstream' }, T0)).toBe(false);
        await store.touchRun(key, 'worker', T0);
        await store.beginRun(key, 0, T0);
        await expect(store.createRun({ ...newRun('x'), ...key })).rejects.toThrow(RangeError);
        await expect(store.putEvidence(key, { key: 'source:act', evaluatedAt: T0 })).rejects.toThrow(
          RangeError,
        );
      }
      const run = await openRun('run_1');
      expect(await store.readEvidence(run, `source:${id}`)).toBeUndefined();
      expect(await store.listOrders(run, { after: id, limit: 9 })).toEqual([]);
      expect(await store.moveOrder(run, id, { status: 'blocked_upstream' }, T0)).toBe(false);
      expect(await store.confirmOrder(run, order(id), T0)).toBeUndefined();
      expect(await store.confirmOrder(run, order('order_1', { lineage: id }), T0)).toBeUndefined();
      expect(await listed({ tenantId, administrationId: id })).toEqual([]);
      await expect(openRun('run_2', { administrationId: id })).rejects.toThrow(RangeError);
      await expect(store.openOrder(run, order(id), T0)).rejects.toThrow(RangeError);
      await expect(store.openOrder(run, order('order_1', { lineage: id }), T0)).rejects.toThrow(RangeError);
      await expect(store.putEvidence(run, { key: `source:${id}`, evaluatedAt: T0 })).rejects.toThrow(
        RangeError,
      );
      expect(await store.readProgress(run)).toEqual({ run, evidence: [], orders: [] });
    });
  });

  describe('the list of open runs', () => {
    it('names the runs of one administration and of none whose id begins like it', async () => {
      for (const [index, administrationId] of ['a', 'ab', 'a:1', '1:a', 'a', 'A', 'ä'].entries()) {
        await openRun(`run_${index}`, { administrationId });
      }
      await openRun('run_0', { tenantId: `${tenantId}0`, administrationId: 'a' });
      const found = await listed({ tenantId, administrationId: 'a' });
      expect(found.map((run) => run.improvementRunId).toSorted()).toEqual(['run_0', 'run_4']);
      expect(found.every((run) => run.tenantId === tenantId && run.administrationId === 'a')).toBe(true);
      for (const administrationId of ['ab', 'a:1', '1:a', 'A', 'ä']) {
        expect(await listed({ tenantId, administrationId })).toHaveLength(1);
      }
      expect(await listed({ tenantId, administrationId: '' })).toEqual([]);
      expect(await listed({ tenantId: '', administrationId: 'a' })).toEqual([]);
    });

    it('names those of all tenants to the sweeper', async () => {
      const mine = await openRun('run_1');
      const theirs = await openRun('run_2', { tenantId: `${tenantId}-other` });
      const ended = await openRun('run_3');
      await store.moveRun(ended, ['queued'], { state: 'failed', completedAt: T0 }, T0);
      const ids = (await listed())
        .filter((run) => run.tenantId.startsWith(tenantId))
        .map(({ tenantId: tenant, improvementRunId }) => [tenant, improvementRunId])
        .toSorted();
      expect(ids).toEqual([
        [mine.tenantId, 'run_1'],
        [theirs.tenantId, 'run_2'],
      ]);
    });
  });

  describe('an evidence', () => {
    it('is recorded once, in full', async () => {
      const run = await openRun('run_1');
      const source = { key: 'source:act', evaluatedAt: T0 + 1, receipt, comparisonOmitted: true } as const;
      await store.putEvidence(run, source);
      await store.putEvidence(run, { key: 'source:act', evaluatedAt: T0 + 2 });
      await store.putEvidence(run, { key: 'metric:item_difficulty', evaluatedAt: T0 + 3 });
      expect(await store.readEvidence(run, 'source:act')).toEqual(source);
      expect(await store.readEvidence(run, 'source:sat')).toBeUndefined();
      expect((await store.readProgress(run))?.evidence).toEqual([
        { key: 'metric:item_difficulty', evaluatedAt: T0 + 3 },
        source,
      ]);
    });
  });

  describe('an order', () => {
    it('is recorded as pending, once, however often it is opened [RP-203]', async () => {
      const run = await openRun('run_1');
      const opened = await store.openOrder(run, order('order_1'), T0 + 1);
      expect(opened).toEqual({
        ...order('order_1'),
        status: 'pending',
        supersedesRevisionOrderId: null,
        ack: null,
        createdAt: T0,
        updatedAt: T0 + 1,
      });
      expect(await store.openOrder(run, order('order_1', { targetModule: 'blueprint' }), T0 + 2)).toEqual(
        opened,
      );
      await store.moveOrder(run, 'order_1', { status: 'rejected', ack }, T0 + 3);
      const moved = { ...opened, status: 'rejected', ack, updatedAt: T0 + 3 };
      expect(await store.openOrder(run, order('order_1'), T0 + 4)).toEqual(moved);
      expect((await store.readProgress(run))?.orders).toEqual([moved]);
    });

    it('is one order when twenty open it at once', async () => {
      const run = await openRun('run_1');
      const opened = await Promise.all(
        Array.from({ length: 20 }, (_unused, n) => store.openOrder(run, order('order_1'), T0 + n)),
      );
      const [stored] = await store.listOrders(run, { limit: 9 });
      for (const record of opened) expect(record).toEqual(stored);
    });

    it('is not changed before it was made, however late the clock of its worker is [RP-206]', async () => {
      const run = await openRun('run_1');
      expect((await store.openOrder(run, order('order_1'), T0 - 5)).updatedAt).toBe(T0);
      await store.moveOrder(run, 'order_1', { status: 'rejected', ack }, T0 - 4);
      expect((await store.listOrders(run, { limit: 1 }))[0]).toMatchObject({ createdAt: T0, updatedAt: T0 });
    });

    it.each(['accepted', 'replayed', 'rejected'] as const)(
      'is blocked as often as its receiver is missing, then %s for good [RP-203, RP-204]',
      async (status) => {
        const run = await openRun('run_1');
        const opened = await store.openOrder(run, order('order_1'), T0 + 1);
        const block = (now: number) => store.moveOrder(run, 'order_1', { status: 'blocked_upstream' }, now);
        expect(await block(T0 + 2)).toBe(true);
        expect(await store.listOrders(run, { limit: 1 })).toEqual([
          { ...opened, status: 'blocked_upstream', blockedAt: T0 + 2, updatedAt: T0 + 2 },
        ]);
        expect(await block(T0 + 3)).toBe(true);
        expect(await store.moveOrder(run, 'order_1', { status, ack }, T0 + 4)).toBe(true);
        const settled = { ...opened, status, ack, blockedAt: T0 + 3, updatedAt: T0 + 4 };
        expect(await store.listOrders(run, { limit: 1 })).toEqual([settled]);
        expect(await block(T0 + 5)).toBe(false);
        expect(
          await store.moveOrder(
            run,
            'order_1',
            { status: 'accepted', ack: { ...ack, receiptId: 'receipt-2' } },
            T0 + 6,
          ),
        ).toBe(false);
        expect(await store.listOrders(run, { limit: 1 })).toEqual([settled]);
      },
    );

    it('is settled by exactly one of two answers that come at once', async () => {
      const run = await openRun('run_1');
      await store.openOrder(run, order('order_1'), T0);
      const outcomes = await Promise.all(
        (['accepted', 'replayed'] as const).map((status) =>
          store.moveOrder(run, 'order_1', { status, ack: { ...ack, receiptId: status } }, T0 + 1),
        ),
      );
      expect(outcomes.filter(Boolean)).toHaveLength(1);
      const winner = outcomes[0] === true ? 'accepted' : 'replayed';
      const [stored] = await store.listOrders(run, { limit: 1 });
      expect(stored).toMatchObject({ status: winner, ack: { receiptId: winner } });
    });

    it('that was never opened does not move', async () => {
      const run = await openRun('run_1');
      expect(await store.moveOrder(run, 'order_1', { status: 'blocked_upstream' }, T0)).toBe(false);
      expect(await store.listOrders(run, { limit: 1 })).toEqual([]);
    });

    it('is listed in the order of its id, page by page', async () => {
      const run = await openRun('run_1');
      const ids = ['order_c', 'order_a', 'order_e', 'order_b', 'order_d'];
      for (const id of ids) await store.openOrder(run, order(id, { lineage: sha256Hex(id) }), T0);
      await store.putEvidence(run, { key: 'source:zzz', evaluatedAt: T0 });
      const page = async (limit: number, after?: string) =>
        (await store.listOrders(run, { limit, ...(after === undefined ? {} : { after }) })).map(
          ({ revisionOrderId }) => revisionOrderId.slice(-1),
        );
      expect(await page(2)).toEqual(['a', 'b']);
      expect(await page(2, 'order_b')).toEqual(['c', 'd']);
      expect(await page(2, 'order_d')).toEqual(['e']);
      expect(await page(2, 'order_e')).toEqual([]);
      expect(await page(9, 'order_bb')).toEqual(['c', 'd', 'e']);
      expect(await page(9, '')).toEqual(['a', 'b', 'c', 'd', 'e']);
      expect((await store.readProgress(run))?.orders.map((o) => o.revisionOrderId)).toEqual(ids.toSorted());
    });
  });

  describe('a lineage', () => {
    it('gives a later run that finds the same order the same record, pending until it is answered [RP-205]', async () => {
      const [first, second, third] = [
        await openRun('run_1'),
        await openRun('run_2', { createdAt: T0 + 10 }),
        await openRun('run_3', { createdAt: T0 + 20 }),
      ];
      await store.openOrder(first, order('order_1'), T0 + 1);
      await store.openOrder(second, order('order_2'), T0 + 11);
      const same = await store.openOrder(third, order('order_2'), T0 + 21);
      expect(same).toMatchObject({ status: 'pending', supersedesRevisionOrderId: 'order_1' });
      expect(await statusOf(second, 'order_2')).toBe('pending');
    });

    it('has a later run’s other order supersede the records of every run that holds the earlier one [RP-205]', async () => {
      const holders = [
        await openRun('run_1'),
        await openRun('run_2', { createdAt: T0 + 10 }),
        await openRun('run_3', { createdAt: T0 + 20 }),
      ];
      for (const run of holders) await store.openOrder(run, order('order_1'), run.createdAt);
      await store.moveOrder(holders[0]!, 'order_1', { status: 'accepted', ack }, T0 + 25);
      await store.moveOrder(holders[1]!, 'order_1', { status: 'blocked_upstream' }, T0 + 26);
      const latest = await openRun('run_4', { createdAt: T0 + 30 });
      expect(await store.openOrder(latest, order('order_2'), T0 + 31)).toMatchObject({
        status: 'pending',
        supersedesRevisionOrderId: 'order_1',
      });
      const superseded = await Promise.all(holders.map((run) => store.listOrders(run, { limit: 1 })));
      expect(superseded.flat()).toMatchObject([
        { status: 'superseded', ack, updatedAt: T0 + 31 },
        { status: 'superseded', ack: null, updatedAt: T0 + 31, blockedAt: T0 + 26 },
        { status: 'superseded', ack: null, updatedAt: T0 + 31 },
      ]);
      for (const run of holders)
        expect(await store.moveOrder(run, 'order_1', { status: 'blocked_upstream' }, T0 + 32)).toBe(false);
      const again = await Promise.all(holders.map((run) => store.openOrder(run, order('order_1'), T0 + 33)));
      expect(again).toEqual(superseded.flat());
    });

    it('takes the acknowledgement of an order that was under way when a later one superseded it, once [RP-204, RP-205]', async () => {
      const [early, late] = [await openRun('run_1'), await openRun('run_2', { createdAt: T0 + 10 })];
      await store.openOrder(early, order('order_1'), T0 + 1);
      await store.openOrder(late, order('order_2'), T0 + 11);
      const acknowledge = (receiptId: string, now: number) =>
        store.moveOrder(early, 'order_1', { status: 'accepted', ack: { ...ack, receiptId } }, now);
      expect(await acknowledge('receipt-1', T0 + 12)).toBe(true);
      const held = (await store.listOrders(early, { limit: 1 }))[0];
      expect(held).toMatchObject({ status: 'superseded', ack, updatedAt: T0 + 12 });
      expect(await acknowledge('receipt-2', T0 + 13)).toBe(false);
      expect(await store.moveOrder(early, 'order_1', { status: 'blocked_upstream' }, T0 + 14)).toBe(false);
      expect(await store.listOrders(early, { limit: 1 })).toEqual([held]);
    });

    it('keeps what was acknowledged before its order was superseded [RP-204, RP-205]', async () => {
      const [early, late] = [await openRun('run_1'), await openRun('run_2', { createdAt: T0 + 10 })];
      await store.openOrder(early, order('order_1'), T0 + 1);
      await store.moveOrder(early, 'order_1', { status: 'replayed', ack }, T0 + 2);
      await store.openOrder(late, order('order_2'), T0 + 11);
      const again = { status: 'accepted', ack: { ...ack, receiptId: 'receipt-2' } } as const;
      expect(await store.moveOrder(early, 'order_1', again, T0 + 12)).toBe(false);
      expect(await store.listOrders(early, { limit: 1 })).toMatchObject([
        { status: 'superseded', ack, updatedAt: T0 + 11 },
      ]);
    });

    it('shows an order as it is now to whoever is about to hand it over', async () => {
      const [early, late] = [await openRun('run_1'), await openRun('run_2', { createdAt: T0 + 10 })];
      expect(await store.confirmOrder(early, order('order_1'), T0)).toBeUndefined();
      const opened = await store.openOrder(early, order('order_1'), T0 + 1);
      expect(await store.confirmOrder(early, opened, T0 + 2)).toEqual(opened);
      await store.openOrder(late, order('order_2'), T0 + 11);
      expect(await store.confirmOrder(early, opened, T0 + 12)).toEqual({
        ...opened,
        status: 'superseded',
        updatedAt: T0 + 11,
      });
      const current = await store.openOrder(late, order('order_2'), T0 + 11);
      await store.moveOrder(late, 'order_2', { status: 'accepted', ack }, T0 + 13);
      expect(await store.confirmOrder(late, current, T0 + 14)).toMatchObject({ status: 'accepted', ack });
    });

    it('supersedes link by link over three runs, and leaves superseded records as they are [RP-205]', async () => {
      const runs = [
        await openRun('run_1'),
        await openRun('run_2', { createdAt: T0 + 10 }),
        await openRun('run_3', { createdAt: T0 + 20 }),
      ];
      const opened = [];
      for (const [index, run] of runs.entries()) {
        opened.push(await store.openOrder(run, order(`order_${index + 1}`), run.createdAt));
      }
      expect(opened.map((record) => record.supersedesRevisionOrderId)).toEqual([null, 'order_1', 'order_2']);
      const stored = await Promise.all(runs.map((run) => store.listOrders(run, { limit: 1 })));
      expect(stored.flat().map(({ status, updatedAt }) => [status, updatedAt - T0])).toEqual([
        ['superseded', 10],
        ['superseded', 20],
        ['pending', 20],
      ]);
    });

    it('records an order that an earlier run finds after a later one as superseded [RP-205]', async () => {
      const early = await openRun('run_1');
      const late = await openRun('run_2', { createdAt: T0 + 10 });
      const current = await store.openOrder(late, order('order_2'), T0 + 11);
      const tooLate = await store.openOrder(early, order('order_1'), T0 + 12);
      expect(tooLate).toMatchObject({ status: 'superseded', supersedesRevisionOrderId: null, ack: null });
      expect(await store.openOrder(early, order('order_1'), T0 + 13)).toEqual(tooLate);
      expect(await store.confirmOrder(early, tooLate, T0 + 14)).toEqual(tooLate);
      expect(await store.listOrders(late, { limit: 9 })).toEqual([current]);
      const next = await openRun('run_3', { createdAt: T0 + 20 });
      expect(await store.openOrder(next, order('order_3'), T0 + 21)).toMatchObject({
        supersedesRevisionOrderId: 'order_2',
      });
    });

    it('lets an earlier run join the order of a later one, and the next one supersedes both', async () => {
      const early = await openRun('run_1');
      const late = await openRun('run_2', { createdAt: T0 + 10 });
      await store.openOrder(late, order('order_1'), T0 + 11);
      expect(await store.openOrder(early, order('order_1'), T0 + 12)).toMatchObject({ status: 'pending' });
      const between = await openRun('run_3', { createdAt: T0 + 5 });
      expect(await store.openOrder(between, order('order_0'), T0 + 13)).toMatchObject({
        status: 'superseded',
      });
      const next = await openRun('run_4', { createdAt: T0 + 20 });
      await store.openOrder(next, order('order_2'), T0 + 21);
      expect(await statusOf(early, 'order_1')).toBe('superseded');
      expect(await statusOf(late, 'order_1')).toBe('superseded');
    });

    it('tells runs of one moment apart by their ids', async () => {
      const a = await openRun('run_a');
      const b = await openRun('run_b');
      await store.openOrder(b, order('order_b'), T0);
      expect(await store.openOrder(a, order('order_a'), T0)).toMatchObject({ status: 'superseded' });
      const c = await openRun('run_c');
      expect(await store.openOrder(c, order('order_c'), T0)).toMatchObject({
        supersedesRevisionOrderId: 'order_b',
      });
    });

    it('gives an order that comes back what it superseded the first time: its receiver gets the same bytes [RP-205]', async () => {
      const runs = [
        await openRun('run_1'),
        await openRun('run_2', { createdAt: T0 + 10 }),
        await openRun('run_3', { createdAt: T0 + 20 }),
        await openRun('run_4', { createdAt: T0 + 30 }),
      ];
      const opened = [];
      for (const [index, id] of ['order_1', 'order_2', 'order_1', 'order_2'].entries()) {
        opened.push(await store.openOrder(runs[index]!, order(id), T0 + index));
      }
      expect(opened.map(({ status }) => status)).toEqual(Array.from({ length: 4 }, () => 'pending'));
      expect(opened.map((record) => record.supersedesRevisionOrderId)).toEqual([
        null,
        'order_1',
        null,
        'order_1',
      ]);
      const stored = await Promise.all(runs.map((run) => store.listOrders(run, { limit: 1 })));
      expect(stored.flat().map(({ status }) => status)).toEqual([
        'superseded',
        'superseded',
        'superseded',
        'pending',
      ]);
    });

    it('keeps two orders of one run side by side', async () => {
      const run = await openRun('run_1');
      await store.openOrder(run, order('order_1'), T0);
      expect(await store.openOrder(run, order('order_2'), T0)).toMatchObject({
        status: 'pending',
        supersedesRevisionOrderId: null,
      });
      expect(await statusOf(run, 'order_1')).toBe('pending');
      for (const id of ['order_1', 'order_2'])
        expect(await store.confirmOrder(run, order(id), T0)).toMatchObject({ status: 'pending' });
    });

    it('is one per tenant and subject', async () => {
      const run = await openRun('run_1');
      const other = await openRun('run_1', { tenantId: `${tenantId}-other`, createdAt: T0 + 10 });
      await store.openOrder(run, order('order_1'), T0);
      await store.openOrder(other, order('order_2'), T0);
      const later = await openRun('run_2', { createdAt: T0 + 10 });
      await store.openOrder(later, order('order_3', { lineage: sha256Hex('another') }), T0);
      expect(await statusOf(run, 'order_1')).toBe('pending');
    });

    it.each([
      ['earlier first', [0, 1]],
      ['later first', [1, 0]],
    ] as const)('of two runs at once ends with the later one’s order, %s', async (_order, sequence) => {
      for (let round = 0; round < 5; round += 1) {
        const lineage = sha256Hex(`lineage ${round}`);
        const runs = [
          await openRun(`run_${round}_1`),
          await openRun(`run_${round}_2`, { createdAt: T0 + 10 }),
        ] as const;
        const opened = await Promise.all(
          sequence.map((index) => store.openOrder(runs[index], order(`order_${index + 1}`, { lineage }), T0)),
        );
        const later = opened[sequence.indexOf(1)]!;
        const earlier = opened[sequence.indexOf(0)]!;
        expect(await statusOf(runs[1], 'order_2')).toBe('pending');
        expect(await statusOf(runs[0], 'order_1')).toBe('superseded');
        // Whether the earlier one was first or came too late, the later one supersedes what had been current.
        expect(later.supersedesRevisionOrderId).toBe(earlier.status === 'pending' ? 'order_1' : null);
      }
    });

    it('of eight runs at once leaves one live order, the latest run’s, in one unbroken chain [RP-205]', async () => {
      const runs = await Promise.all(
        Array.from({ length: 8 }, (_unused, n) => openRun(`run_${n}`, { createdAt: T0 + n })),
      );
      const opened = await Promise.all(
        runs.map((run, n) => store.openOrder(run, order(`order_${n}`), T0 + 9)),
      );
      const statuses = await Promise.all(runs.map((run, n) => statusOf(run, `order_${n}`)));
      expect(statuses).toEqual([...Array.from({ length: 7 }, () => 'superseded'), 'pending']);
      const sent = opened.filter(({ status }) => status === 'pending');
      const byId = new Map(sent.map((record) => [record.revisionOrderId, record]));
      const chain = [];
      for (let id: string | null = 'order_7'; id !== null && chain.length < 9;) {
        chain.push(id);
        id = byId.get(id)?.supersedesRevisionOrderId ?? null;
      }
      expect(chain).toHaveLength(sent.length);
    });

    it('is superseded in the last runs that hold its order, as many as one transaction can change', async () => {
      const runs = await Promise.all(
        Array.from({ length: maxHolders + 2 }, (_unused, n) => openRun(`run_${n}`, { createdAt: T0 + n })),
      );
      for (const run of runs) await store.openOrder(run, order('order_1'), T0);
      const latest = await openRun('run_latest', { createdAt: T0 + 1000 });
      await store.openOrder(latest, order('order_2'), T0 + 1000);
      const statuses = await Promise.all(runs.map((run) => statusOf(run, 'order_1')));
      expect(statuses.slice(0, 2)).toEqual(['pending', 'pending']);
      expect(new Set(statuses.slice(2))).toEqual(new Set(['superseded']));
      // The others are found out before they are handed over.
      for (const [at, run] of runs.slice(0, 2).entries()) {
        const confirmed = await store.confirmOrder(run, order('order_1'), T0 + 1001 + at);
        expect(confirmed).toMatchObject({ status: 'superseded', ack: null, updatedAt: T0 + 1001 + at });
        expect(await statusOf(run, 'order_1')).toBe('superseded');
      }
      expect(await statusOf(latest, 'order_2')).toBe('pending');
    });
  });
});

type Send = DynamoDBClient['send'];
type Command = Parameters<Send>[0];

/** A client whose calls pass `before` first, which may refuse them or do something else in the meantime. */
function watched(before: (command: Command) => void | Promise<void>): DynamoDBClient {
  const send = async (command: Command): Promise<unknown> => {
    await before(command);
    return client.send(command);
  };
  return { send } as unknown as DynamoDBClient;
}

/** Refuses the next `count` commands of a kind. */
function refusing(
  kind: typeof TransactWriteItemsCommand | typeof UpdateItemCommand,
  error: Error,
  count: number,
): { readonly client: DynamoDBClient; readonly left: () => number } {
  let left = count;
  const refused = watched((command) => {
    if (!(command instanceof kind) || left === 0) return;
    left -= 1;
    throw error;
  });
  return { client: refused, left: () => left };
}

function cancelled(...codes: readonly string[]): TransactionCanceledException {
  return new TransactionCanceledException({
    message: 'cancelled',
    $metadata: {},
    CancellationReasons: codes.map((Code) => ({ Code })),
  });
}

describe('writes that meet others', () => {
  beforeEach(() => {
    store = createImprovementTable(client, TableName, processRuntime());
    // The least pause between two attempts.
    vi.spyOn(Math, 'random').mockReturnValue(0);
  });
  afterEach(() => vi.restoreAllMocks());

  it.each(['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded'])(
    'are made again when their transaction is cancelled for %s',
    async (code) => {
      const { client: busy, left } = refusing(TransactWriteItemsCommand, cancelled('None', code), 9);
      const contended = createImprovementTable(busy, TableName, processRuntime());
      const run = await contended.createRun(newRun('run_1'));
      expect(left()).toBe(0);
      expect(await store.readRun(run)).toEqual(run);
    },
  );

  it.each([
    ['opening', (run: RunRecord, table: ImprovementStore) => table.openOrder(run, order('order_2'), T0)],
    [
      'ending',
      (run: RunRecord, table: ImprovementStore) =>
        table.moveRun(run, ['queued'], { state: 'failed', completedAt: T0 }, T0),
    ],
    ['creation', (_run: RunRecord, table: ImprovementStore) => table.createRun(newRun('run_2'))],
  ])('give up after ten attempts: %s', async (_what, write) => {
    const run = await openRun('run_1');
    const error = cancelled('TransactionConflict', 'None');
    const { client: busy, left } = refusing(TransactWriteItemsCommand, error, 20);
    await expect(write(run, createImprovementTable(busy, TableName, processRuntime()))).rejects.toBe(error);
    expect(left()).toBe(10);
    expect(await store.readProgress(run)).toEqual({ run, evidence: [], orders: [] });
    expect(await listed({ tenantId, administrationId: run.administrationId })).toHaveLength(1);
  });

  it('are not made again when their transaction is cancelled for what will not pass', async () => {
    const error = cancelled('None', 'ValidationError');
    const { client: busy, left } = refusing(TransactWriteItemsCommand, error, 2);
    await expect(
      createImprovementTable(busy, TableName, processRuntime()).createRun(newRun('run_1')),
    ).rejects.toBe(error);
    expect(left()).toBe(1);
  });

  it('move an order or a run again that a transaction is just changing', async () => {
    const run = await openRun('run_1');
    await store.openOrder(run, order('order_1'), T0);
    const error = new TransactionConflictException({ message: 'conflict', $metadata: {} });
    const { client: busy, left } = refusing(UpdateItemCommand, error, 4);
    const contended = createImprovementTable(busy, TableName, processRuntime());
    expect(await contended.moveOrder(run, 'order_1', { status: 'accepted', ack }, T0)).toBe(true);
    expect(left()).toBe(0);
  });

  it('see a lineage that changed after it was read, and open the order in what it has become', async () => {
    const first = await openRun('run_1');
    const second = await openRun('run_2', { createdAt: T0 + 10 });
    const third = await openRun('run_3', { createdAt: T0 + 20 });
    await store.openOrder(first, order('order_1'), T0);
    let overtaken = false;
    const slow = watched(async (command) => {
      if (!(command instanceof TransactWriteItemsCommand) || overtaken) return;
      overtaken = true;
      await store.openOrder(second, order('order_2'), T0 + 11);
    });
    const opened = await createImprovementTable(slow, TableName, processRuntime()).openOrder(
      third,
      order('order_3'),
      T0 + 21,
    );
    expect(opened).toMatchObject({ status: 'pending', supersedesRevisionOrderId: 'order_2' });
    expect(await statusOf(second, 'order_2')).toBe('superseded');
  });

  it('of a table that throttles are tried three times by the client, and then fail', async () => {
    const run = await openRun('run_1');
    for (const [operation, call] of [
      ['TransactWriteItems', () => store.openOrder(run, order('order_1'), T0)],
      ['UpdateItem', () => store.moveRun(run, ['queued'], { state: 'analyzing' }, T0)],
      ['PutItem', () => store.putEvidence(run, { key: 'source:act', evaluatedAt: T0 })],
      ['GetItem', () => store.readEvidence(run, 'source:act')],
      ['Query', () => store.readProgress(run)],
    ] as const) {
      emulator.aws.faults.throttle(operation, 3);
      await expect(call()).rejects.toThrow(ProvisionedThroughputExceededException);
      emulator.aws.faults.throttle(operation, 2);
      await call();
    }
    expect(await store.readProgress(run)).toMatchObject({
      run: { state: 'analyzing' },
      evidence: [{ key: 'source:act' }],
      orders: [{ status: 'pending' }],
    });
  });
});

describe('reads', () => {
  it('are strongly consistent, all of them', async () => {
    let consistent = 0;
    store = createImprovementTable(
      watched((command) => {
        if (!(command instanceof QueryCommand) && !(command instanceof GetItemCommand)) return;
        expect(command.input.ConsistentRead).toBe(true);
        consistent += 1;
      }),
      TableName,
      processRuntime(),
    );
    const run = await openRun('run_1');
    await store.openOrder(run, order('order_1'), T0);
    await openRun('run_1');
    await store.readRun(run);
    await store.readSummary(run);
    await store.confirmOrder(run, order('order_1'), T0);
    await store.readProgress(run);
    await store.readEvidence(run, 'source:act');
    await store.listOrders(run, { limit: 1 });
    await listed({ tenantId, administrationId: run.administrationId });
    await store.moveRun(run, ['queued'], { state: 'failed', completedAt: T0 }, T0);
    expect(consistent).toBe(12);
  });
});

describe('a large run', () => {
  beforeEach(() => {
    store = createImprovementTable(client, TableName, processRuntime());
  });

  /** 255 characters that no compression shortens much. */
  const noise = (): string => randomBytes(192).toString('base64url').slice(0, 255);
  const largePins = (): RunPins => ({
    ...pins,
    sources: Array.from({ length: maxSources }, () => ({
      sourceKey: noise(),
      crosswalk: { ref: noise(), sha256: randomBytes(32).toString('hex') },
      comparison: { ref: noise(), sha256: randomBytes(32).toString('hex') },
    })),
  });

  it('keeps the pins of as many sources as a run can have, whatever their ids are', async () => {
    const run = await store.createRun({ ...newRun('run_1'), pins: largePins() });
    expect(await store.readRun(run)).toEqual(run);
    await store.beginRun(run, 0, T0 + 1);
    expect(await store.readProgress(run)).toEqual({
      run: { ...run, touchedAt: T0 + 1 },
      evidence: [],
      orders: [],
    });
  });

  it('keeps those of as many sources with ordinary ids in one item', async () => {
    const sources = Array.from({ length: maxSources }, (_unused, n) => ({
      sourceKey: `assessment-${n}`,
      crosswalk: {
        ref: `https://content.example/crosswalks/${n}/${'x'.repeat(200)}`,
        sha256: sha256Hex(`${n}`),
      },
      comparison: 'missing' as const,
    }));
    const run = await store.createRun({ ...newRun('run_1'), pins: { ...pins, sources } });
    expect(await store.readRun(run)).toEqual(run);
    const parts = (await scanImprovement(client)).filter(
      (item) => item['pk']?.S === `run#${tenantId}#run_1` && item['pins'] !== undefined,
    );
    expect(parts).toHaveLength(1);
  });

  it('is read whole over several pages, its orders listed over several too', async () => {
    const run = await store.createRun({ ...newRun('run_1'), pins: largePins() });
    const ids = Array.from(
      { length: 240 },
      (_unused, n) => `order_${String(n).padStart(3, '0')}${'x'.repeat(900)}`,
    );
    const open = (id: string) =>
      store.openOrder(
        run,
        order(id, { evidence: `source:${'s'.repeat(255)}`, lineage: id + 'y'.repeat(1000) }),
        T0,
      );
    for (let n = 0; n < ids.length; n += 24) await Promise.all(ids.slice(n, n + 24).map(open));
    for (let n = 0; n < 5; n += 1) await store.putEvidence(run, { key: `source:${n}`, evaluatedAt: T0 });
    let pages = 0;
    const counted = createImprovementTable(
      watched((command) => {
        if (command instanceof QueryCommand) pages += 1;
      }),
      TableName,
      processRuntime(),
    );
    const progress = await counted.readProgress(run);
    expect(pages).toBeGreaterThan(1);
    expect(progress?.run).toEqual(run);
    expect(progress?.evidence).toHaveLength(5);
    expect(progress?.orders.map(({ revisionOrderId }) => revisionOrderId)).toEqual(ids);
    const all = await counted.listOrders(run, { limit: 1000 });
    expect(all).toEqual(progress?.orders);
    expect(await counted.listOrders(run, { limit: 239 })).toEqual(all.slice(0, 239));
  });

  it('that ends while it is read is never shown as ended, nor an evidence as evaluated, without all records', async () => {
    const run = await store.createRun({ ...newRun('run_1'), pins: largePins() });
    const filler = (n: number) => ({ key: `source:${n}${'f'.repeat(900)}`, evaluatedAt: T0 }) as const;
    await Promise.all(Array.from({ length: 220 }, (_unused, n) => store.putEvidence(run, filler(n))));
    let queries = 0;
    const interrupted = createImprovementTable(
      watched(async (command) => {
        if (!(command instanceof QueryCommand)) return;
        queries += 1;
        if (queries !== 2) return;
        await store.openOrder(run, order('order_1'), T0);
        await store.putEvidence(run, { key: 'source:late', evaluatedAt: T0 });
        await store.moveOrder(run, 'order_1', { status: 'accepted', ack }, T0);
        await store.moveRun(run, ['queued'], { state: 'completed', completedAt: T0, receipt }, T0);
      }),
      TableName,
      processRuntime(),
    );
    const progress = await interrupted.readProgress(run);
    expect(queries).toBeGreaterThan(1);
    expect(progress?.run.state).toBe('queued');
    expect(progress?.evidence.at(-1)?.key).toBe('source:late');
    expect(progress?.orders).toHaveLength(1);
    expect((await store.readProgress(run))?.run.state).toBe('completed');
  });
});

describe('a stored item', () => {
  beforeEach(() => {
    store = createImprovementTable(client, TableName, processRuntime());
  });

  const keyOf = (sk: string): Record<string, AttributeValue> => ({
    pk: { S: `run#${tenantId}#run_1` },
    sk: { S: sk },
  });

  /** Puts an item back with some of its columns changed or, where undefined, taken away. */
  async function damage(sk: string, columns: Record<string, AttributeValue | undefined>): Promise<void> {
    const { Item } = await client.send(
      new GetItemCommand({ TableName, Key: keyOf(sk), ConsistentRead: true }),
    );
    const entries = Object.entries({ ...Item, ...columns }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    );
    await client.send(new PutItemCommand({ TableName, Item: Object.fromEntries(entries) }));
  }

  it.each<readonly [string, Record<string, AttributeValue | undefined>]>([
    ['0-run', { state: { S: 'paused' } }],
    ['0-run', { state: { S: 'toString' } }],
    ['0-run', { createdAt: { S: 'yesterday' } }],
    ['0-run', { sweeps: undefined }],
    ['0-run', { administrationId: { N: '1' } }],
    ['0-run', { pinsParts: { N: '2' } }],
    ['0-run', { receiptSha256: { S: 'x' }, receiptMediaType: { S: 'text/html' } }],
    ['1-pins#00', { pins: { B: new Uint8Array([1, 2, 3]) } }],
    ['1-pins#00', { pins: { S: '{}' } }],
    ['2-evidence#source:act', { key: { S: 'act' } }],
    ['2-evidence#source:act', { comparisonOmitted: { S: 'true' } }],
    ['2-evidence#source:act', { evaluatedAt: undefined }],
    ['3-order#order_1', { status: { S: 'lost' } }],
    ['3-order#order_1', { targetModule: { S: 'toString' } }],
    ['3-order#order_1', { updatedAt: { N: '0.5' } }],
    ['3-order#order_1', { receiptVersion: undefined }],
    ['3-order#order_1', { supersedes: { BOOL: true } }],
  ])('%s that this service did not write so is refused: %o', async (sk, columns) => {
    const run = await openRun('run_1');
    await store.putEvidence(run, { key: 'source:act', evaluatedAt: T0, comparisonOmitted: false });
    await store.openOrder(run, order('order_1'), T0);
    await store.moveOrder(run, 'order_1', { status: 'accepted', ack }, T0);
    await damage(sk, {});
    await store.readProgress(run);
    await damage(sk, columns);
    await expect(store.readProgress(run)).rejects.toThrow();
  });

  it.each<readonly [string, Record<string, AttributeValue | undefined>]>([
    ['0-run', { tries: undefined }],
    ['0-run', { tries: { S: '1' } }],
    ['0-run', { parkedAt: { S: 'yesterday' } }],
    ['0-run', { state: { S: 'paused' } }],
  ])('%s that this service did not write so has no summary: %o', async (sk, columns) => {
    const run = await openRun('run_1');
    await store.moveRun(run, ['queued'], { state: 'blocked_upstream' }, T0);
    await store.readSummary(run);
    await damage(sk, columns);
    await expect(store.readSummary(run)).rejects.toThrow(TypeError);
  });

  it('holds no member that pins do not have: a run that would bring one is not created [RP-002]', async () => {
    const more = { ...pins, observed: 0.71 };
    await expect(store.createRun({ ...newRun('run_1'), pins: more })).rejects.toThrow();
    expect(await store.readRun({ tenantId, improvementRunId: 'run_1' })).toBeUndefined();
  });
});

describe('the whole table', () => {
  it('holds workflow records and nothing else: ids, references, versions, digests, states, times, counts [RP-002]', async () => {
    store = createImprovementTable(client, TableName, processRuntime());
    const runs = [await openRun('run_1'), await openRun('run_2', { createdAt: T0 + 10 })] as const;
    for (const [index, run] of runs.entries()) {
      await store.openOrder(run, order(`order_${index}`), T0);
      await store.moveOrder(run, `order_${index}`, { status: 'blocked_upstream' }, T0);
      await store.moveOrder(run, `order_${index}`, { status: 'accepted', ack }, T0);
      await store.putEvidence(run, { key: 'source:act', evaluatedAt: T0, receipt, comparisonOmitted: true });
      await store.beginRun(run, 100_000, T0);
      await store.moveRun(run, ['queued'], { state: 'blocked_upstream' }, T0);
    }
    await store.moveRun(runs[0], ['blocked_upstream'], { state: 'completed', completedAt: T0, receipt }, T0);
    const mine = (await scanImprovement(client)).filter((item) => JSON.stringify(item).includes(tenantId));
    expect(mine.map((item) => item['sk']?.S?.replace(/#.*/, '')).toSorted()).toEqual(
      [
        ...['0-run', '1-pins', '2-evidence', '3-order', '0-run', '1-pins', '2-evidence', '3-order'],
        ...[`${tenantId.length}:${tenantId}16:administration-1run_2`, 'former', 'head'],
      ].toSorted(),
    );
    expect(undeclaredIn(mine)).toEqual([]);
    for (const [column, value] of [
      ['observed', { N: '0.71' }],
      ['state', { S: 'learner-4711 answered B' }],
      ['sweeps', { N: '0.5' }],
    ] as const) {
      const planted = mine.map((item) => (item['sk']?.S === '0-run' ? { ...item, [column]: value } : item));
      expect(undeclaredIn(planted)).toEqual([`run.${column}`]);
    }
    expect(undeclaredIn([...mine, { pk: { S: 'learner#1' }, sk: { S: 'x' } }])).toEqual([
      'stray.pk',
      'stray.sk',
    ]);
  });
});
